// Changing an own message where it stands. Enter keeps the change, Escape leaves it.

import * as api from "./api.js";
import { div, el } from "./dom.js";
import { complain } from "./notice.js";
import { redrawAll } from "./refresh.js";
import { state } from "./state.js";

export function editor(channel, message) {
  const box = el("textarea", { class: "input", rows: 3, "aria-label": "Text of the message" });
  box.value = state.editing.text;
  box.addEventListener("input", () => (state.editing.text = box.value));
  const leave = () => {
    state.editing = null;
    redrawAll();
  };
  const keep = async () => {
    try {
      await api.edit(state.me, message.ts, { channel, text: box.value });
      leave();
    } catch (error) {
      complain(error);
    }
  };
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    keep();
  });
  queueMicrotask(() => box.focus());
  return div(
    "stack",
    box,
    el(
      "div",
      { class: "row" },
      el("button", { class: "button primary", on: { click: keep } }, "Save message"),
      el("button", { class: "button", on: { click: leave } }, "Leave as it was"),
    ),
  );
}
