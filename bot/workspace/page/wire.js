// A message's stored text, back to what a person would have typed; used when a message is changed. The other way round
// is the workspace's work: it makes mentions and links of what was typed, as Slack does.

import { channelName, groupName, personName } from "./state.js";

const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export function asTyped(text) {
  return unescape(text.replace(/<([^<>]+)>/g, (whole, body) => mark(body) ?? whole));
}

function mark(body) {
  const [head, label] = body.split("|");
  if (head.startsWith("@")) return `@${personName(head.slice(1))}`;
  if (head.startsWith("#")) return `#${label || channelName(head.slice(1))}`;
  if (head.startsWith("!subteam^")) return label || `@${groupName(head.slice(9))}`;
  if (head.startsWith("!date^")) return label;
  return head.startsWith("!") ? `@${head.slice(1)}` : head;
}
