// One small menu for everything that opens under a button: overflow elements, message actions, shortcuts, reactions.
// Arrow keys move, Enter chooses, Escape closes and gives the focus back.

import { el, span } from "./dom.js";

let close = () => {};

// `items`: [{label, hint?, danger?, run}]; `label` names the menu for screen readers.
export function openMenu(anchor, label, items) {
  close();
  const menu = el("div", { class: "menu", role: "menu", "aria-label": label });
  for (const item of items) menu.append(menuItem(item));
  (anchor.closest("dialog") ?? document.body).append(menu);
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  const outside = (event) => menu.contains(event.target) || anchor.contains(event.target) || close();
  close = () => {
    close = () => {};
    document.removeEventListener("pointerdown", outside, true);
    anchor.setAttribute("aria-expanded", "false");
    const held = menu.contains(document.activeElement);
    menu.remove();
    if (held) anchor.focus({ preventScroll: true });
  };
  document.addEventListener("pointerdown", outside, true);
  menu.addEventListener("keydown", (event) => onKey(event, menu));
  menu.firstElementChild?.focus({ preventScroll: true });
}

function menuItem(item) {
  const choose = () => {
    close();
    item.run();
  };
  return el(
    "button",
    { role: "menuitem", class: item.danger ? "menu-item danger" : "menu-item", tabindex: "-1", on: { click: choose } },
    span("", item.label),
    item.hint && span("menu-hint", item.hint),
  );
}

function onKey(event, menu) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    event.stopPropagation();
    close();
  } else if (to !== undefined) {
    event.preventDefault();
    items[(to + items.length) % items.length].focus();
  }
}

function place(menu, anchor) {
  const box = anchor.getBoundingClientRect();
  const height = menu.offsetHeight;
  const below = box.bottom + 4 + height <= window.innerHeight;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - 4 - height)}px`;
  menu.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - menu.offsetWidth - 8))}px`;
}

export const closeMenu = () => close();
