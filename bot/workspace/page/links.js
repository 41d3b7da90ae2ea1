// Links that are safe to follow. Only http, https and mailto become links; an address of this workspace's own
// messages or people is opened in the page instead of in a new tab.

import { el } from "./dom.js";
import { state } from "./state.js";

let goto = () => {};
export const onInnerLink = (listener) => (goto = listener);

export function safeUrl(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

// {channel, ts, thread} for a link to a message here, {person} for one to a profile, otherwise null.
export function innerTarget(url) {
  const own = url.host === location.host || url.host === `${state.workspace.team.domain}.slack.com`;
  if (!own) return null;
  const found = url.pathname.match(/^\/archives\/([A-Z0-9_]+)(?:\/p(\d{7,}))?$/i);
  if (found)
    return {
      channel: found[1],
      ts: found[2] && `${found[2].slice(0, -6)}.${found[2].slice(-6)}`,
      thread: url.searchParams.get("thread_ts"),
    };
  const profile = url.pathname.match(/^\/team\/([A-Z0-9_]+)$/i);
  return profile ? { person: profile[1] } : null;
}

export function link(address, label) {
  const url = safeUrl(address);
  const shown = label === undefined || label === "" ? address : label;
  if (!url) return el("span", { class: "dead-link", title: "Not a web address, so not a link" }, shown);
  const inner = innerTarget(url);
  if (inner?.person) return el("span", { class: "profile", title: inner.person }, shown);
  if (inner) return el("a", { href: url.href, on: { click: (event) => follow(event, inner) } }, shown);
  const title = label && label !== address ? url.href : null;
  const anchor = el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", title }, shown);
  return disguised(shown, url) ? el("span", {}, anchor, ` (really ${url.host})`) : anchor;
}

// A label that looks like an address, but of another host than the link's.
function disguised(label, url) {
  const claimed = /^(?:https?:\/\/)?([\w-]+(?:\.[\w-]+)+)(?:[/:?#]|$)/i.exec(label.trim());
  return Boolean(claimed && url.host && claimed[1].toLowerCase() !== url.hostname.toLowerCase());
}

function follow(event, target) {
  event.preventDefault();
  goto(target);
}

// What a button with an address does besides telling the app.
export function openUrl(address) {
  const url = safeUrl(address);
  if (!url) return;
  const inner = innerTarget(url);
  if (inner && !inner.person) goto(inner);
  else if (!inner) window.open(url.href, "_blank", "noopener,noreferrer");
}
