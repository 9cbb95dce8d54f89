import type { CommandCase } from "../../../support/command-cases.js";
import type { WorkScene } from "./work-scene.js";

const aTask = /task_[0-9A-Z]{26}/;

/** The cases of `task …`. They run in this order, in one scene. */
export const taskCases: readonly CommandCase<WorkScene>[] = [
  {
    name: "task open",
    args: () => ["Fix the tests", "--line", "core/dev", "--description", "All of them.", "--assign", "me"],
    prints: /^opened task_[0-9A-Z]{26} at core\/dev, station work: Fix the tests$/,
    json: { id: aTask, title: "Fix the tests", state: "queued", description: "All of them." },
    wrong: ["one", "two"],
  },
  {
    name: "task list",
    args: () => ["--line", "dev", "--assignee", "me"],
    prints: /^TASK +STATE +STATION +ASSIGNEE +TITLE\ntask_\S+ +\w+ +dev\/work +ada +Fix the tests/,
    json: { items: [{ title: "Fix the tests" }, { title: "Fix the tests" }], hasMore: false },
    wrong: ["--state", "lost"],
  },
  {
    name: "task show",
    args: () => [],
    prints: /^task +task_\S+\ntitle +Fix the tests\nstate +\w+\n[\s\S]*\nDescription\nAll of them\.\n\nRuns\nRUN /,
    json: { id: aTask, runs: [{ station: "work" }] },
    wrong: ["one", "two"],
  },
];
