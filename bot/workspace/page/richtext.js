// rich_text: nothing in it is parsed. Every text is literal, styles come only from the block itself.

import { div, el, span } from "./dom.js";
import { formatDate, fullDate } from "./dates.js";
import { emojiOf } from "./emoji.js";
import { link } from "./links.js";
import { broadcastChip, channelChip, groupChip, personChip } from "./mentions.js";

export const richText = (block) => div("rich", lists(block.elements ?? []));

// Consecutive lists belong together: an indented one goes inside the last item of the one before it.
function lists(elements) {
  const nodes = [];
  let open = [];
  for (const element of elements) {
    if (element.type !== "rich_text_list") {
      open = [];
      nodes.push(part(element));
      continue;
    }
    const indent = element.indent ?? 0;
    open = open.slice(0, indent);
    const node = list(element);
    const outer = open[open.length - 1]?.lastElementChild;
    if (outer) outer.append(node);
    else nodes.push(node);
    open.push(node);
  }
  return nodes;
}

function list(element) {
  const tag = element.style === "ordered" ? "ol" : "ul";
  const start = tag === "ol" && element.offset ? element.offset + 1 : null;
  return el(
    tag,
    { start, class: element.border ? "barred" : null },
    (element.elements ?? []).map((item) => el("li", {}, spans(item.elements))),
  );
}

function part(element) {
  if (element.type === "rich_text_section") return div("rich-section", spans(element.elements));
  if (element.type === "rich_text_quote") return el("blockquote", {}, spans(element.elements));
  if (element.type === "rich_text_preformatted") return el("pre", {}, el("code", {}, spans(element.elements)));
  console.warn("rich text part not known:", element.type);
  return div("unknown", `[${element.type}]`);
}

const spans = (elements) => (elements ?? []).map((element) => styled(mark(element), element.style));

function styled(node, style) {
  if (!style) return node;
  let inner = node;
  if (style.code) inner = el("code", {}, inner);
  if (style.strike) inner = el("s", {}, inner);
  if (style.underline) inner = el("u", {}, inner);
  if (style.italic) inner = el("em", {}, inner);
  if (style.bold) inner = el("strong", {}, inner);
  return inner;
}

const SPANS = {
  text: (one) => document.createTextNode(one.text ?? ""),
  link: (one) => link(one.url, one.text),
  user: (one) => personChip(one.user_id),
  usergroup: (one) => groupChip(one.usergroup_id),
  channel: (one) => channelChip(one.channel_id),
  broadcast: (one) => broadcastChip(one.range),
  emoji: (one) => document.createTextNode(one.unicode ? fromCodes(one.unicode) : emojiOf(one.name)),
  date: (one) => el("time", { title: fullDate(one.timestamp) }, formatDate(one.timestamp, one.format, one.fallback)),
  color: (one) => el("code", {}, one.value),
};

const fromCodes = (codes) => String.fromCodePoint(...codes.split("-").map((code) => parseInt(code, 16)));

function mark(element) {
  if (Object.hasOwn(SPANS, element.type)) return SPANS[element.type](element);
  console.warn("rich text element not known:", element.type);
  return span("unknown", `[${element.type}]`);
}
