// What a person has filled in, kept apart from the DOM so that a redraw loses nothing. Values have the shape of
// Slack's state.values. A value stays as long as block_id and action_id stay, as in Slack.

export function createForm() {
  const values = new Map();
  const key = (block, action) => `${block}\u0000${action}`;
  return {
    get: (block, action) => values.get(key(block, action)),
    set: (block, action, value) => values.set(key(block, action), value),
    has: (block, action) => values.has(key(block, action)),
  };
}

// state.values for exactly the controls that these blocks show.
export function collect(form, blocks) {
  const values = {};
  for (const [block, element] of controls(blocks)) {
    if (!form.has(block.block_id, element.action_id)) continue;
    (values[block.block_id] ??= {})[element.action_id] = form.get(block.block_id, element.action_id);
  }
  return values;
}

function* controls(blocks) {
  for (const block of blocks ?? []) {
    if (block.type === "input") yield [block, block.element];
    if (block.accessory?.action_id) yield [block, block.accessory];
    if (block.type === "actions") for (const element of block.elements) yield [block, element];
  }
}

const CONTENT = [
  "value",
  "selected_option",
  "selected_options",
  "selected_user",
  "selected_users",
  "selected_channel",
  "selected_channels",
  "selected_conversation",
  "selected_conversations",
  "selected_date",
  "selected_time",
  "selected_date_time",
  "rich_text_value",
];

export function isEmpty(value) {
  const content = CONTENT.map((name) => value?.[name]).find((one) => one !== undefined && one !== null);
  return content === undefined || content === "" || (Array.isArray(content) && content.length === 0);
}

// The faults that Slack's own clients find before anything is sent: {block_id: sentence}.
export function faults(form, blocks) {
  const found = {};
  for (const block of blocks ?? []) {
    if (block.type !== "input") continue;
    const value = form.get(block.block_id, block.element.action_id);
    const fault = isEmpty(value)
      ? !block.optional && "Please complete this required field."
      : outOfBounds(block.element, value);
    if (fault) found[block.block_id] = fault;
  }
  return found;
}

function outOfBounds(element, value) {
  const text = typeof value.value === "string" ? value.value : "";
  if (element.min_length && text.length < element.min_length) return `At least ${element.min_length} characters.`;
  if (element.max_length && text.length > element.max_length) return `At most ${element.max_length} characters.`;
  if (element.type !== "number_input") return "";
  const number = Number(text);
  if (Number.isNaN(number)) return "A number is needed here.";
  if (!element.is_decimal_allowed && !Number.isInteger(number)) return "A whole number is needed here.";
  if (element.min_value !== undefined && number < Number(element.min_value)) return `At least ${element.min_value}.`;
  if (element.max_value !== undefined && number > Number(element.max_value)) return `At most ${element.max_value}.`;
  return "";
}
