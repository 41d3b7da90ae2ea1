// One message: who, when, its blocks or its text, files, reactions, its thread. An article is made once and then kept
// true: `update` changes only the parts that are different now. Screen readers hear of a new message, not of each redraw.

import * as api from "./api.js";
import { patchBlocks } from "./blocks.js";
import { clock, fullDate } from "./dates.js";
import { div, el, span } from "./dom.js";
import { emojiOf } from "./emoji.js";
import { editor } from "./editor.js";
import { collect, createForm } from "./form.js";
import { link, safeUrl } from "./links.js";
import { mrkdwn } from "./mrkdwn.js";
import { warningOf } from "./press.js";
import { author, personName, state } from "./state.js";
import { toolbar, toggleReaction } from "./toolbar.js";

const surfaces = new Map(); // one per person and message, so that what was filled in outlives a redraw

function surfaceOf(message, view) {
  const key = [state.me, view.channel, message.ts, view.inThread ? "thread" : ""].join("|");
  if (!surfaces.has(key)) surfaces.set(key, { key, form: createForm() });
  const surface = surfaces.get(key);
  const [me, channel, ts] = [state.me, view.channel, message.ts];
  const asks = (message.blocks ?? []).some((block) => block.type === "input");
  surface.send = (action) =>
    api.act(me, {
      channel,
      message_ts: ts,
      ...action,
      ...(asks ? { values: collect(surface.form, message.blocks) } : {}),
    });
  return surface;
}

// `view`: {channel, inThread, compact, ephemeral, openThread(ts)}
export function createMessage() {
  const parts = {
    avatar: el("div", { class: "avatar", "aria-hidden": "true" }),
    head: div("message-head"),
    body: div("message-body"),
    warning: el("p", { class: "warning-line", role: "alert", hidden: true }),
    foot: div("message-foot"),
    tools: el("div", { class: "tools", role: "group" }),
  };
  const article = el(
    "article",
    { class: "message", tabindex: "-1", "aria-live": "off", data: { focus: "message" } },
    parts.avatar,
    div("message-main", parts.head, parts.body, parts.warning, parts.foot),
    parts.tools,
  );
  article.parts = parts;
  return article;
}

export function updateMessage(article, message, view) {
  const surface = surfaceOf(message, view);
  surface.changed = () => showWarning(article, surface);
  const who = author(message);
  article.dataset.testid = view.ephemeral ? "ephemeral" : "message";
  article.dataset.ts = message.ts;
  article.className = classes(message, who, view);
  article.setAttribute("aria-label", spokenHead(message, who, view));
  redraw(article.parts.avatar, [who.name, who.id], () => avatar(article.parts.avatar, who));
  redraw(article.parts.head, [who, message.ts, message.edited?.ts, view.compact], () => head(message, who, view));
  showBody(article.parts.body, message, view, surface);
  redraw(
    article.parts.foot,
    [message.files, message.reactions, message.reply_count, message.latest_reply, view.inThread, state.me],
    () => foot(message, view),
  );
  redraw(article.parts.tools, [message.text, message.reactions, message.reply_count > 0, state.me], () =>
    toolbar(article.parts.tools, message, view),
  );
  showWarning(article, surface);
}

// Draws a part anew only if what it shows is different.
function redraw(part, facts, make) {
  const key = JSON.stringify(facts);
  if (part.shownKey === key) return;
  part.shownKey = key;
  part.replaceChildren(...[make()].flat(Infinity).filter(Boolean));
}

function classes(message, who, view) {
  const flags = {
    bot: who.bot,
    card: isCard(message),
    compact: view.compact,
    ephemeral: view.ephemeral,
    own: message.user === state.me,
  };
  return ["message", ...Object.keys(flags).filter((name) => flags[name])].join(" ");
}

const isCard = (message) => (message.blocks ?? []).some((block) => block.type === "header" || block.type === "actions");

const replies = (message) => (message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`);

function spokenHead(message, who, view) {
  const thread = message.reply_count && !view.inThread ? `, ${replies(message)}` : "";
  return `${who.name}, ${clock(message.ts)}${view.ephemeral ? ", only visible to you" : ""}${thread}`;
}

function avatar(node, who) {
  const sum = [...String(who.id)].reduce((total, char) => total + char.charCodeAt(0), 0);
  node.dataset.tint = who.app ? "app" : String(sum % 6);
  if (who.app) return el("img", { src: "/page/icon.svg", alt: "" });
  return who.name.slice(0, 1).toUpperCase();
}

function head(message, who, view) {
  const time = el(
    "time",
    { datetime: new Date(Number(message.ts) * 1000).toISOString(), title: fullDate(message.ts) },
    clock(message.ts),
  );
  const edited = message.edited && !who.bot && span("quiet-text", "(edited)");
  if (view.compact) return [edited];
  return [
    span("author", who.name),
    who.bot && span("tag", "app"),
    time,
    edited,
    view.ephemeral && span("only-you", "Only visible to you"),
  ];
}

function showBody(body, message, view, surface) {
  const editing =
    state.editing?.ts === message.ts &&
    state.editing.channel === view.channel &&
    state.editing.inThread === view.inThread;
  if (editing) return redraw(body, ["editing", message.ts], () => editor(view.channel, message));
  // People's words are shown from their text: the block beside it says the same, without the marks they typed.
  if (message.blocks?.length && author(message).bot) {
    if (body.shownKey !== "blocks") body.replaceChildren();
    body.shownKey = "blocks";
    return patchBlocks(body, message.blocks, surface);
  }
  const gone = message.subtype === "tombstone";
  return redraw(body, ["text", message.text], () =>
    el(
      "div",
      { class: gone ? "lines quiet-text" : "lines" },
      gone ? "This message was deleted." : mrkdwn(message.text),
    ),
  );
}

function showWarning(article, surface) {
  const warning = warningOf(surface);
  const node = article.parts.warning;
  if (node.textContent !== warning) node.textContent = warning;
  node.hidden = !warning;
}

function foot(message, view) {
  return [
    files(message),
    reactions(message, view),
    !view.inThread && message.reply_count > 0 && threadButton(message, view),
  ];
}

function files(message) {
  if (!message.files?.length) return null;
  return el(
    "ul",
    { class: "files" },
    message.files.map((file) => el("li", {}, "📄 ", fileName(file), span("quiet-text", ` ${size(file.size)}`))),
  );
}

function fileName(file) {
  const address = new URL(file.url_private ?? file.permalink ?? "", location.href).href;
  const name = file.title || file.name || file.id;
  const here = safeUrl(address)?.origin === location.origin && (file.url_private || file.permalink);
  return here ? link(address, name) : name;
}

function size(bytes) {
  if (!bytes) return "";
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
}

function reactions(message, view) {
  if (!message.reactions?.length) return null;
  return div(
    "reactions",
    message.reactions.map((reaction) => {
      const mine = reaction.users?.includes(state.me);
      const who = (reaction.users ?? []).map(personName).join(", ");
      return el(
        "button",
        {
          class: mine ? "reaction mine" : "reaction",
          title: who,
          "aria-pressed": String(Boolean(mine)),
          "aria-label": `${reaction.name}: ${who}`,
          data: { focus: `reaction ${reaction.name}` },
          on: { click: () => toggleReaction(message, view.channel, reaction.name) },
        },
        emojiOf(reaction.name),
        " ",
        reaction.count,
      );
    }),
  );
}

function threadButton(message, view) {
  const last = message.latest_reply && span("quiet-text", `last ${clock(message.latest_reply)}`);
  return el(
    "button",
    {
      class: "thread-link",
      data: { testid: "thread-open", focus: "thread" },
      on: { click: () => view.openThread(message.ts) },
    },
    span("", replies(message)),
    last,
  );
}
