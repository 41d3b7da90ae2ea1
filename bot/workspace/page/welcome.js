// The greeting of a first visit: three things to try. It can be sent away, and called back from the rail.

import { byId, div, el, span } from "./dom.js";
import { recall, remember } from "./memory.js";
import { actors, state } from "./state.js";

const ASK = "read notes/today.md, then summarize it, then post the summary to #general";

let moves = {};

// `moves`: {act(personName), visit(channelName), write(text)}
export function startWelcome(options) {
  moves = options;
  if (recall("greeted") !== "yes") showWelcome();
}

export function showWelcome() {
  const box = byId("welcome");
  box.replaceChildren(
    div(
      "welcome-head",
      el("h2", {}, "Three things to try"),
      el("button", { class: "tool", "aria-label": "Dismiss the greeting", on: { click: dismiss } }, "×"),
    ),
    el(
      "p",
      {},
      `This is a workspace on your own machine; ${state.workspace.app.name} is in it as it would be in Slack. You can act as anyone here.`,
    ),
    el("ol", { class: "welcome-steps" }, firstSteps()),
  );
  box.hidden = false;
}

function dismiss() {
  byId("welcome").hidden = true;
  remember("greeted", "yes");
  document.querySelector("#talk textarea")?.focus();
}

function firstSteps() {
  const plan = state.workspace.commands.find((one) => one.command === "/plan") ?? state.workspace.commands[0];
  const ask = `${plan?.command ?? `@${state.workspace.app.name}`} ${ASK}`;
  const asker = actors().find((one) => one.name === "requester") ?? actors()[0];
  const second = actors().find((one) => one.name === "approver") ?? actors()[1];
  return [
    el(
      "li",
      {},
      span("", "As ", el("strong", {}, asker?.name), " in #ops, ask for something and press Enter: ", el("code", {}, ask)),
      step("Write it for me", () => start(asker, ask)),
    ),
    second &&
      el(
        "li",
        {},
        span("", "Switch to ", el("strong", {}, second.name), ", open “1 reply” below the card, press Approve there."),
        step("Switch for me", () => moves.act(second.name)),
      ),
    el(
      "li",
      {},
      span("", "Look at ", el("strong", {}, "#audit"), ": who asked, who said yes, what ran."),
      step("Look at #audit", () => moves.visit("audit")),
    ),
  ];
}

async function start(asker, ask) {
  await moves.act(asker.name);
  await moves.visit("ops");
  moves.write(ask);
}

const step = (words, run) => el("button", { class: "button", on: { click: run } }, words);
