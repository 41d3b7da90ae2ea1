// Fetching again, and drawing again. Hints and actions say what they want fresh; wishes that come together are fetched
// together, one round at a time, and then every part of the page draws itself from the state.

import * as api from "./api.js";
import { complain } from "./notice.js";
import { state } from "./state.js";

const GATHER_MS = 40; // a burst of hints within this time makes one round

const wishes = new Set();
const parts = [];
let running = null;

export const onRedraw = (draw) => parts.push(draw);

export function redrawAll() {
  for (const draw of parts) draw();
}

const LOADS = {
  channels: async () => ({ channels: (await api.channels(state.me)).channels }),
  ephemerals: async () => ({ ephemerals: (await api.ephemerals(state.me)).messages }),
  views: async () => ({ views: (await api.views(state.me)).views }),
  home: async () => ({ homeView: (await api.home(state.me)).view }),
  messages: async () =>
    state.place?.kind === "channel" && !state.place.unborn
      ? { messages: (await api.messages(state.me, state.place.id)).messages }
      : { messages: [] },
  thread: async () =>
    state.thread
      ? threadNews(await api.messages(state.me, state.thread.channel, state.thread.ts))
      : { threadMessages: [], threadFacts: {} },
};

const threadNews = (answer) => ({ threadMessages: answer.messages, threadFacts: answer.thread ?? {} });

export const EVERYTHING = Object.keys(LOADS);

// Asks for these parts of the state to be fetched soon; resolves when they have been drawn.
export function want(...names) {
  for (const name of names) wishes.add(name);
  running ??= new Promise((done) => setTimeout(() => rounds().finally(done), GATHER_MS));
  return running;
}

async function rounds() {
  try {
    while (wishes.size) {
      const names = [...wishes];
      wishes.clear();
      await Promise.all(names.map(load));
      redrawAll();
    }
  } finally {
    running = null;
  }
}

async function load(name) {
  const epoch = state.epoch;
  try {
    const news = await LOADS[name]();
    if (epoch === state.epoch) Object.assign(state, news);
    else wishes.add(name);
  } catch (error) {
    if (epoch === state.epoch) complain(error);
  }
}

export function dismissEphemeral(channel, ts) {
  state.dismissed.add(`${state.me} ${channel} ${ts}`);
  redrawAll();
  api.dismiss(state.me, ts).catch(complain);
}

// What only this person sees, in one channel or one of its threads.
export function ephemeralsIn(channel, threadTs) {
  return state.ephemerals.filter(
    (one) =>
      one.channel === channel &&
      (one.thread_ts ?? null) === threadTs &&
      !state.dismissed.has(`${state.me} ${channel} ${one.ts}`),
  );
}
