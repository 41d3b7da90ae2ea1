// The left rail: the workspace, who "I" am, the app's Home, the channels with their unread marks, the app's direct message.

import { byId, el, keepFocus, span, sync } from "./dom.js";
import { recall, remember } from "./memory.js";
import { onRedraw } from "./refresh.js";
import { actors, person, standing, state } from "./state.js";

let go = () => {};
const buttons = new Map();

export function startRail({ choosePerson, goTo, greet }) {
  go = goTo;
  byId("team").textContent = state.workspace.team.name;
  const chooser = byId("person");
  chooser.replaceChildren(...actors().map((one) => el("option", { value: one.id, title: one.real_name }, one.name)));
  chooser.addEventListener("change", () => choosePerson(chooser.value));
  byId("greet").addEventListener("click", greet);
  byId("rail-toggle").addEventListener("click", () => openRail(!document.body.classList.contains("rail-open")));
  byId("rail").addEventListener("keydown", (event) => event.key === "Escape" && openRail(false));
  byId("shade").addEventListener("click", () => openRail(false));
  onRedraw(draw);
}

export function openRail(open) {
  document.body.classList.toggle("rail-open", open);
  byId("rail-toggle").setAttribute("aria-expanded", String(open));
  if (open) byId("person").focus();
}

function draw() {
  const one = person(state.me);
  byId("person").value = state.me;
  byId("standing").textContent = [one?.real_name !== one?.name && one?.real_name, standing(one)]
    .filter(Boolean)
    .join(" · ");
  const channels = state.channels.filter((each) => !each.is_im).sort((a, b) => a.name.localeCompare(b.name));
  const direct = state.channels.find((each) => each.is_im) ?? {
    id: state.workspace.app.bot_user_id,
    is_im: true,
    unborn: true,
  };
  const home = state.workspace.home && item("home", { kind: "home" }, "⌂", "Home", {}, "home-open");
  keepFocus(byId("places"), () =>
    sync(
      byId("places"),
      [
        heading("App"),
        home,
        channelItem(direct, "@", state.workspace.app.name),
        heading("Channels"),
        ...channels.map((each) => channelItem(each, sign(each), each.name)),
      ].filter(Boolean),
    ),
  );
}

const headings = new Map();

function heading(words) {
  if (!headings.has(words)) headings.set(words, el("h2", { class: "rail-heading" }, words));
  return headings.get(words);
}

const sign = (channel) => (channel.is_private ? "🔒" : channel.is_ext_shared ? "⇄" : "#");

function channelItem(channel, mark, name) {
  const unread = isUnread(channel);
  const place = { kind: "channel", id: channel.id, unborn: channel.unborn };
  const node = item(
    channel.is_im ? "direct" : channel.id,
    place,
    mark,
    name,
    { unread },
    `channel-${name.toLowerCase().replaceAll(" ", "-")}`,
  );
  node.classList.toggle("away", channel.is_member === false);
  const extra = [
    unread && "unread",
    channel.is_private && !channel.is_im && "private",
    channel.is_ext_shared && "shared with another workspace",
  ].filter(Boolean);
  node.setAttribute(
    "aria-label",
    [channel.is_im ? `Direct message with ${name}` : `Channel ${name}`, ...extra].join(", "),
  );
  return node;
}

function item(key, place, mark, name, { unread = false }, testid) {
  const node =
    buttons.get(key) ??
    el(
      "button",
      { class: "place" },
      el("span", { class: "place-mark", "aria-hidden": "true" }),
      span("place-name"),
      el("span", { class: "dot", "aria-hidden": "true" }),
    );
  buttons.set(key, node);
  node.dataset.testid = testid;
  node.dataset.focus = `place ${key}`;
  node.children[0].textContent = mark;
  node.children[1].textContent = name;
  node.classList.toggle("unread", unread);
  const here = state.place?.kind === place.kind && (place.kind === "home" || state.place.id === place.id);
  if (here) node.setAttribute("aria-current", "page");
  else node.removeAttribute("aria-current");
  node.onclick = () => {
    openRail(false);
    go(place);
  };
  return node;
}

const readKey = (channel) => `read.${state.workspace.team.id}.${state.me}.${channel.id}`;

// What stood there when this person first looked counts as read.
function isUnread(channel) {
  const last = channel.last_ts ?? "0";
  const read = recall(readKey(channel));
  if (read === null) remember(readKey(channel), last);
  const here =
    state.place?.kind === "channel" && state.place.id === channel.id && document.visibilityState === "visible";
  if (here && read !== last) remember(readKey(channel), last);
  return !here && read !== null && Number(last) > Number(read);
}
