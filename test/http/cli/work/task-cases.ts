import type { CommandCase } from "../../../support/command-cases.js";
import type { WorkScene } from "./work-scene.js";

const aTask = /task_[0-9A-Z]{26}/;

/** The cases of `task …`. They run in this order, in one scene. */
export const taskCases: readonly CommandCase<WorkScene>[] = [
  {
    name: "task open",
    args: () => ["Fix the tests", "--line", "core/dev", "--description", "All of them.", "--assign", "me"],
    prints: /^task_[0-9A-Z]{26}: opened at core\/dev, station work: Fix the tests$/,
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
  {
    name: "task note",
    args: () => ["-"],
    input: "The flaky test is known\n",
    prints: /^added a note: Fix the tests \(task_\w{26}\)$/,
    json: { notes: [{ text: "The flaky test is known" }, { text: "The flaky test is known" }] },
    wrong: [],
  },
  {
    name: "task assign",
    args: () => ["ada@example.com"],
    prints: /^assigned to ada: Fix the tests \(task_\w{26}\)$/,
    json: { assignee: /^usr_/ },
    wrong: [],
  },
  {
    name: "task answer",
    args: async ({ ask }) => ["The second one", "--task", await ask()],
    prints: /^answered: Do it \(task_\w{26}\)$/,
    json: { state: "queued", asks: null },
    wrong: [],
  },
  {
    name: "task stop",
    args: async ({ begin }) => [(await begin()).taskId],
    prints: /^stopping the run: Do it \(task_\w{26}\)$/,
    json: { id: aTask },
    wrong: ["one", "two"],
  },
  {
    name: "task retry",
    args: async ({ ask }) => [await ask()],
    prints: /^station work runs again: Do it \(task_\w{26}\)$/,
    json: { state: "queued", station: "work" },
    wrong: ["one", "two"],
  },
  {
    name: "task move",
    args: () => ["review"],
    prints: /^moved to review: Do it \(task_\w{26}\)$/,
    json: { state: "queued", station: "review" },
    wrong: [],
  },
  {
    name: "task close",
    args: async ({ open }) => {
      await open();
      return [];
    },
    prints: /^closed: Do it \(task_\w{26}\)$/,
    json: { state: "closed" },
    wrong: ["one", "two"],
  },
];
