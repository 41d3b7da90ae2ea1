// The thread at the right: its first message, then the replies, and a box to reply in.

import { byId, el } from "./dom.js";
import { createLog } from "./log.js";
import { ephemeralsIn, onRedraw } from "./refresh.js";
import { channelName, channel, state } from "./state.js";

let log = null;
let wanted = null;
let cameFrom = null;
let write = () => {};

export function startThread({ close, write: writer }) {
  write = writer;
  log = createLog(byId("thread-messages"), { empty: () => "This thread is gone." });
  byId("thread-close").addEventListener("click", close);
  byId("thread").addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && close());
  onRedraw(draw);
}

export function enterThread(ts = null) {
  wanted = ts;
  cameFrom = document.activeElement;
  log.clear();
  state.threadMessages = null;
}

// The focus goes back to where the thread was opened from, if it was in the thread.
export function leaveThread() {
  const inside = byId("thread").contains(document.activeElement);
  byId("thread").hidden = true;
  document.body.classList.remove("thread-open");
  if (inside && cameFrom?.isConnected) cameFrom.focus({ preventScroll: true });
}

function draw() {
  byId("thread").hidden = !state.thread;
  document.body.classList.toggle("thread-open", Boolean(state.thread));
  if (!state.thread || !state.threadMessages) return;
  const where = channel(state.thread.channel)?.is_im
    ? channelName(state.thread.channel)
    : `#${channelName(state.thread.channel)}`;
  byId("thread-place").textContent = where;
  byId("thread-messages").setAttribute("aria-label", `Thread in ${where}`);
  log.draw(rows());
  drawFacts();
  if (wanted && log.reveal(wanted)) wanted = null;
}

// What the app says beside the messages: that it is at work, and what one might ask.
function drawFacts() {
  const { status, prompts } = state.threadFacts;
  byId("thread-status").hidden = !status;
  byId("thread-status").textContent = status ? `${state.workspace.app.name} ${status}` : "";
  byId("thread-prompts").replaceChildren(
    ...(prompts ?? []).map((one) =>
      el("button", { class: "button", on: { click: () => write(one.message) } }, one.title),
    ),
  );
}

function rows() {
  const { channel: id, ts } = state.thread;
  const view = { channel: id, inThread: true, openThread: () => {} };
  const root = state.messages?.find((message) => message.ts === ts && state.place?.id === id);
  const said =
    state.threadMessages.some((message) => message.ts === ts) || !root
      ? state.threadMessages
      : [root, ...state.threadMessages];
  const own = ephemeralsIn(id, ts).map((message) => ({
    message: { user: state.workspace.app.bot_user_id, ...message },
    view: { ...view, ephemeral: true },
  }));
  return [...said.map((message) => ({ message, view })), ...own].sort(
    (a, b) => Number(a.message.ts) - Number(b.message.ts),
  );
}
