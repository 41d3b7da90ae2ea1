// What can be done with a message: react, reply in its thread, message shortcuts, and for one's own: change or delete it.

import * as api from "./api.js";
import { el } from "./dom.js";
import { EMOJI, REACTIONS } from "./emoji.js";
import { dismissEphemeral, redrawAll } from "./refresh.js";
import { openMenu } from "./menu.js";
import { complain, notify } from "./notice.js";
import { unanswered } from "./press.js";
import { state } from "./state.js";
import { asTyped } from "./wire.js";

export function toolbar(holder, message, view) {
  holder.setAttribute("aria-label", "Message actions");
  if (view.ephemeral) return [tool("Dismiss message", "×", () => dismissEphemeral(view.channel, message.ts))];
  const reply =
    !view.inThread &&
    tool("Reply in thread", "💬", () => view.openThread(message.ts), {
      testid: message.reply_count > 0 ? "reply" : "thread-open",
    });
  const react = menuTool("Add reaction", "☺", (anchor) =>
    openMenu(
      anchor,
      "Reactions",
      REACTIONS.map((name) => ({
        label: EMOJI[name],
        hint: name,
        run: () => toggleReaction(message, view.channel, name),
      })),
    ),
  );
  const items = choices(message, view);
  const more =
    items.length > 0 &&
    menuTool("More for this message", "⋯", (anchor) => openMenu(anchor, "For this message", choices(message, view)), {
      testid: "message-menu",
    });
  return [react, reply, more];
}

function tool(label, sign, run, data = {}) {
  return el(
    "button",
    {
      class: "tool",
      "aria-label": label,
      title: label,
      tabindex: "-1",
      data: { focus: label, ...data },
      on: { click: run },
    },
    sign,
  );
}

function menuTool(label, sign, open, data) {
  const node = tool(label, sign, () => open(node), data);
  node.setAttribute("aria-haspopup", "menu");
  return node;
}

function choices(message, view) {
  const items = state.workspace.shortcuts
    .filter((one) => one.type === "message")
    .map((one) => ({
      label: one.name,
      hint: state.workspace.app.name,
      run: () => runShortcut(one, view.channel, message.ts),
    }));
  if (message.user !== state.me) return items;
  return [
    ...items,
    { label: "Edit message", run: () => startEditing(message, view) },
    {
      label: "Delete message",
      danger: true,
      run: () => api.remove(state.me, message.ts, { channel: view.channel }).catch(complain),
    },
  ];
}

export async function runShortcut(one, channel, ts) {
  try {
    const answer = await api.shortcut(state.me, { callback_id: one.callback_id, channel, message_ts: ts });
    if (unanswered(answer)) notify(unanswered(answer), "error");
  } catch (error) {
    complain(error);
  }
}

function startEditing(message, view) {
  state.editing = { channel: view.channel, ts: message.ts, inThread: view.inThread, text: asTyped(message.text ?? "") };
  redrawAll();
}

export async function toggleReaction(message, channel, name) {
  const mine = message.reactions?.some((one) => one.name === name && one.users?.includes(state.me));
  try {
    await api.react(state.me, message.ts, mine ? { channel, name, remove: true } : { channel, name });
  } catch (error) {
    complain(error);
  }
}
