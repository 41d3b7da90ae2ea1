// Chips for people, groups, channels and broadcasts inside text. They show names; they ping nobody here.

import { el, span } from "./dom.js";
import { isApp, channel, channelName, groupName, personName, state } from "./state.js";

let openChannel = () => {};
export const onChannelChip = (listener) => (openChannel = listener);

export function personChip(id, label) {
  const mine = id === state.me;
  const name = state.people.has(id) || isApp(id) ? personName(id) : (label ?? id);
  return el("span", { class: mine ? "mention mine" : "mention" }, `@${name}`);
}

export function groupChip(id, label) {
  const name = label ?? groupName(id);
  return span("mention", name.startsWith("@") ? name : `@${name}`);
}

export function broadcastChip(name, label) {
  return span("mention", label ?? `@${name}`);
}

export function channelChip(id, label) {
  const name = channel(id) ? channelName(id) : label || "a channel out of sight";
  if (!channel(id)) return span("mention", `#${name}`);
  return el("button", { class: "mention channel-link", on: { click: () => openChannel(id) } }, `#${name}`);
}
