// Slack's mrkdwn as DOM nodes. The text is in Slack's wire form: &amp; &lt; &gt; stand for themselves, and
// only <…> makes mentions, dates and links. Nothing else is parsed, nothing becomes HTML.

import { el } from "./dom.js";
import { formatDate, fullDate } from "./dates.js";
import { withEmoji } from "./emoji.js";
import { link } from "./links.js";
import { channelChip, broadcastChip, groupChip, personChip } from "./mentions.js";

const STYLES = { "*": "strong", _: "em", "~": "s" };
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

export const decode = (text) => text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity]);

export function mrkdwn(text) {
  const parts = String(text ?? "").split(/```\n?([\s\S]+?)```\n?/);
  return parts.flatMap((part, index) =>
    index % 2 ? el("pre", {}, el("code", {}, decode(part.replace(/\n$/, "")))) : quotes(part),
  );
}

function quotes(text) {
  if (!text) return [];
  const nodes = [];
  let group = null;
  for (const line of text.split("\n")) {
    const quoted = line.match(/^(?:&gt;|>)\s?(.*)$/);
    if (!group || group.quoted !== Boolean(quoted)) nodes.push((group = { quoted: Boolean(quoted), lines: [] }));
    group.lines.push(quoted ? quoted[1] : line);
  }
  return nodes.flatMap((each) => {
    const inner = inline(each.lines.join("\n"));
    return each.quoted ? [el("blockquote", {}, inner)] : inner;
  });
}

const isWord = (char) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
const isSpace = (char) => char === undefined || /\s/.test(char);

// Inline marks. `missing` remembers up to where a closing mark was searched in vain, so that hostile text
// full of opening marks costs one search per mark and line, not one per opening.
export function inline(text) {
  const nodes = [];
  const missing = {};
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain) nodes.push(withEmoji(decode(plain)));
    plain = "";
  };
  while (at < text.length) {
    const taken = codeAt(text, at) ?? tokenAt(text, at) ?? styleAt(text, at, missing);
    if (!taken) {
      plain += text[at];
      at += 1;
      continue;
    }
    flush();
    nodes.push(taken.node);
    at = taken.end;
  }
  flush();
  return nodes;
}

function codeAt(text, at) {
  if (text[at] !== "`") return null;
  const found = /^`([^`\n]+)`/.exec(text.slice(at, at + 3000));
  return found && { node: el("code", {}, decode(found[1])), end: at + found[0].length };
}

function tokenAt(text, at) {
  if (text[at] !== "<") return null;
  const found = /^<([^<>\n]+)>/.exec(text.slice(at, at + 3100));
  return found && { node: token(found[1]), end: at + found[0].length };
}

function styleAt(text, at, missing) {
  const mark = text[at];
  if (!(mark in STYLES) || isWord(text[at - 1]) || isSpace(text[at + 1]) || text[at + 1] === mark) return null;
  if (at < (missing[mark] ?? 0)) return null;
  const end = closing(text, at, mark, missing);
  return end && { node: el(STYLES[mark], {}, inline(text.slice(at + 1, end))), end: end + 1 };
}

function closing(text, start, mark, missing) {
  let at = start + 1;
  while (at < text.length && text[at] !== "\n") {
    const skipped = text[at] === "`" || text[at] === "<" ? (codeAt(text, at) ?? tokenAt(text, at)) : null;
    if (skipped) at = skipped.end;
    else if (text[at] === mark && !isSpace(text[at - 1]) && !isWord(text[at + 1])) return at;
    else at += 1;
  }
  missing[mark] = at;
  return 0;
}

function token(body) {
  const bar = body.indexOf("|");
  const head = bar < 0 ? body : body.slice(0, bar);
  const label = bar < 0 ? undefined : decode(body.slice(bar + 1));
  if (head.startsWith("@")) return personChip(head.slice(1), label);
  if (head.startsWith("#")) return channelChip(head.slice(1), label);
  if (head.startsWith("!subteam^")) return groupChip(head.slice(9), label);
  if (head.startsWith("!date^")) return date(head, label);
  if (head.startsWith("!")) return broadcastChip(head.slice(1), label);
  return link(decode(head), label);
}

function date(head, fallback) {
  const [, timestamp, format, address] = head.split("^");
  const text = formatDate(timestamp, format ?? "", fallback);
  const node = el("time", { title: Number.isNaN(Number(timestamp)) ? null : fullDate(timestamp) }, text);
  return address ? link(decode(address), text) : node;
}
