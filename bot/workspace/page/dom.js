// The only place where elements are made. Text always goes in as text nodes, so nothing that a person,
// a model or a server wrote can become markup. `sync` and `keepFocus` let a card be redrawn under a
// person's hands: what did not change stays the same node, and the focused control is found again.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  if (tag === "button") node.type = "button"; // unless the properties say otherwise: only few send a form
  for (const [name, value] of Object.entries(props)) assign(node, name, value);
  append(node, children);
  return node;
}

export const div = (className, ...children) => el("div", { class: className || null }, ...children);
export const span = (className, ...children) => el("span", { class: className || null }, ...children);

function assign(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "class") node.className = value;
  else if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
  else if (name === "data") Object.assign(node.dataset, value);
  else if (name === "value") node.value = value;
  else node.setAttribute(name, value === true ? "" : value);
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const byId = (id) => document.getElementById(id);

// Makes the children of `parent` equal to `nodes`, moving as little as possible: a moved node loses focus.
export function sync(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

// Runs `redraw`; if it took the focused control away, focuses its successor: the control with the same
// data-focus key, at the same place among those with that key.
export function keepFocus(root, redraw) {
  const held = root.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.dataset.focus;
  const place = key ? controlsLike(root, key).indexOf(held) : -1;
  const caret = held && "selectionStart" in held ? [held.selectionStart, held.selectionEnd] : null;
  redraw();
  if (!held || document.activeElement === held) return;
  if (root.contains(held)) return void held.focus({ preventScroll: true });
  if (!key) return;
  const heirs = controlsLike(root, key);
  const heir = heirs[Math.min(place, heirs.length - 1)];
  if (!heir) return void root.closest("[tabindex]")?.focus({ preventScroll: true });
  heir.focus({ preventScroll: true });
  if (caret && typeof heir.setSelectionRange === "function" && caret[0] !== null) heir.setSelectionRange(...caret);
}

function controlsLike(root, key) {
  return [...root.querySelectorAll("[data-focus]")].filter((node) => node.dataset.focus === key);
}

let counter = 0;
export const freshId = (stem) => `${stem}-${(counter += 1)}`;
