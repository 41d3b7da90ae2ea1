// The box to write in. Enter sends, Shift+Enter makes a new line; a line that begins with / is a command of the app.
// What was begun stays with its place and person until it is sent.

import * as api from "./api.js";
import { el } from "./dom.js";
import { openMenu } from "./menu.js";
import { complain } from "./notice.js";
import { unanswered } from "./press.js";
import { onRedraw, want } from "./refresh.js";
import { state } from "./state.js";
import { createSuggestions } from "./suggest.js";
import { runShortcut } from "./toolbar.js";

const drafts = new Map();

// `where()` gives {channel, thread_ts?, label} or null where nothing can be written.
export function createComposer(holder, { testid, where }) {
  const box = el("textarea", { class: "composer-text", rows: 1, data: { testid, focus: testid } });
  const note = el("p", { class: "composer-note", role: "alert", hidden: true });
  const suggestions = createSuggestions(box, { commands: () => !where()?.thread_ts });
  const post = el("button", { type: "button", class: "button primary post", "aria-label": "Post", title: "Post (Enter)", on: { click: () => submit() } }, "➤");
  const global = shortcutButton();
  holder.append(suggestions.list, el("div", { class: "composer-box" }, box, el("div", { class: "composer-row" },
    testid === "composer" && global, el("span", { class: "composer-hint" }, "Enter sends · Shift+Enter makes a new line"), post)), note);
  let shown = "";

  box.addEventListener("input", () => {
    drafts.set(shown, box.value);
    say("");
    grow(box);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.defaultPrevented) return;
    event.preventDefault();
    submit();
  });

  function say(words) {
    note.textContent = words;
    note.hidden = !words;
  }

  async function submit() {
    const place = where();
    const text = box.value;
    if (!place || !text.trim()) return;
    if (text.startsWith("/") && place.thread_ts) return say("Slash commands do not work in threads. Write just the word, such as pause, resume, stop or status.");
    const from = shown;
    fill("");
    try {
      const warning = text.startsWith("/") ? await command(place, text) : await message(place, text);
      if (shown === from) say(warning);
    } catch (error) {
      if (shown === from && !box.value) fill(text);
      complain(error);
    }
  }

  function fill(text) {
    drafts.set(shown, text);
    box.value = text;
    suggestions.hide();
    grow(box);
  }

  function draw() {
    const place = where();
    box.disabled = post.disabled = !place;
    if (!place) return;
    global.hidden = !state.workspace.shortcuts.some((one) => one.type !== "message");
    box.setAttribute("aria-label", place.label);
    box.placeholder = place.label;
    const key = [state.me, place.channel, place.thread_ts ?? ""].join("|");
    if (key === shown) return;
    shown = key;
    say("");
    fill(drafts.get(key) ?? "");
  }

  onRedraw(draw);
  return { box, fill: (text) => (draw(), fill(text), box.focus()) };
}

async function message(place, text) {
  await api.say(state.me, { channel: place.channel, text, ...(place.thread_ts ? { thread_ts: place.thread_ts } : {}) });
  want("messages", "thread", "channels");
  return "";
}

async function command(place, text) {
  const [, name, rest] = text.match(/^(\/\S*)\s?([\s\S]*)$/);
  const answer = await api.command(state.me, { channel: place.channel, command: name, text: rest });
  want("ephemerals", "messages", "views");
  return unanswered(answer);
}

function shortcutButton() {
  const node = el("button", { type: "button", class: "tool", "aria-label": "Shortcuts", title: "Shortcuts", "aria-haspopup": "menu", data: { testid: "shortcuts" } }, "⚡");
  node.addEventListener("click", () => openMenu(node, "Shortcuts", state.workspace.shortcuts.filter((one) => one.type !== "message")
    .map((one) => ({ label: one.name, hint: one.description, run: () => runShortcut(one) }))));
  return node;
}

function grow(box) {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
}
