// Blocks as DOM nodes: message, modal and Home alike. `patchBlocks` redraws only the blocks that changed.
// A block that is not known stays visible as a placeholder, and the console says so.

import { div, el, freshId, keepFocus, span, sync } from "./dom.js";
import { control, entered, plainText } from "./elements.js";
import { field } from "./inputs.js";
import { imageBlock, imageElement, picture } from "./images.js";
import { link } from "./links.js";
import { markdown } from "./markdown.js";
import { mrkdwn } from "./mrkdwn.js";
import { press } from "./press.js";
import { richText } from "./richtext.js";
import { dataTable, table } from "./tables.js";
import { plan, taskCard } from "./tasks.js";

// A text object: mrkdwn is parsed, plain_text is literal.
export function text(object) {
  if (!object) return [];
  if (typeof object === "string") return [object];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [object.text];
}

const LONG_TEXT = { characters: 700, lines: 10 };

function section(block, surface) {
  const accessory = block.accessory && div("accessory", control(block.accessory, block.block_id, surface));
  const fields =
    block.fields &&
    div(
      "fields",
      block.fields.map((one) => div("lines", text(one))),
    );
  const body = div("section-body", block.text && foldable(block), fields);
  return div("section", body, accessory);
}

// Slack folds a tall section unless it says `expand`.
function foldable(block) {
  const node = div("lines", text(block.text));
  const content = block.text.text ?? "";
  const tall = content.length > LONG_TEXT.characters || content.split("\n").length > LONG_TEXT.lines;
  if (block.expand || !tall) return node;
  node.classList.add("folded");
  const more = el("button", { class: "link" }, "See more");
  more.addEventListener("click", () => more.replaceChildren(node.classList.toggle("folded") ? "See more" : "See less"));
  return [node, more];
}

function context(block) {
  return div(
    "context",
    block.elements.map((one) => (one.type === "image" ? imageElement(one) : span("lines", text(one)))),
  );
}

const actions = (block, surface) =>
  div(
    "actions",
    block.elements.map((one) => control(one, block.block_id, surface)),
  );

function header(block) {
  return el(`h${Math.min(6, (block.level ?? 1) + 2)}`, { class: "block-header" }, plainText(block.text));
}

function input(block, surface) {
  const label = freshId("label");
  const notes = freshId("notes");
  const error = surface.errors?.[block.block_id];
  const fire = block.dispatch_action ? (content) => press(surface, block.block_id, block.element, content) : undefined;
  const control = field(block.element, {
    blockId: block.block_id,
    form: surface.form,
    seed: entered(surface, block.block_id, block.element),
    labelledBy: label,
    describedBy: notes,
    invalid: Boolean(error),
    fire,
  });
  const title = el(
    "span",
    { class: "input-label", id: label },
    plainText(block.label),
    block.optional && span("optional", " (optional)"),
  );
  const below = el(
    "div",
    { id: notes },
    error && el("p", { class: "field-error", role: "alert" }, error),
    block.hint && el("p", { class: "hint" }, plainText(block.hint)),
  );
  const grouped = control.tagName === "FIELDSET";
  return el(
    "div",
    { class: error ? "field invalid" : "field", data: { block: block.block_id ?? "" } },
    grouped ? [title, control] : el("label", { class: "stack" }, title, control),
    below,
  );
}

const LEVELS = { info: "ℹ", warning: "⚠", error: "!", success: "✓", default: "·" };

function alert(block) {
  const level = Object.hasOwn(LEVELS, block.level) ? block.level : "default";
  return el(
    "div",
    { class: `alert ${level}`, role: level === "error" ? "alert" : "note" },
    el("span", { class: "alert-mark", "aria-hidden": "true" }, LEVELS[level]),
    div("lines", text(block.text)),
  );
}

function card(block, surface) {
  const hero = block.hero_image && picture(block.hero_image.image_url, block.hero_image.alt_text ?? "", "block-image");
  return div(
    "inner-card",
    hero,
    block.title && el("strong", { class: "lines" }, text(block.title)),
    block.subtitle && div("hint lines", text(block.subtitle)),
    block.body && div("lines", text(block.body)),
    block.actions &&
      div(
        "actions",
        block.actions.map((one) => control(one, block.block_id, surface)),
      ),
  );
}

function container(block, surface) {
  const title = block.rich_text_title ? richText(block.rich_text_title) : el("strong", {}, text(block.title));
  const body = div(
    "stack",
    (block.child_blocks ?? []).map((child) => renderBlock(child, surface)),
  );
  if (!block.is_collapsible) return div("inner-card", title, body);
  return el("details", { class: "inner-card", open: !block.default_collapsed }, el("summary", {}, title), body);
}

const remote = (block) =>
  div(
    "context",
    "📄 ",
    link(
      block.title_url ?? block.video_url ?? block.url ?? "",
      plainText(block.title) || block.external_id || block.type,
    ),
  );

const BLOCKS = {
  section,
  context,
  actions,
  header,
  input,
  alert,
  card,
  container,
  table,
  plan,
  divider: () => el("hr"),
  rich_text: richText,
  image: imageBlock,
  markdown: (block) => div("markdown", markdown(block.text)),
  task_card: (block) => el("ol", { class: "tasks" }, taskCard(block)),
  data_table: dataTable,
  carousel: (block, surface) =>
    el(
      "div",
      { class: "carousel", role: "group" },
      (block.elements ?? block.cards ?? []).map((one) => card(one, surface)),
    ),
  context_actions: actions,
  video: remote,
  file: remote,
};

const missing = (block, why) => div("unknown", `[${block?.type}] ${why}`);

export function renderBlock(block, surface) {
  const node = Object.hasOwn(BLOCKS, block?.type)
    ? attempt(block, surface)
    : missing(block, "This kind of block is not shown here.");
  if (!Object.hasOwn(BLOCKS, block?.type)) console.warn("block not known:", block?.type);
  node.classList.add("block");
  return node;
}

// One block that is not as it should be must not take the rest of the page with it.
function attempt(block, surface) {
  try {
    return BLOCKS[block.type](block, surface);
  } catch (error) {
    console.warn("block not drawn:", block.type, error);
    return missing(block, "This block could not be drawn.");
  }
}

// Makes `container` show `blocks`. Blocks that are the same as before keep their nodes: folds stay open, a select stays
// open, the caret stays where it is.
export function patchBlocks(container, blocks, surface) {
  const old = new Map();
  for (const node of container.children) {
    if (!old.has(node.blockKey)) old.set(node.blockKey, []);
    old.get(node.blockKey).push(node);
  }
  const nodes = (blocks ?? []).map((block) => {
    const key = JSON.stringify([block, surface.errors?.[block.block_id] ?? ""]);
    const node = old.get(key)?.shift() ?? renderBlock(block, surface);
    node.blockKey = key;
    return node;
  });
  keepFocus(container, () => sync(container, nodes));
}
