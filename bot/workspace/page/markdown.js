// The markdown block: headings, lists, quotes, fences, rules, tables' text as it is, and inline bold, italic, code, strike and links.
// A small subset on purpose; what it does not know stays readable as plain text.

import { el } from "./dom.js";
import { link } from "./links.js";

const LINES = [
  [/^(#{1,6})\s+(.*)$/, (found) => el(`h${Math.min(6, found[1].length + 2)}`, {}, spans(found[2]))],
  [/^(?:---+|\*\*\*+|___+)\s*$/, () => el("hr")],
];

const GROUPS = [
  [
    /^\s*[-*+]\s+(.*)$/,
    (items) =>
      el(
        "ul",
        {},
        items.map((item) => el("li", {}, spans(item))),
      ),
  ],
  [
    /^\s*\d+[.)]\s+(.*)$/,
    (items) =>
      el(
        "ol",
        {},
        items.map((item) => el("li", {}, spans(item))),
      ),
  ],
  [/^>\s?(.*)$/, (items) => el("blockquote", {}, spans(items.join("\n")))],
];

export function markdown(text) {
  return String(text ?? "")
    .split(/^```[^\n]*\n([\s\S]*?)^```\s*$/m)
    .flatMap((part, index) =>
      index % 2 ? el("pre", {}, el("code", {}, part.replace(/\n$/, ""))) : structure(part.split("\n")),
    );
}

function structure(lines) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const single = LINES.map(([pattern, make]) => [lines[at].match(pattern), make]).find(([found]) => found);
    const group = GROUPS.find(([pattern]) => pattern.test(lines[at]));
    const start = at;
    if (single) {
      nodes.push(single[1](single[0]));
      at += 1;
    } else if (group) {
      while (at < lines.length && group[0].test(lines[at])) at += 1;
      nodes.push(group[1](lines.slice(start, at).map((line) => line.match(group[0])[1])));
    } else {
      while (at < lines.length && lines[at].trim() && !isSpecial(lines[at])) at += 1;
      if (at > start) nodes.push(el("p", {}, spans(lines.slice(start, at).join("\n"))));
      else at += 1;
    }
  }
  return nodes;
}

const isSpecial = (line) => [...LINES, ...GROUPS].some(([pattern]) => pattern.test(line));

const SPANS = [
  [/`([^`\n]+)`/, (found) => el("code", {}, found[1])],
  [/\[([^\]\n]+)\]\(([^)\s]+)\)/, (found) => link(found[2], found[1])],
  [/\*\*(?=\S)([^\n]*?\S)\*\*/, (found) => el("strong", {}, spans(found[1]))],
  [/~~(?=\S)([^\n]*?\S)~~/, (found) => el("s", {}, spans(found[1]))],
  [/(?<![\w*])[*_](?=\S)([^*_\n]*?\S)[*_](?![\w*])/, (found) => el("em", {}, spans(found[1]))],
];

// Always the mark that comes first; of two at the same place the one that stands higher in the list.
function spans(text) {
  let first = null;
  for (const [pattern, make] of SPANS) {
    const found = text.match(pattern);
    if (found && (!first || found.index < first.found.index)) first = { found, make };
  }
  if (!first) return text ? [text] : [];
  const { found, make } = first;
  return [text.slice(0, found.index), make(found), ...spans(text.slice(found.index + found[0].length))];
}
