import { z } from "zod";
import type { Schema } from "../../client/entry.js";
import { CommandError } from "../command/exit-codes.js";
import { People } from "../work/people.js";
import { describeStep } from "../work/step-lines.js";
import { commonInputs, defineTool, type ToolCall } from "./tool.js";
import { cut, describePart, takePart } from "./tool-output.js";
import {
  approvalView,
  describeApproval,
  MAX_TEXT,
  runView,
  toApprovalView,
  toRunView,
  toVisibleJson,
  untrusted,
} from "./views.js";

const { team } = commonInputs;

export const runInput = z
  .string()
  .max(100)
  .describe("Run id, a unique prefix of it, or a task id for the task's last run");
/**
 * The input that names an approval. It accepts only a whole id, because a prefix could match a different approval than
 * the assistant has read.
 */
export const approvalInput = z
  .string()
  .regex(/^apr_[0-9A-Z]{26}$/, "must be an approval id, such as inbox and run_show list them")
  .describe("Approval id (apr_…)");
const fromInput = z.int().min(0).default(0).describe("Where to begin: the value of next in the result before");

/** Maximum number of characters of a diff or of inputs in one result. */
const MAX_PART = 20_000;
/** Maximum number of characters of all steps in one result. */
const MAX_STEPS_TEXT = 20_000;
const APPROVALS_SHOWN = 20;

const runDetail = runView.extend({
  taskId: z.string().nullable(),
  checkPassed: z.boolean().nullable().describe("Whether the check of the station passed; null without a check"),
  repositories: z.array(z.string()).describe("The repositories that the run may change"),
  approvals: z.array(approvalView).describe("The open approvals"),
  moreApprovals: z.boolean(),
  untrusted: untrusted({
    summary: z.string(),
    says: z.string().describe("The agent's question, or its note at the end"),
    output: z.string().describe("The output of what failed"),
  }),
});

const showRun = defineTool({
  name: "run_show",
  description: "Read a run of an agent: its state, outcome, open approvals, and the output of what failed.",
  effect: { kind: "reads" },
  input: z.strictObject({ run: runInput, team }),
  output: runDetail,
  run: async ({ context }, { run: name }) => {
    const path = { runId: await context.names.run(name) };
    const run = await context.client.get("/api/runs/{runId}", { path, query: { diff: "false" } });
    const { items, next } = await context.client.get("/api/runs/{runId}/approvals", { path, query: { limit: 200 } });
    const open = items.filter(({ state }) => state === "open");
    const { ending, failure, check } = run;
    const view = toRunView(run);
    const how = `signalbox run show ${run.id} in a terminal shows it`;
    const said = ending?.kind === "ask" ? ending.question : (ending?.note ?? "");
    const data = {
      ...view,
      taskId: run.taskId === "" ? null : run.taskId,
      checkPassed: check?.passed ?? null,
      repositories: run.checkouts.map(({ repository }) => repository),
      approvals: open.slice(0, APPROVALS_SHOWN).map(toApprovalView),
      moreApprovals: open.length > APPROVALS_SHOWN || next !== null,
      untrusted: {
        ...view.untrusted,
        says: cut(said, MAX_TEXT, how),
        output: cut(failure?.output ?? (check?.passed === false ? check.output : ""), MAX_TEXT, how),
      },
    };
    return {
      says: `${describeFacts(data)}${data.moreApprovals ? "\nMore approvals are in the inbox." : ""}`,
      texts: [
        { of: "where it is, or how it ended", text: data.untrusted.summary },
        { of: "what the agent says", text: data.untrusted.says },
        { of: "output of what failed", text: data.untrusted.output },
        { of: "open approvals", text: data.approvals.map(describeApproval).join("\n") },
      ],
      data,
    };
  },
});

function describeFacts({ id, taskId, station, state, outcome, steps, spent, checkPassed }: z.output<typeof runDetail>) {
  const facts = [
    `${id} at ${station}: ${state}${outcome === null ? "" : `, ${outcome}`}, ${steps} steps`,
    taskId === null ? null : `task ${taskId}`,
    spent === null ? null : `spent ${spent}`,
    checkPassed === null ? null : `the check ${checkPassed ? "passed" : "failed"}`,
  ];
  return `${facts.filter((fact) => fact !== null).join("; ")}.`;
}

const partOutput = {
  from: z.number(),
  total: z.number(),
  next: z.number().nullable().describe("The from of the next part"),
};

const showDiff = defineTool({
  name: "run_diff",
  description:
    "Read the changes of a run as a diff, in parts. To apply them, the person runs signalbox run diff --apply in a checkout.",
  effect: { kind: "reads" },
  input: z.strictObject({
    run: runInput,
    repository: z.string().min(1).max(200).optional().describe("Only the changes in this repository (owner/name)"),
    from: fromInput,
    team,
  }),
  output: z.object({ runId: z.string(), ...partOutput, untrusted: untrusted({ diff: z.string() }) }),
  run: async ({ context }, { run: name, repository, from }) => {
    const path = { runId: await context.names.run(name) };
    const { state } = await context.client.get("/api/runs/{runId}", { path, query: { diff: "false" } });
    if (state !== "ended") throw new CommandError(`the run ${path.runId} has not ended: its changes are not known yet`);
    const query = repository === undefined ? {} : { repository };
    const diff = await context.client.get("/api/runs/{runId}/diff", { path, query });
    const part = takePart(diff, from, MAX_PART);
    const { text, total, next } = part;
    return {
      says:
        diff === ""
          ? `The run ${path.runId} changed nothing.`
          : `The changes of ${path.runId}${describePart(part, "run_diff")}.`,
      texts: [{ of: "diff", text }],
      data: { runId: path.runId, from, total, next, untrusted: { diff: text } },
    };
  },
});

const stepView = z.object({ index: z.number(), untrusted: untrusted({ text: z.string() }) });

const showLogs = defineTool({
  name: "run_logs",
  description:
    "Read the steps of a run in order, in parts: messages, tool calls, outputs and thoughts of the agent, and messages to it.",
  effect: { kind: "reads" },
  input: z.strictObject({
    run: runInput,
    after: z.int().min(0).optional().describe("Only steps after the step with this number"),
    limit: z.int().min(1).max(100).default(50),
    team,
  }),
  output: z.object({
    runId: z.string(),
    total: z.number().describe("Number of steps of the run"),
    steps: z.array(stepView),
    next: z.number().nullable().describe("The after of the next part; null if there are no more steps yet"),
  }),
  run: async ({ context }, { run: name, after, limit }) => {
    const path = { runId: await context.names.run(name) };
    const run = await context.client.get("/api/runs/{runId}", { path, query: { diff: "false" } });
    const query = { limit, ...(after === undefined ? {} : { after }) };
    const page = await context.client.get("/api/runs/{runId}/steps", { path, query });
    const steps = await toStepViews({ context }, run, page.items);
    const last = steps.at(-1)?.index;
    const next = last !== undefined && (page.next !== null || steps.length < page.items.length) ? last : null;
    const which = last === undefined ? "No steps" : `Steps ${steps[0]?.index} to ${last}`;
    return {
      says: `${which} of ${run.steps} steps of ${run.id} (${run.state})${next === null ? "" : `; call run_logs with after: ${next} for the rest`}.`,
      texts: [{ of: "steps", text: steps.map(({ index, untrusted: { text } }) => `#${index} ${text}`).join("\n") }],
      data: { runId: run.id, total: run.steps, steps, next },
    };
  },
});

/** Converts as many steps as fit into one result, and at least the first one. Shortens a step that is too long. */
async function toStepViews(
  { context }: Pick<ToolCall, "context">,
  { id, taskId }: Schema<"Run">,
  steps: readonly Schema<"Step">[],
): Promise<z.output<typeof stepView>[]> {
  const teamId = taskId === "" ? "" : (await context.client.get("/api/tasks/{taskId}", { path: { taskId } })).teamId;
  const people = await People.ofTeam(context, teamId);
  const terminal = { ...context.terminal, paint: (_colour: string, text: string) => text };
  const taken: z.output<typeof stepView>[] = [];
  let room = MAX_STEPS_TEXT;
  for (const step of steps) {
    const lines = describeStep({ terminal }, step, { people, isShort: false });
    const text = cut(lines.join("\n"), MAX_TEXT, `signalbox run logs ${id} in a terminal shows it`);
    room -= text.length;
    if (room < 0 && taken.length > 0) break;
    taken.push({ index: step.index, untrusted: { text } });
  }
  return taken;
}

const showApproval = defineTool({
  name: "approval_show",
  description: "Read a tool call that an agent wants approved, with all its inputs, in parts.",
  effect: { kind: "reads" },
  input: z.strictObject({ approval: approvalInput, from: fromInput }),
  output: approvalView.extend({ ...partOutput }),
  run: async ({ context }, { approval: id, from }) => {
    const { approval } = await context.client.get("/api/inbox/{id}", { path: { id } });
    if (approval === null) throw new CommandError(`${id} is not an approval: inbox lists them`);
    const part = takePart(toVisibleJson(approval.inputs), from, MAX_PART);
    const { text, total, next } = part;
    const view = toApprovalView(approval);
    const { tool, reason } = view.untrusted;
    return {
      says: `${id} of ${view.runId}: ${view.state}, asked ${view.askedAt}, approver ${view.approver ?? "nobody"}. Inputs${describePart(part, "approval_show")} below.`,
      texts: [
        { of: "tool", text: tool },
        { of: "inputs", text },
        { of: "reason", text: reason },
      ],
      data: { ...view, from, total, next, untrusted: { tool, reason, inputs: text } },
    };
  },
});

export const runTools = [showRun, showDiff, showLogs, showApproval];
