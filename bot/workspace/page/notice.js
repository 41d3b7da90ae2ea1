// The small line at the foot of the page: what went wrong; and whether the connection stands.

import { byId, el, span } from "./dom.js";

let timer = 0;

export function complain(error) {
  if (!(error instanceof Error) || error.code === undefined) console.warn(error);
  notify(error.message ?? String(error), "error");
}

export function notify(text, level = "info") {
  const line = byId("status");
  line.className = `status ${level}`;
  line.replaceChildren(
    span("", text),
    el("button", { class: "quiet", "aria-label": "Dismiss this notice", on: { click: hush } }, "×"),
  );
  line.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(hush, 10_000);
}

export function hush() {
  byId("status").hidden = true;
}

export function showConnection(connected) {
  const line = byId("connection");
  line.hidden = connected;
  line.textContent = connected ? "" : "Connection lost. Reconnecting…";
}
