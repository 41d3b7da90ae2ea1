// The open line to the workspace. It brings hints ("something changed there"), never content; each hint becomes a wish
// to fetch. After a broken line everything is fetched again, since hints may have been missed.

import * as api from "./api.js";
import { showConnection } from "./notice.js";
import { EVERYTHING, want } from "./refresh.js";
import { state } from "./state.js";

const RETRY_MS = 2000;

let source = null;
let retry = 0;

export function listen() {
  clearTimeout(retry);
  source?.close();
  const mine = (source = api.stream(state.me));
  let broken = false;
  mine.addEventListener("open", () => {
    showConnection(true);
    if (broken) want(...EVERYTHING);
    broken = false;
  });
  mine.addEventListener("message", (event) => mine === source && take(JSON.parse(event.data)));
  mine.addEventListener("error", () => {
    if (mine !== source) return;
    broken = true;
    showConnection(false);
    if (mine.readyState === EventSource.CLOSED) retry = setTimeout(listenAgain, RETRY_MS);
  });
}

function listenAgain() {
  listen();
  want(...EVERYTHING);
}

function take(hint) {
  if (hint.kind === "view") return want("views");
  if (hint.kind === "home") return want("home");
  if (hint.kind === "ephemeral") return want("ephemerals");
  if (hint.kind === "channel") return want("channels");
  const here = !hint.channel || (state.place?.kind === "channel" && state.place.id === hint.channel);
  const inThread = state.thread && (!hint.channel || hint.channel === state.thread.channel);
  return want("channels", ...(here ? ["messages"] : []), ...(inThread ? ["thread"] : []));
}
