// table and data_table: real tables, so that screen readers can walk them. Wide ones scroll by themselves.

import { el } from "./dom.js";
import { richText } from "./richtext.js";

const cell = (one) => (one?.type === "rich_text" ? richText(one) : String(one?.text ?? one?.value ?? ""));

function frame(label, ...children) {
  return el(
    "div",
    { class: "table-frame", tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, children),
  );
}

function row(cells, tag, settings) {
  return el(
    "tr",
    {},
    cells.map((one, index) =>
      el(tag, { scope: tag === "th" ? "col" : null, class: cellClass(settings?.[index], one) }, cell(one)),
    ),
  );
}

function cellClass(setting, one) {
  const align = setting?.align ?? (one?.type === "raw_number" ? "right" : "left");
  return `${align}${setting?.is_wrapped ? " wrapped" : ""}`;
}

export function table(block) {
  const [head, ...rest] = block.rows ?? [];
  return frame(
    "Table",
    el("thead", {}, head && row(head, "th", block.column_settings)),
    el(
      "tbody",
      {},
      rest.map((one) => row(one, "td", block.column_settings)),
    ),
  );
}

// Pages are the work of a client with long data; here all rows stand at once, a hundred at most.
export function dataTable(block) {
  const [head, ...rest] = (block.rows ?? []).map((one) => one.cells ?? one);
  const caption = block.caption?.text ?? block.caption ?? "Data";
  return frame(
    caption,
    el("caption", {}, caption),
    el("thead", {}, head && row(head, "th")),
    el(
      "tbody",
      {},
      rest.map((one) => row(one, "td")),
    ),
  );
}
