// A click on its way to the app. While it is on its way the control is busy, also if its card is redrawn meanwhile;
// if the app did not answer in time, the card says so until the next click.
//
// A surface is a place that holds blocks: {key, form, send(action) -> Promise<{acked}>, changed()}.

import { div, el } from "./dom.js";
import { openUrl } from "./links.js";
import { state } from "./state.js";

const pending = new Set();
const warnings = new Map(); // surface key -> sentence

// Why nothing happened, or nothing if the app took it.
export function unanswered({ acked, trouble }) {
  const app = state.workspace.app.name ?? "The app";
  if (acked === false && trouble === "dispatch_failed") return `${app} is not connected. Try again when it runs.`;
  if (acked === false) return `${app} did not answer within 3 seconds. Try again.`;
  return trouble ? `${app} answered something that cannot be used: ${trouble}` : "";
}

export const warningOf = (surface) => warnings.get(surface.key) ?? "";

const pressKey = (surface, element, extra = "") => [surface.key, element.action_id, element.value ?? extra].join("|");

// Marks a control so that `press` finds it, and shows it busy if its click is still on its way.
export function pressable(node, surface, element) {
  node.dataset.focus = element.action_id ?? "";
  node.dataset.press = pressKey(surface, element);
  setBusy(node, pending.has(node.dataset.press));
  return node;
}

function setBusy(node, busy) {
  node.classList.toggle("busy", busy);
  node.disabled = busy;
  if (busy) node.setAttribute("aria-busy", "true");
  else node.removeAttribute("aria-busy");
}

const nodesOf = (key) => [...document.querySelectorAll("[data-press]")].filter((node) => node.dataset.press === key);

// The key of the control that was pressed last with the keyboard focus on it: a disabled control loses its focus.
let held = "";

function begin(key) {
  held = document.activeElement?.dataset?.press === key ? key : "";
  pending.add(key);
  for (const node of nodesOf(key)) setBusy(node, true);
}

function finish(key) {
  pending.delete(key);
  for (const node of nodesOf(key)) setBusy(node, false);
  if (held === key && document.activeElement === document.body) refocus();
}

// Gives the focus back to the control that was pressed last, if it is still there.
export function refocus() {
  const node = held ? nodesOf(held)[0] : undefined;
  node?.focus({ preventScroll: true });
  return Boolean(node);
}

export async function press(surface, blockId, element, content = {}) {
  const key = pressKey(surface, element);
  if (pending.has(key)) return;
  if (element.confirm && !(await confirmed(element.confirm))) return;
  if (element.url) openUrl(element.url);
  warnings.delete(surface.key);
  begin(key);
  try {
    const answer = await surface.send({
      action_id: element.action_id,
      block_id: blockId,
      type: element.type,
      ...content,
    });
    warnings.set(surface.key, unanswered(answer));
  } catch (error) {
    warnings.set(surface.key, error.message);
  } finally {
    finish(key);
    surface.changed();
  }
}

function confirmed(words) {
  return new Promise((resolve) => {
    const title = el("h2", { id: "confirm-title" }, words.title?.text ?? "Are you sure?");
    const yes = el(
      "button",
      { type: "submit", value: "yes", class: words.style === "danger" ? "button danger" : "button primary" },
      words.confirm?.text ?? "Yes",
    );
    const no = el("button", { type: "submit", value: "no", class: "button" }, words.deny?.text ?? "No");
    const form = el(
      "form",
      { method: "dialog" },
      title,
      el("p", { class: "lines" }, words.text?.text ?? ""),
      div("dialog-foot", no, yes),
    );
    const dialog = el(
      "dialog",
      { class: "sheet small", role: "alertdialog", "aria-labelledby": "confirm-title", data: { testid: "confirm" } },
      form,
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}
