import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { toLines } from "../command/printable.js";
import { toFields } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";
import { describeCall, listOpenApprovals } from "./approvals.js";
import { nameRun } from "./current-task.js";
import { describeRunState } from "./run-state.js";

/** Shows a run, its open approvals, and the output of what failed. */
export async function showRun(context: Context, _options: CommonOptions, name: string | undefined): Promise<void> {
  const { terminal } = context;
  const run = await nameRun(context, name);
  const approvals = run.state === "ended" ? [] : await listOpenApprovals(context, run.id);
  const output = run.failure?.output ?? (run.check?.passed === false ? run.check.output : "");
  context.show({ ...run, approvals }, () => [
    ...toFields(terminal, listFields(terminal, run)),
    ...approvals.map(
      (approval) => `${terminal.paint("yellow", "waits for")} ${approval.id}: ${describeCall(approval)}`,
    ),
    ...(output === "" ? [] : ["", terminal.paint("bold", "Output"), toLines(output).trimEnd()]),
  ]);
}

function listFields(terminal: Terminal, run: Schema<"Run">): (readonly [string, string | number | null])[] {
  const { ending, check, spent, pullRequests = [], unheard } = run;
  const said = ending?.kind === "ask" ? ending.question : (ending?.note ?? "");
  const pushed = pullRequests.map(
    ({ repository, pullRequestId, refused }) => `${repository}: ${pullRequestId ?? refused}`,
  );
  const optional: (readonly [string, string | number | null])[] = [
    ["ended", toTimeText(terminal, run.endedAt)],
    ["spent", spent === null ? null : `${spent.amount} ${spent.currency}`],
    ["says", said === "" ? null : said],
    ["check", check === null ? null : check.passed ? "passed" : `failed (${check.exitCode ?? "no exit code"})`],
    ["not yet read", unheard === 0 ? null : `${unheard} messages`],
    ["pull requests", pushed.length === 0 ? null : pushed.join(", ")],
    ["repositories", run.checkouts.length === 0 ? null : run.checkouts.map(({ repository }) => repository).join(", ")],
  ];
  return [
    ["run", run.id],
    ["task", run.taskId === "" ? null : run.taskId],
    ["station", run.station],
    ["state", describeRunState(run)],
    ["runner", run.runnerId],
    ["queued", toTimeText(terminal, run.queuedAt)],
    ["started", toTimeText(terminal, run.startedAt)],
    ["steps", run.steps],
    ...optional.filter(([, value]) => value !== null),
  ];
}
