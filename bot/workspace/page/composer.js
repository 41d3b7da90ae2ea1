// The box to write in. Enter sends, Shift+Enter makes a new line; a line that begins with / is a command of the app.
// What was begun stays with its place and person until it is sent.

import * as api from "./api.js";
import { div, el, span } from "./dom.js";
import { openMenu } from "./menu.js";
import { complain } from "./notice.js";
import { unanswered } from "./press.js";
import { onRedraw, want } from "./refresh.js";
import { state } from "./state.js";
import { createSuggestions } from "./suggest.js";
import { runShortcut } from "./toolbar.js";

const NOT_IN_THREADS =
  "Slash commands do not work in threads. Write just the word, such as pause, resume, stop or status.";

const drafts = new Map();

// `where()` gives {channel, thread_ts?, label} or null where nothing can be written.
export function createComposer(holder, { testid, where }) {
  const parts = createParts(testid);
  const suggestions = createSuggestions(parts.box, { commands: () => !where()?.thread_ts });
  const composer = { ...parts, suggestions, where, shown: "" }; // shown: whose draft, and for which place
  holder.append(suggestions.list, parts.frame, parts.note);
  parts.post.addEventListener("click", () => submit(composer));
  parts.box.addEventListener("input", () => {
    drafts.set(composer.shown, parts.box.value);
    say(composer, "");
    grow(parts.box);
  });
  parts.box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.defaultPrevented) return;
    event.preventDefault();
    submit(composer);
  });
  onRedraw(() => draw(composer));
  return {
    write: (text) => {
      draw(composer);
      fill(composer, text);
      parts.box.focus();
    },
  };
}

function createParts(testid) {
  const box = el("textarea", { class: "composer-text", rows: 1, data: { testid, focus: testid } });
  const post = el("button", { class: "button primary post", "aria-label": "Post", title: "Post (Enter)" }, "➤");
  const shortcuts = testid === "composer" ? shortcutButton() : null;
  const hint = span("composer-hint", "Enter sends · Shift+Enter makes a new line");
  const note = el("p", { class: "composer-note", role: "alert", hidden: true });
  return { box, post, shortcuts, note, frame: div("composer-box", box, div("composer-row", shortcuts, hint, post)) };
}

function say({ note }, words) {
  note.textContent = words;
  note.hidden = !words;
}

async function submit(composer) {
  const place = composer.where();
  const text = composer.box.value;
  if (!place || !text.trim()) return;
  if (text.startsWith("/") && place.thread_ts) return say(composer, NOT_IN_THREADS);
  const from = composer.shown;
  fill(composer, "");
  try {
    const warning = text.startsWith("/") ? await command(place, text) : await message(place, text);
    if (composer.shown === from) say(composer, warning);
  } catch (error) {
    if (composer.shown === from && !composer.box.value) fill(composer, text);
    complain(error);
  }
}

function fill({ box, suggestions, shown }, text) {
  drafts.set(shown, text);
  box.value = text;
  suggestions.hide();
  grow(box);
}

function draw(composer) {
  const { box, post, shortcuts } = composer;
  const place = composer.where();
  box.disabled = post.disabled = !place;
  if (!place) return;
  if (shortcuts) shortcuts.hidden = !state.workspace.shortcuts.some((one) => one.type !== "message");
  box.setAttribute("aria-label", place.label);
  box.placeholder = place.label;
  const key = [state.me, place.channel, place.thread_ts ?? ""].join("|");
  if (key === composer.shown) return;
  composer.shown = key;
  say(composer, "");
  fill(composer, drafts.get(key) ?? "");
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
  const node = el(
    "button",
    {
      class: "tool",
      "aria-label": "Shortcuts",
      title: "Shortcuts",
      "aria-haspopup": "menu",
      data: { testid: "shortcuts" },
    },
    "⚡",
  );
  node.addEventListener("click", () =>
    openMenu(
      node,
      "Shortcuts",
      state.workspace.shortcuts
        .filter((one) => one.type !== "message")
        .map((one) => ({ label: one.name, hint: one.description, run: () => runShortcut(one) })),
    ),
  );
  return node;
}

function grow(box) {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
}
