// The middle of the page: a channel, the direct message with the app, or the app's Home.

import { byId } from "./dom.js";
import { patchBlocks } from "./blocks.js";
import * as api from "./api.js";
import { createForm } from "./form.js";
import { createLog } from "./log.js";
import { warningOf } from "./press.js";
import { ephemeralsIn, onRedraw } from "./refresh.js";
import { channel, channelName, isApp, state } from "./state.js";

let log = null;
let openThread = () => {};
let wanted = null; // a message to be shown as soon as it is there

export function startPlace(options) {
  openThread = options.openThread;
  log = createLog(byId("messages"), { empty: () => emptyWords() });
  onRedraw(draw);
}

export function enterPlace(ts = null) {
  wanted = ts;
  log.clear();
}

function draw() {
  if (!state.place) return;
  const home = state.place.kind === "home";
  byId("home").hidden = !home;
  byId("talk").hidden = home;
  byId("place-name").textContent = title();
  byId("place-note").textContent = note();
  document.title = `${title()} · ${state.workspace.team.name}`;
  if (home) return drawHome();
  byId("messages").setAttribute("aria-label", `Messages in ${title()}`);
  if (!state.messages) return;
  log.draw(rows());
  if (wanted && log.reveal(wanted)) wanted = null;
}

function title() {
  if (state.place.kind === "home") return `${state.workspace.app.name} · Home`;
  const here = channel(state.place.id);
  if (isApp(state.place.id) || here?.is_im) return state.workspace.app.name;
  return `#${channelName(state.place.id)}`;
}

function note() {
  const here = state.place.kind === "channel" && channel(state.place.id);
  if (!here || here.is_im) return "";
  const facts = [
    here.num_members && `${here.num_members} members`,
    here.is_private && "private",
    here.is_ext_shared && "shared with another workspace",
    here.is_member === false && "you are not a member",
    here.bot_is_member === false && `${state.workspace.app.name} is not in this channel`,
  ];
  return [here.topic?.value, ...facts].filter(Boolean).join(" · ");
}

function emptyWords() {
  if (state.place?.kind !== "channel") return "";
  return channel(state.place.id)?.is_member === false
    ? "Only members can read this channel."
    : "Nothing has been said here yet.";
}

// Messages and what only this person sees, in order of time.
function rows() {
  const view = { channel: state.place.id, inThread: false, openThread };
  const said = state.messages.map((message) => ({ message, view }));
  const own = ephemeralsIn(state.place.id, null).map((message) => ({
    message: { user: state.workspace.app.bot_user_id, ...message },
    view: { ...view, ephemeral: true },
  }));
  return [...said, ...own].sort((a, b) => Number(a.message.ts) - Number(b.message.ts));
}

const forms = new Map();

function drawHome() {
  const view = state.homeView;
  byId("home-empty").hidden = Boolean(view);
  byId("home-empty").textContent = `${state.workspace.app.name} has not drawn its Home yet.`;
  const key = `${state.me}|home|${view?.id ?? ""}`;
  if (!forms.has(key)) forms.set(key, createForm());
  const me = state.me;
  const surface = {
    key,
    form: forms.get(key),
    send: (action) => api.actInView(me, view.id, action),
    changed: () => showHomeWarning(surface),
  };
  patchBlocks(byId("home-blocks"), view?.blocks ?? [], surface);
  showHomeWarning(surface);
}

function showHomeWarning(surface) {
  byId("home-warning").textContent = warningOf(surface);
  byId("home-warning").hidden = !warningOf(surface);
}
