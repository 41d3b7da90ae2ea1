// plan and task_card: the step log of a run that is over. Folded like Slack's, opened by a click, each task with its state in words.

import { div, el, span } from "./dom.js";
import { link } from "./links.js";
import { richText } from "./richtext.js";

const STATES = {
  pending: ["○", "waiting"],
  in_progress: ["▸", "in progress"],
  complete: ["✓", "done"],
  error: ["!", "failed"],
};

export function taskCard(task) {
  const [mark, word] = STATES[task.status] ?? STATES.pending;
  return el(
    "li",
    { class: `task ${task.status ?? "pending"}` },
    el("span", { class: "task-mark", "aria-hidden": "true" }, mark),
    el(
      "div",
      { class: "task-body" },
      span("task-title", task.title, span("visually-hidden", `, ${word}`)),
      task.details && richText(task.details),
      task.output && div("task-output", richText(task.output)),
      task.sources &&
        div(
          "hint",
          task.sources.map((one) => [link(one.url, one.text), " "]),
        ),
    ),
  );
}

export function plan(block) {
  return el(
    "details",
    { class: "plan" },
    el("summary", {}, block.title),
    el("ol", { class: "tasks" }, (block.tasks ?? []).map(taskCard)),
  );
}
