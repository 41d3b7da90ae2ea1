// Modals: the top view of this person's stack, in a native dialog (which keeps the focus inside and the page behind quiet).
// What was filled in lives in the view's form, so a view that the app updates meanwhile loses nothing.

import * as api from "./api.js";
import { patchBlocks, text } from "./blocks.js";
import { byId } from "./dom.js";
import { collect, createForm, faults } from "./form.js";
import { refocus, unanswered, warningOf } from "./press.js";
import { onRedraw, want } from "./refresh.js";
import { state } from "./state.js";

const surfaces = new Map(); // view id -> surface
let shown = null; // id of the view that is drawn
let cameFrom = null;

export function startModal() {
  const dialog = byId("modal");
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    leave();
  });
  dialog.addEventListener("close", () => shown && leave());
  byId("modal-leave").addEventListener("click", () => leave({ clear: true }));
  byId("modal-close").addEventListener("click", () => leave());
  byId("modal-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  onRedraw(draw);
}

const top = () => state.views?.at(-1) ?? null;

function surfaceOf(view) {
  if (!surfaces.has(view.id))
    surfaces.set(view.id, { key: `view|${view.id}`, form: createForm(), errors: {}, busy: false, warning: "" });
  const surface = surfaces.get(view.id);
  surface.entered = view.state?.values;
  const me = state.me;
  surface.send = async (action) => {
    const answer = await api.actInView(me, view.id, { ...action, values: collect(surface.form, view.blocks) });
    want("views");
    return answer;
  };
  surface.changed = () => draw();
  return surface;
}

function draw() {
  const view = top();
  if (!view) return hide();
  const dialog = byId("modal");
  const surface = surfaceOf(view);
  const fresh = shown !== view.id;
  if (fresh) byId("modal-blocks").replaceChildren();
  byId("modal-title").replaceChildren(...text(view.title));
  patchBlocks(byId("modal-blocks"), view.blocks, surface);
  button("modal-close", view.close?.text ?? "Close", surface.busy);
  button("modal-submit", view.submit?.text ?? "", surface.busy);
  byId("modal-submit").classList.toggle("busy", surface.busy);
  const strays = strayErrors(view, surface);
  const warning = surface.warning || warningOf(surface) || strays;
  byId("modal-warning").textContent = warning;
  byId("modal-warning").hidden = !warning;
  if (!dialog.open) {
    cameFrom = document.activeElement;
    dialog.showModal();
  }
  shown = view.id;
  if (fresh) focusFirst(view);
}

function button(id, words, busy) {
  const node = byId(id);
  node.hidden = !words;
  node.disabled = busy;
  node.firstElementChild.textContent = words;
}

// Errors that name no block of this view would be lost otherwise.
function strayErrors(view, surface) {
  const ids = new Set(view.blocks.map((block) => block.block_id));
  return Object.entries(surface.errors)
    .filter(([id]) => !ids.has(id))
    .map(([, words]) => words)
    .join(" ");
}

function focusFirst(view) {
  byId("modal-body").scrollTop = 0;
  const asked = view.blocks.find((block) => block.element?.focus_on_load || block.accessory?.focus_on_load);
  const fields = [...byId("modal-blocks").querySelectorAll("[data-field]")].map((node) =>
    node.tagName === "FIELDSET" ? node.querySelector("input") : node,
  );
  const wanted = asked
    ? fields.find((node) => (node.closest("[data-field]") ?? node).dataset.field === asked.block_id)
    : fields[0];
  (wanted ?? byId("modal-title")).focus({ preventScroll: !wanted });
}

function hide() {
  shown = null;
  surfaces.clear();
  const dialog = byId("modal");
  if (!dialog.open) return;
  dialog.close();
  if (cameFrom?.isConnected && cameFrom !== document.body) cameFrom.focus({ preventScroll: true });
  else if (!refocus()) document.querySelector("#talk textarea")?.focus();
}

// Closes the top view; with `clear` (the x in the corner) all that are open.
async function leave({ clear = false } = {}) {
  const view = top();
  if (!view) return;
  state.views = clear ? [] : state.views.slice(0, -1);
  draw();
  // It may be closed already, by the app.
  await api.closeView(state.me, view.id, clear ? { clear } : {}).catch((error) => console.warn(error.message));
  want("views");
}

async function submit() {
  const view = top();
  const surface = surfaceOf(view);
  if (surface.busy || !view.submit) return;
  surface.errors = faults(surface.form, view.blocks);
  surface.warning = "";
  if (Object.keys(surface.errors).length === 0) await send(view, surface);
  draw();
  if (Object.keys(surface.errors).length) focusFault(view);
}

async function send(view, surface) {
  surface.busy = true;
  draw();
  try {
    const answer = await api.submitView(state.me, view.id, { values: collect(surface.form, view.blocks) });
    surface.errors = answer.errors ?? {};
    if (Object.keys(surface.errors).length) return;
    surface.warning = unanswered(answer);
    if (!surface.warning) await want("views", "messages", "thread");
  } catch (error) {
    surface.warning = error.message;
  } finally {
    surface.busy = false;
  }
}

function focusFault(view) {
  if (top()?.id !== view.id) return;
  const field = byId("modal-blocks").querySelector(".field.invalid [data-focus]");
  field?.focus();
  field?.closest(".field").scrollIntoView({ block: "nearest" });
}
