// The page of the local workspace: puts the parts together and moves between people, places and threads.
// The address holds who, where and which thread, so a reload or a second tab is where it was.

import * as api from "./api.js";
import { byId } from "./dom.js";
import { createComposer } from "./composer.js";
import { onInnerLink } from "./links.js";
import { listen } from "./live.js";
import { recall, remember, readAddress, writeAddress } from "./memory.js";
import { onChannelChip } from "./mentions.js";
import { closeMenu } from "./menu.js";
import { startModal } from "./modal.js";
import { complain } from "./notice.js";
import { enterPlace, startPlace } from "./place.js";
import { startRail } from "./rail.js";
import { EVERYTHING, redrawAll, want } from "./refresh.js";
import { actors, channel, channelName, isApp, state } from "./state.js";
import { enterThread, leaveThread, startThread } from "./thread.js";
import { showWelcome, startWelcome } from "./welcome.js";

let composer = null;
let replies = null;

async function start() {
  const [workspace, people] = await Promise.all([api.workspace(), api.people()]);
  state.workspace = { ...state.workspace, ...workspace };
  state.people = new Map(people.people.map((one) => [one.id, one]));
  const address = readAddress();
  startRail({ choosePerson, goTo, greet: showWelcome });
  startPlace({ openThread: (ts) => openThread({ channel: state.place.id, ts }) });
  startThread({ close: closeThread, write: (words) => replies.write(words) });
  startModal();
  composer = createComposer(byId("composer"), { testid: "composer", where: writingPlace });
  replies = createComposer(byId("thread-composer"), { testid: "thread-composer", where: threadPlace });
  onChannelChip((id) => goTo({ kind: "channel", id }));
  onInnerLink(follow);
  await choosePerson(chosenPerson(address.as), { place: address.at, thread: address.thread });
  startWelcome({
    act: (name) => choosePerson(actors().find((one) => one.name === name).id),
    visit: (name) => goTo(placeNamed(name)),
    write: (words) => composer.write(words),
  });
  window.addEventListener("hashchange", () => location.reload());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && redrawAll());
}

function chosenPerson(name) {
  const known = (wanted) => actors().find((one) => one.name === wanted || one.id === wanted)?.id;
  return known(name) ?? known(recall("person")) ?? known("requester") ?? actors()[0].id;
}

// From here on the page sees what this person sees. Place and thread stay if that person can see them too.
async function choosePerson(id, { place = addressOf(state.place), thread = state.thread?.ts } = {}) {
  closeMenu();
  state.me = id;
  remember("person", id);
  forget();
  state.channels = (await api.channels(id)).channels;
  listen();
  const known = placeNamed(place);
  const fallback = placeNamed("ops") ?? placeNamed(state.channels[0]?.id) ?? direct();
  await goTo(known ?? fallback, { thread: known ? thread : null });
}

function forget() {
  state.epoch += 1;
  Object.assign(state, {
    messages: null,
    threadMessages: null,
    threadFacts: {},
    ephemerals: [],
    views: [],
    homeView: null,
    editing: null,
    thread: null,
  });
}

function placeNamed(name) {
  if (name === "home") return { kind: "home" };
  if (name === "direct") return direct();
  const found = state.channels.find((one) => one.name === name || one.id === name);
  return found ? { kind: "channel", id: found.id } : null;
}

function direct() {
  const known = state.channels.find((one) => one.is_im);
  return known
    ? { kind: "channel", id: known.id }
    : { kind: "channel", id: state.workspace.app.bot_user_id, unborn: true };
}

function addressOf(place) {
  if (!place || place.kind === "home") return place?.kind;
  return isApp(place.id) || channel(place.id)?.is_im ? "direct" : channelName(place.id);
}

async function goTo(place, { ts = null, thread = null } = {}) {
  state.epoch += 1;
  state.place = place;
  state.messages = null;
  state.editing = null;
  enterPlace(ts);
  if (thread) setThread({ channel: place.id, ts: thread }, null);
  else closeThread();
  redrawAll();
  if (place.kind === "home") await api.openHome(state.me).catch(complain);
  await want(...EVERYTHING);
}

function setThread(thread, ts) {
  enterThread(ts);
  state.thread = thread;
  note();
}

async function openThread(thread, ts = null) {
  state.epoch += 1;
  setThread(thread, ts);
  redrawAll();
  await want("thread", "messages");
  byId("thread-composer").querySelector("textarea").focus({ preventScroll: true });
}

function closeThread() {
  state.thread = null;
  state.threadMessages = null;
  leaveThread();
  note();
}

function note() {
  writeAddress({ as: state.people.get(state.me)?.name, at: addressOf(state.place), thread: state.thread?.ts });
}

// A link to a message here: show its place, and its thread if it is a reply.
function follow({ channel: id, ts, thread }) {
  const root = thread && thread !== ts ? thread : null;
  const here = state.place?.kind === "channel" && state.place.id === id;
  if (here && root) return openThread({ channel: id, ts: root }, ts);
  goTo({ kind: "channel", id }, { ts: root ?? ts }).then(() => root && openThread({ channel: id, ts: root }, ts));
}

function writingPlace() {
  if (state.place?.kind !== "channel") return null;
  const here = channel(state.place.id);
  if (here?.is_member === false) return null;
  const name = here?.is_im || isApp(state.place.id) ? state.workspace.app.name : `#${here?.name ?? ""}`;
  return { channel: state.place.id, label: `Message ${name}` };
}

const threadPlace = () =>
  state.thread && { channel: state.thread.channel, thread_ts: state.thread.ts, label: "Reply in this thread" };

start().catch((error) => {
  complain(error);
  byId("place-note").textContent = error.message;
});
