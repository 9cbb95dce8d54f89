import type { Command } from "commander";
import type { CommandTree } from "../command/define-command.js";
import type { ApprovalOption, DismissOptions } from "./answer-call.js";
import type { DiffOptions } from "./run-diff.js";
import type { LogOptions } from "./run-logs.js";
import type { RunOption } from "./run-message.js";

/** The help for the argument `[run]`. */
const RUN =
  "[run] takes a run id, a unique prefix of it, or a task id (the task's last run).\n" +
  "Default: the last run of the task that a command named last, or the run of it that a command named last.";

/** Adds the commands `run …`. */
export function addRunCommands(runs: CommandTree): void {
  addReads(runs);
  addAnswers(runs);
  runs.add<RunOption, [string]>({
    usage: "message <text>",
    summary: "send a message to the running agent of a task assigned to you",
    details: "Use - to read the text from standard input.",
    example: 'signalbox run message "Leave the old tests as they are"',
    declare: (command) =>
      command.option("--run <run>", "run id, a unique prefix of it, or a task id (default: as for signalbox run show)"),
    load: async () => (await import("./run-message.js")).sendMessage,
  });
  runs.add<object, [string | undefined]>({
    usage: "stop [run]",
    summary: "stop a run of a task that is assigned to you",
    details: RUN,
    example: "signalbox run stop",
    load: async () => (await import("./run-message.js")).stopRun,
  });
}

function addReads(runs: CommandTree): void {
  runs.add<object, [string | undefined]>({
    usage: "show [run]",
    summary: "show a run, its state and its open approvals",
    details: RUN,
    example: "signalbox run show",
    load: async () => (await import("./run-show.js")).showRun,
  });
  runs.add<LogOptions, [string | undefined]>({
    usage: "logs [run]",
    summary: "show the steps of a run",
    details: RUN,
    example: "signalbox run logs --follow",
    declare: (command) => command.option("-f, --follow", "show steps as they happen, until the run ends"),
    load: async () => (await import("./run-logs.js")).showLogs,
  });
  runs.add<DiffOptions, [string | undefined]>({
    usage: "diff [run]",
    summary: "show the changes of a run, or apply them to this checkout",
    details:
      `${RUN}\n--apply runs git apply --3way, which also stages the changes. It refuses when files that the diff changes\n` +
      "have uncommitted changes. After conflicts it exits with 1, and the files have conflict markers.",
    example: "signalbox run diff --apply",
    declare: (command) =>
      command
        .option("--repository <name>", "only the changes in this repository (owner/name)")
        .option("--apply", "apply the changes to the git checkout of this folder")
        .option("--branch <name>", "apply the changes on a new branch, from the current commit"),
    load: async () => (await import("./run-diff.js")).showDiff,
  });
}

function addAnswers(runs: CommandTree): void {
  const addApproval = (command: Command): Command =>
    command.option("--approval <approval>", "approval id or a prefix of it, if the run has several open approvals");
  const details =
    "[run] takes an approval id (apr_…), or a run with only one open approval, by the names and the default of\n" +
    "signalbox run show.\n" +
    "signalbox inbox and signalbox run show list approvals.";
  runs.add<ApprovalOption, [string | undefined]>({
    usage: "approve [run]",
    summary: "approve a tool call",
    details,
    example: "signalbox run approve",
    declare: addApproval,
    load: async () => (await import("./answer-call.js")).approveCall,
  });
  runs.add<ApprovalOption, [string, string | undefined]>({
    usage: "edit <inputs> [run]",
    summary: "approve a tool call with other inputs",
    details: `The inputs are a JSON object. Use - to read them from standard input.\n${details}`,
    example: `signalbox run edit '{"command":"npm test"}'`,
    declare: addApproval,
    load: async () => (await import("./answer-call.js")).editCall,
  });
  runs.add<DismissOptions, [string | undefined]>({
    usage: "dismiss [run]",
    summary: "deny a tool call",
    details,
    example: 'signalbox run dismiss --reason "Not on this branch"',
    declare: (command) => addApproval(command).option("--reason <text>", "reason to show to the agent"),
    load: async () => (await import("./answer-call.js")).dismissCall,
  });
}
