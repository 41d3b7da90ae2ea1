// Block elements that tell the app at once: buttons, menus, selects in a message or beside a section.
// Fields of a form are in inputs.js; both end in `control`.

import { el, span } from "./dom.js";
import { field } from "./inputs.js";
import { openMenu } from "./menu.js";
import { press, pressable } from "./press.js";
import { imageElement } from "./images.js";

export const plainText = (object) => object?.text ?? "";

// A value that the workspace keeps for a view, such as after a reload of this page.
export const entered = (surface, blockId, element) => surface.entered?.[blockId]?.[element.action_id];

// What a screen reader says; it always holds the words that are seen.
function spoken(element) {
  const label = element.accessibility_label;
  const seen = plainText(element.text);
  if (!label) return null;
  return label.includes(seen) ? label : `${seen}: ${label}`;
}

function button(element, blockId, surface) {
  const node = el(
    "button",
    {
      class: `button ${element.style ?? ""}`.trim(),
      "aria-label": spoken(element),
      data: { action: element.action_id },
    },
    span("button-text", plainText(element.text)),
  );
  node.addEventListener("click", () => press(surface, blockId, element, { value: element.value }));
  return pressable(node, surface, element);
}

function overflow(element, blockId, surface) {
  const node = el(
    "button",
    {
      class: "button icon",
      "aria-label": element.accessibility_label ?? "More actions",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      data: { action: element.action_id },
    },
    "⋯",
  );
  node.addEventListener("click", () => {
    const items = element.options.map((option) => ({
      label: plainText(option.text),
      hint: plainText(option.description),
      run: () =>
        press(
          surface,
          blockId,
          { ...element, value: element.options[0].value, url: option.url },
          { selected_option: option },
        ),
    }));
    openMenu(node, "More actions", items);
  });
  return pressable(node, surface, { ...element, value: element.options?.[0]?.value });
}

function iconButton(element, blockId, surface) {
  const label = spoken(element) ?? plainText(element.text);
  const node = el(
    "button",
    { class: "button icon", "aria-label": label, title: plainText(element.text) },
    element.icon === "trash" ? "🗑" : "•",
  );
  node.addEventListener("click", () => press(surface, blockId, element, { value: element.value }));
  return pressable(node, surface, element);
}

function feedbackButtons(element, blockId, surface) {
  return span(
    "row",
    [element.positive_button, element.negative_button].filter(Boolean).map((one) => {
      const part = { ...element, value: one.value };
      const node = el("button", { class: "button", "aria-label": one.accessibility_label }, plainText(one.text));
      node.addEventListener("click", () => press(surface, blockId, part, { value: one.value }));
      return pressable(node, surface, part);
    }),
  );
}

const SIMPLE = {
  button,
  overflow,
  workflow_button: button,
  icon_button: iconButton,
  feedback_buttons: feedbackButtons,
  image: imageElement,
};

// One interactive element outside an input block.
export function control(element, blockId, surface) {
  if (Object.hasOwn(SIMPLE, element.type)) return SIMPLE[element.type](element, blockId, surface);
  const label = plainText(element.placeholder) || element.action_id;
  const node = field(element, {
    blockId,
    form: surface.form,
    seed: entered(surface, blockId, element),
    label,
    fire: (content) => press(surface, blockId, element, content),
  });
  return pressable(node, surface, element);
}
