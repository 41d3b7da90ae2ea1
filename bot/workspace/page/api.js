// The people's interface of the workspace, same origin only; the cookie was set when the page was served.
// A call that fails throws an Error whose message can be shown as it is.

const SENTENCES = {
  unreachable: "The workspace cannot be reached. Is it still running?",
  channel_not_found: "This channel is not there, or this person cannot see it.",
  not_in_channel: "This person is not a member of the channel.",
  message_not_found: "That message is gone.",
  no_text: "There is nothing to send.",
  msg_too_long: "That is too long for one message.",
  already_reacted: "That reaction is there already.",
  invalid_thread_ts: "That thread is gone.",
  thread_not_found: "That thread is gone.",
  unknown_command: "That is not a command of this workspace. Type / to see which there are.",
  account_inactive: "This account is switched off.",
  view_not_found: "This window is closed already.",
  not_found: "That is gone.",
  "status 403": "This page is not signed in. Open the address that the workspace printed when it started.",
};

export class ServerError extends Error {
  constructor(code, status, detail) {
    super(SENTENCES[code] ?? `The workspace answered: ${detail ?? code}`);
    this.code = code;
    this.status = status;
  }
}

async function call(method, path, body) {
  const options = { method, credentials: "same-origin", headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ServerError("unreachable", 0);
  }
  const data = await response.json().catch(() => null);
  if (!response.ok || data === null || data.ok === false)
    throw new ServerError(data?.error ?? `status ${response.status}`, response.status, data?.detail);
  return data;
}

const as = (user) => `/people/${encodeURIComponent(user)}`;
const message = (user, ts) => `${as(user)}/messages/${encodeURIComponent(ts)}`;
const view = (user, id) => `${as(user)}/views/${encodeURIComponent(id)}`;

export const workspace = () => call("GET", "/workspace");
export const people = () => call("GET", "/people");
export const channels = (user) => call("GET", `${as(user)}/channels`);
export const ephemerals = (user) => call("GET", `${as(user)}/ephemerals`);
export const views = (user) => call("GET", `${as(user)}/views`);
export const home = (user) => call("GET", `${as(user)}/home`);
export const openHome = (user) => call("POST", `${as(user)}/home`, {});
export const stream = (user) => new EventSource(`${as(user)}/stream`);

export function messages(user, id, threadTs) {
  const query = threadTs ? `?thread_ts=${encodeURIComponent(threadTs)}` : "";
  return call("GET", `${as(user)}/channels/${encodeURIComponent(id)}/messages${query}`);
}

export const say = (user, body) => call("POST", `${as(user)}/messages`, body);
export const edit = (user, ts, body) => call("POST", `${message(user, ts)}/edit`, body);
export const remove = (user, ts, body) => call("POST", `${message(user, ts)}/delete`, body);
export const react = (user, ts, body) => call("POST", `${message(user, ts)}/reactions`, body);
export const command = (user, body) => call("POST", `${as(user)}/commands`, body);
export const act = (user, body) => call("POST", `${as(user)}/actions`, body);
export const shortcut = (user, body) => call("POST", `${as(user)}/shortcuts`, body);
export const actInView = (user, id, body) => call("POST", `${view(user, id)}/actions`, body);
export const dismiss = (user, ts) => call("DELETE", `${as(user)}/ephemerals/${encodeURIComponent(ts)}`);
export const submitView = (user, id, body) => call("POST", `${view(user, id)}/submit`, body);
export const closeView = (user, id, body = {}) => call("POST", `${view(user, id)}/close`, body);
