// A list of messages that is kept true: the channel in the middle, the thread at the right. It keeps the place where a
// person reads, follows the newest message only if they were at the end, and is walked with the arrow keys.

import { dayKey, dayLabel } from "./dates.js";
import { el, keepFocus, sync } from "./dom.js";
import { createMessage, updateMessage } from "./message.js";
import { createScroll } from "./scroll.js";
import { author, state } from "./state.js";

const SAME_BREATH_S = 300; // messages of one person within this time stand under one name

export function createLog(root, { empty }) {
  const articles = new Map();
  let known = null; // the timestamps shown so far, null before the first drawing of a place
  const scroll = createScroll(root);
  root.addEventListener("keydown", (event) => walk(event, root));
  root.addEventListener("focusin", (event) => openTools(event, root));

  function clear() {
    articles.clear();
    known = null;
    root.setAttribute("aria-live", "off"); // what stood there before need not be read out
    root.replaceChildren();
    scroll.toEnd();
  }

  // `rows`: [{message, view}] oldest first.
  function draw(rows) {
    if (known) root.setAttribute("aria-live", "polite");
    const fresh = known ? rows.filter(({ message }) => !known.has(message.ts)) : [];
    keepFocus(root, () => sync(root, nodes(rows, articles, empty)));
    known = new Set(rows.map(({ message }) => message.ts));
    for (const key of articles.keys()) if (!known.has(key)) articles.delete(key);
    scroll.settle();
    if (fresh.some(({ message }) => message.user === state.me)) scroll.toEnd();
    else if (fresh.length && !scroll.isFollowing()) scroll.tellOfNew();
    keepOneStop(root);
  }

  return { draw, clear, reveal: (ts) => reveal(articles.get(ts)) };
}

// Shows one message and points at it until the focus goes on; tells whether it is there.
function reveal(article) {
  if (!article) return false;
  article.scrollIntoView({ block: "center" });
  article.focus({ preventScroll: true });
  article.classList.add("pointed");
  article.addEventListener("blur", () => article.classList.remove("pointed"), { once: true });
  return true;
}

function nodes(rows, articles, empty) {
  if (!rows.length) return [el("p", { class: "empty" }, empty())];
  const list = [];
  let before = null;
  for (const { message, view } of rows) {
    if (!before || dayKey(before.ts) !== dayKey(message.ts)) list.push(divider(message, articles));
    const article = articles.get(message.ts) ?? createMessage();
    articles.set(message.ts, article);
    updateMessage(article, message, { ...view, compact: isCompact(before, message, view) });
    list.push(article);
    before = { ...message, ephemeral: view.ephemeral };
  }
  return list;
}

const dividers = new WeakMap(); // per log: day -> node, so that a redraw moves none

function divider(message, articles) {
  if (!dividers.has(articles)) dividers.set(articles, new Map());
  const days = dividers.get(articles);
  const day = dayKey(message.ts);
  if (!days.has(day)) days.set(day, el("div", { class: "day", role: "separator" }, el("span", {})));
  days.get(day).firstChild.textContent = dayLabel(message.ts);
  return days.get(day);
}

function isCompact(before, message, view) {
  if (!before || before.ephemeral || view.ephemeral || before.subtype || message.edited || author(message).bot)
    return false;
  const same = (before.user ?? before.bot_id) === (message.user ?? message.bot_id);
  return same && dayKey(before.ts) === dayKey(message.ts) && Number(message.ts) - Number(before.ts) < SAME_BREATH_S;
}

// One stop for the Tab key among all messages; the arrow keys do the rest.
function keepOneStop(root) {
  const list = [...root.querySelectorAll("article")];
  const stop = list.find((one) => one.contains(document.activeElement)) ?? list.at(-1);
  for (const one of list) one.tabIndex = one === stop ? 0 : -1;
}

function walk(event, root) {
  if (!event.target.matches("article.message")) return;
  const list = [...root.querySelectorAll("article")];
  const at = list.indexOf(event.target);
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: list.length - 1 }[event.key];
  if (to === undefined || !list[to]) return;
  event.preventDefault();
  list[to].focus();
  list[to].scrollIntoView({ block: "nearest" });
}

// The tools of a message can be reached by Tab only while the focus is in that message.
function openTools(event, root) {
  const here = event.target.closest("article");
  for (const one of root.querySelectorAll(".tool")) one.tabIndex = here?.contains(one) ? 0 : -1;
  if (here) keepOneStop(root);
}
