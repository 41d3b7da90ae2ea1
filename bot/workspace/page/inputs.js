// Fields: everything a person can fill in, in a form or in a message. Each keeps its value in the form (never only in
// the DOM) and calls `fire`, if there is one, when the value has been chosen.

import { el, span } from "./dom.js";
import { actors, state } from "./state.js";

const words = (object) => object?.text ?? "";

// `place`: {blockId, form, seed?, label?, labelledBy?, describedBy?, invalid?, fire?}; `seed` is a value that was entered before.
export function field(element, place) {
  if (!Object.hasOwn(FIELDS, element.type)) {
    console.warn("element not known:", element.type);
    return span("unknown", `[${element.type}]`);
  }
  const { form, blockId } = place;
  if (!form.has(blockId, element.action_id))
    form.set(blockId, element.action_id, { type: element.type, ...(place.seed ?? initial(element)) });
  const set = (content, chosen = true) => {
    form.set(blockId, element.action_id, { type: element.type, ...content });
    if (chosen) place.fire?.(content);
  };
  const node = FIELDS[element.type](element, {
    ...place,
    set,
    value: form.get(blockId, element.action_id),
    aria: aria(place),
  });
  node.dataset.focus ??= element.action_id;
  node.dataset.field = blockId;
  return node;
}

function aria(place) {
  return {
    "aria-label": place.labelledBy ? null : place.label,
    "aria-labelledby": place.labelledBy,
    "aria-describedby": place.describedBy,
    "aria-invalid": place.invalid ? "true" : null,
  };
}

// What Slack puts into state.values before anybody touches the field.
function initial(element) {
  const kind = element.type;
  if (kind.endsWith("_text_input") || kind === "number_input") return { value: element.initial_value ?? null };
  if (kind === "static_select" || kind === "radio_buttons") return { selected_option: element.initial_option ?? null };
  if (kind === "checkboxes" || kind === "multi_static_select")
    return { selected_options: element.initial_options ?? [] };
  if (kind === "rich_text_input") return { rich_text_value: element.initial_value ?? null };
  if (kind === "datepicker") return { selected_date: element.initial_date ?? null };
  if (kind === "timepicker") return { selected_time: element.initial_time ?? null };
  if (kind === "datetimepicker") return { selected_date_time: element.initial_date_time ?? null };
  const [single, several] = selectionNames(kind);
  const stem = single.replace("selected_", "initial_");
  return several ? { [several]: element[`${stem}s`] ?? [] } : { [single]: element[stem] ?? null };
}

function selectionNames(kind) {
  const noun = kind.replace("multi_", "").replace("s_select", "");
  return kind.startsWith("multi_") ? [`selected_${noun}`, `selected_${noun}s`] : [`selected_${noun}`];
}

function textInput(element, place) {
  const props = {
    ...place.aria,
    maxlength: element.max_length ?? 3000,
    placeholder: words(element.placeholder) || null,
    class: "input",
    data: { lines: element.multiline ? "many" : "one" },
  };
  const node = element.multiline
    ? el("textarea", { ...props, rows: 4 })
    : el("input", { ...props, type: "text", autocomplete: "off" });
  node.value = place.value.value ?? "";
  return watched(node, element, place);
}

function watched(node, element, place) {
  const triggers = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  node.addEventListener("input", () =>
    place.set({ value: node.value || null }, triggers.includes("on_character_entered")),
  );
  node.addEventListener("keydown", (event) => {
    if (
      event.key !== "Enter" ||
      event.isComposing ||
      element.multiline ||
      !place.fire ||
      !triggers.includes("on_enter_pressed")
    )
      return;
    event.preventDefault();
    place.set({ value: node.value || null });
  });
  return node;
}

function typedInput(type, extra = () => ({})) {
  return (element, place) => {
    const node = el("input", {
      ...place.aria,
      type,
      class: "input",
      placeholder: words(element.placeholder) || null,
      autocomplete: "off",
      ...extra(element),
    });
    node.value = place.value.value ?? "";
    return watched(node, element, place);
  };
}

const numberBounds = (element) => ({
  min: element.min_value,
  max: element.max_value,
  step: element.is_decimal_allowed ? "any" : "1",
  inputmode: "decimal",
});

function picker(type, name, read = (text) => text, show = (value) => value) {
  return (element, place) => {
    const node = el("input", { ...place.aria, type, class: "input short" });
    node.value = place.value[name] ? show(place.value[name]) : "";
    node.addEventListener("change", () => place.set({ [name]: node.value ? read(node.value) : null }));
    return node;
  };
}

const toEpoch = (text) => Math.floor(new Date(text).getTime() / 1000);

function fromEpoch(seconds) {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// A native select. Its arrow keys open the list instead of choosing at once, since choosing tells the app.
function select(element, place, groups, chosen, choose) {
  const blank = el("option", { value: "" }, words(element.placeholder) || "Choose");
  const node = el(
    "select",
    { ...place.aria, class: "input select" },
    blank,
    groups.map((group) => choices(group)),
  );
  node.value = chosen ?? "";
  node.addEventListener("change", () => choose(node.value || null));
  if (place.fire) node.addEventListener("keydown", (event) => openInstead(event, node));
  return node;
}

function choices(group) {
  const options = group.options.map((option) =>
    el(
      "option",
      { value: option.value, title: option.hint || null },
      option.hint ? `${option.label} — ${option.hint}` : option.label,
    ),
  );
  return group.label ? el("optgroup", { label: group.label }, options) : options;
}

function openInstead(event, node) {
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || event.altKey || typeof node.showPicker !== "function") return;
  event.preventDefault();
  node.showPicker();
}

const optionRow = (option) => ({
  value: option.value,
  label: words(option.text),
  hint: words(option.description),
  option,
});

function optionGroups(element) {
  if (!element.option_groups) return [{ options: element.options.map(optionRow) }];
  return element.option_groups.map((group) => ({ label: words(group.label), options: group.options.map(optionRow) }));
}

function staticSelect(element, place) {
  const groups = optionGroups(element);
  const find = (value) => groups.flatMap((group) => group.options).find((row) => row.value === value)?.option ?? null;
  return select(element, place, groups, place.value.selected_option?.value, (value) =>
    place.set({ selected_option: find(value) }, value !== null),
  );
}

const ROWS = {
  user: () =>
    actors().map((one) => ({ value: one.id, label: one.name, hint: one.real_name === one.name ? "" : one.real_name })),
  channel: () =>
    state.channels
      .filter((one) => !one.is_im && !one.is_private)
      .map((one) => ({ value: one.id, label: `#${one.name}` })),
  conversation: () =>
    state.channels.filter((one) => !one.is_im).map((one) => ({ value: one.id, label: `#${one.name}` })),
};

function entitySelect(noun) {
  return (element, place) => {
    const name = `selected_${noun}`;
    const rows = ROWS[noun]();
    const chosen = place.value[name];
    if (chosen && !rows.some((row) => row.value === chosen)) rows.push({ value: chosen, label: chosen });
    return select(element, place, [{ options: rows }], chosen, (value) => place.set({ [name]: value }, value !== null));
  };
}

// Several of many, as boxes to tick.
function ticks(element, place, rows, chosen, choose, type = "checkbox") {
  const name = `${place.blockId}.${element.action_id}.${Math.random()}`;
  const node = el("fieldset", {
    ...place.aria,
    class: rows.length > 10 ? "ticks long" : "ticks",
    role: type === "radio" ? "radiogroup" : "group",
  });
  rows.forEach((row, index) => {
    const box = el("input", { type, name, value: row.value, data: { focus: `${element.action_id}.${index}` } });
    box.checked = chosen.includes(row.value);
    box.addEventListener("change", () => choose([...node.querySelectorAll("input:checked")].map((one) => one.value)));
    node.append(el("label", { class: "tick" }, box, span("", row.label, row.hint && span("hint", row.hint))));
  });
  return node;
}

function tickedOptions(element, place) {
  const rows = optionGroups(element).flatMap((group) => group.options);
  const chosen = place.value.selected_options.map((option) => option.value);
  return ticks(element, place, rows, chosen, (values) =>
    place.set({ selected_options: rows.filter((row) => values.includes(row.value)).map((row) => row.option) }),
  );
}

function radios(element, place) {
  const rows = element.options.map(optionRow);
  const chosen = place.value.selected_option ? [place.value.selected_option.value] : [];
  return ticks(
    element,
    place,
    rows,
    chosen,
    ([value]) => place.set({ selected_option: rows.find((row) => row.value === value).option }),
    "radio",
  );
}

function tickedEntities(noun) {
  const name = `selected_${noun}s`;
  return (element, place) =>
    ticks(element, place, ROWS[noun](), place.value[name], (values) => place.set({ [name]: values }));
}

function richTextInput(element, place) {
  const node = el("textarea", {
    ...place.aria,
    rows: 4,
    class: "input",
    placeholder: words(element.placeholder) || null,
  });
  const asRich = (text) =>
    text && { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }] };
  node.value = (place.value.rich_text_value?.elements ?? [])
    .flatMap((part) => part.elements ?? [])
    .map((one) => one.text ?? "")
    .join("");
  node.addEventListener("input", () => place.set({ rich_text_value: asRich(node.value) || null }, false));
  return node;
}

const FIELDS = {
  plain_text_input: textInput,
  email_text_input: typedInput("email"),
  url_text_input: typedInput("url"),
  number_input: typedInput("number", numberBounds),
  rich_text_input: richTextInput,
  datepicker: picker("date", "selected_date"),
  timepicker: picker("time", "selected_time"),
  datetimepicker: picker("datetime-local", "selected_date_time", toEpoch, fromEpoch),
  static_select: staticSelect,
  users_select: entitySelect("user"),
  channels_select: entitySelect("channel"),
  conversations_select: entitySelect("conversation"),
  radio_buttons: radios,
  checkboxes: tickedOptions,
  multi_static_select: tickedOptions,
  multi_users_select: tickedEntities("user"),
  multi_channels_select: tickedEntities("channel"),
  multi_conversations_select: tickedEntities("conversation"),
};
