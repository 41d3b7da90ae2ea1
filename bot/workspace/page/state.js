// What the page knows, in one object, and the names of people, channels and groups in it.
// The server's rows are the truth: everything here is a copy that may be fetched again at any time.

export const state = {
  workspace: { team: {}, app: {}, commands: [], shortcuts: [], home: false, usergroups: [] },
  people: new Map(),
  me: null, // the person this page acts as
  channels: [],
  messages: [], // of the place, oldest first
  threadMessages: [], // of the open thread, its root first
  threadFacts: {}, // what the app says about it: {status?, prompts?}
  ephemerals: [],
  views: [], // open modals of this person, the top one last
  homeView: null,
  dismissed: new Set(), // ephemerals that were sent away
  place: null, // {kind: "channel", id, unborn?} or {kind: "home"}
  thread: null, // {channel, ts}
  editing: null, // {channel, ts, text}: an own message being changed
  epoch: 0, // grows whenever person or place changes; late answers of an older epoch are dropped
};

export const person = (id) => state.people.get(id);
export const channel = (id) => state.channels.find((one) => one.id === id);
export const isApp = (id) =>
  Boolean(id) && (id === state.workspace.app.bot_user_id || id === state.workspace.app.bot_id);

export function personName(id) {
  if (isApp(id)) return state.workspace.app.name;
  return person(id)?.name ?? id;
}

export function channelName(id) {
  const known = channel(id);
  if (!known) return id;
  return known.is_im ? state.workspace.app.name : known.name;
}

export function groupName(id) {
  const group = (state.workspace.usergroups ?? []).find((one) => one.id === id);
  return group ? (group.handle ?? group.name) : id;
}

// The people somebody may act as: no bots, nobody whose account is off.
export function actors() {
  return [...state.people.values()].filter((one) => !one.is_bot && !one.deleted);
}

// Apps may post under a name of their own; people are always called what they are called elsewhere.
function nameOf(message, id) {
  const known = person(id);
  return known && !known.is_bot ? known.name : (message.username ?? personName(id));
}

export function author(message) {
  const id = message.user ?? message.bot_id;
  const app =
    isApp(message.user) ||
    isApp(message.bot_id) ||
    Boolean(message.app_id && message.app_id === state.workspace.app.app_id);
  return { id, app, bot: app || Boolean(message.bot_id) || Boolean(person(id)?.is_bot), name: nameOf(message, id) };
}

// A word on why a person can do less than others; empty for ordinary members.
export function standing(one) {
  if (!one) return "";
  if (one.is_restricted || one.is_ultra_restricted) return "guest";
  if (one.team_id && one.team_id !== state.workspace.team.id) return "from another workspace";
  return one.is_admin ? "admin" : "";
}
