// What the writing box offers: commands after a / at the very beginning, people and groups after an @, channels after a #.

import { el, freshId, span } from "./dom.js";
import { state } from "./state.js";

const SHOWN = 8;

export function createSuggestions(box, { commands }) {
  const list = createList();
  let items = [];
  let chosen = 0;
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", list.id);

  function hide() {
    items = [];
    list.hidden = true;
    box.removeAttribute("aria-activedescendant");
  }

  function show() {
    const found = lookup(box, commands());
    items = found.items.slice(0, SHOWN);
    chosen = found.complete ? -1 : 0; // a word that is complete already needs no choosing: Enter sends
    if (!items.length || (found.complete && items.length === 1)) return hide();
    list.replaceChildren(...items.map((item, index) => option(item, () => take(index), `${list.id}-${index}`)));
    list.hidden = false;
    point();
  }

  function point() {
    [...list.children].forEach((node, index) => node.setAttribute("aria-selected", String(index === chosen)));
    if (chosen < 0) return box.removeAttribute("aria-activedescendant");
    box.setAttribute("aria-activedescendant", list.children[chosen].id);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function take(index) {
    const { from, text } = items[index];
    box.setRangeText(text, from, box.selectionStart, "end");
    hide();
    box.focus();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  box.addEventListener("input", show);
  box.addEventListener("blur", hide);
  box.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = event.key === "ArrowDown" ? (chosen + 1) % items.length : chosen > 0 ? chosen - 1 : items.length - 1;
      point();
    } else if (chosen >= 0 && ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab")) take(chosen);
    else if (event.key === "Escape") hide();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return { list, hide };
}

function createList() {
  const id = freshId("suggestions");
  return el("ul", { class: "suggestions", role: "listbox", id, hidden: true, "aria-label": "Suggestions" });
}

function option(item, take, id) {
  const node = el(
    "li",
    { role: "option", id, class: "suggestion" },
    span("suggestion-name", item.label),
    item.hint && span("suggestion-usage", item.hint),
    item.note && span("hint", item.note),
  );
  node.addEventListener("pointerdown", (event) => {
    event.preventDefault(); // the box keeps the focus
    take();
  });
  return node;
}

// {items, complete}: what fits before the caret; complete if the word is one of them already.
function lookup(box, withCommands) {
  const before = box.value.slice(0, box.selectionStart);
  const command = /^\/[^\s]*$/.exec(before);
  if (command) return among(withCommands ? state.workspace.commands.map(commandRow) : [], command[0], 0);
  const word = /(?:^|[\s(])([@#][\p{L}\p{N}._-]*)$/u.exec(before);
  if (!word) return { items: [], complete: false };
  return among(word[1][0] === "@" ? mentionRows() : channelRows(), word[1], before.length - word[1].length);
}

function among(rows, typed, from) {
  const wanted = typed.toLowerCase();
  const items = rows.filter((row) => row.label.toLowerCase().startsWith(wanted));
  return {
    items: items.map((row) => ({ ...row, from, text: `${row.label} ` })),
    complete: items.some((row) => row.label.toLowerCase() === wanted),
  };
}

const commandRow = (one) => ({ label: one.command, hint: one.usage_hint, note: one.description });

function mentionRows() {
  const { app, usergroups } = state.workspace;
  const people = [...state.people.values()].filter((one) => !one.deleted && one.id !== app.bot_user_id);
  return [
    { label: `@${app.name}`, note: "the app" },
    ...people.map((one) => ({ label: `@${one.name}`, note: one.real_name })),
    ...(usergroups ?? []).map((one) => ({ label: `@${one.handle ?? one.name}`, note: "group" })),
  ];
}

const channelRows = () =>
  state.channels.filter((one) => !one.is_im).map((one) => ({ label: `#${one.name}`, note: one.topic?.value }));
