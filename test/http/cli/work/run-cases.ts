import type { CommandCase } from "../../../support/command-cases.js";
import type { WorkScene } from "./work-scene.js";

const aRun = /run_[0-9A-Z]{26}/;
const anApproval = /apr_[0-9A-Z]{26}/;
const asTask = async ({ ended }: WorkScene) => [await ended()];

export const runCases: readonly CommandCase<WorkScene>[] = [
  {
    name: "run show",
    args: asTask,
    prints: /^run +run_\S+\ntask +task_\S+\nstation +work\nstate +completed, with a question\n/,
    json: { id: aRun, station: "work", outcome: "completed", approvals: { length: 0 } },
    wrong: ["one", "two"],
  },
  {
    name: "run logs",
    args: asTask,
    prints: /^step 0\nstep 1$/,
    json: { items: [{ index: 0, text: "step 0" }, { index: 1 }] },
    wrong: ["one", "two"],
  },
  {
    name: "run diff",
    args: asTask,
    prints: /^diff --git a\/a\.txt b\/a\.txt\n[\s\S]*\n\+two$/,
    json: { runId: aRun, diff: /^diff --git/ },
    wrong: ["one", "two"],
  },
  {
    name: "run approve",
    args: async ({ askApproval }) => [(await askApproval()).approvalId],
    prints: /^apr_\S+: approved shell \{"command":"ls"\}$/,
    json: { id: anApproval, state: "approved", edited: null },
    wrong: ["one", "two"],
  },
  {
    name: "run edit",
    args: async ({ askApproval }) => ['{"command":"pwd"}', (await askApproval()).taskId],
    prints: /^apr_\S+: approved shell \{"command":"pwd"\}$/,
    json: { state: "approved", edited: { command: "pwd" } },
    wrong: ["not JSON"],
  },
  {
    name: "run dismiss",
    args: async ({ askApproval }) => [(await askApproval()).job.runId, "--reason", "No."],
    prints: /^apr_\S+: dismissed shell \{"command":"ls"\}$/,
    json: { state: "dismissed", note: "No." },
    wrong: ["one", "two"],
  },
  {
    name: "run message",
    args: async ({ begin }) => ["Use blue.", "--run", (await begin()).job.runId],
    prints: /^run_\S+: sent, as step 0$/,
    json: { index: 0, kind: "message", text: "Use blue.", from: /^person / },
    wrong: [],
  },
  {
    name: "run stop",
    args: async ({ begin }) => [(await begin()).taskId],
    prints: /^run_\S+: stopping$/,
    json: { id: /^task_/ },
    wrong: ["one", "two"],
  },
  {
    name: "inbox",
    args: async ({ ask }) => {
      await ask("Colours");
      return ["--workspace", "acme"];
    },
    prints: /^SINCE +TEAM +KIND +ID +TASK +WHAT\n[\s\S]*acme\/core +question +task_\S+ +Colours +Red or blue\?/,
    json: { items: [{ kind: "question" }], counts: { none: 0 }, hasMore: false },
    wrong: ["--assignee", "eve"],
  },
];
