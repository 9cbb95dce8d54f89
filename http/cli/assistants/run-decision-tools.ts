import { z } from "zod";
import type { Schema } from "../../client/entry.js";
import { CommandError } from "../command/exit-codes.js";
import { approvalInput, runInput } from "./run-tools.js";
import { commonInputs, defineTool, type ToolCall } from "./tool.js";
import { approvalView, toApprovalView } from "./views.js";

const { team, idempotencyKey } = commonInputs;

const approve = defineTool({
  name: "run_approve",
  description: "Approve a tool call of an agent, which then happens. Read all its inputs with approval_show first.",
  effect: { kind: "decides", decision: "approve" },
  input: z.strictObject({ approval: approvalInput, idempotencyKey }),
  output: approvalView,
  run: async (call, { approval }) => {
    const path = await toPath(call, approval);
    return toAnswered(
      await call.context.client.post("/api/runs/{runId}/approvals/{approvalId}/approve", {
        path,
        body: {},
        idempotencyKey: call.idempotencyKey,
      }),
    );
  },
});

const edit = defineTool({
  name: "run_edit",
  description: "Approve a tool call of an agent with other inputs.",
  effect: { kind: "decides", decision: "edit" },
  input: z.strictObject({
    approval: approvalInput,
    inputs: z.record(z.string(), z.unknown()).describe("All inputs of the call"),
    idempotencyKey,
  }),
  output: approvalView,
  run: async (call, { approval, inputs }) => {
    refuseRounded(inputs);
    const path = await toPath(call, approval);
    return toAnswered(
      await call.context.client.post("/api/runs/{runId}/approvals/{approvalId}/edit", {
        path,
        body: { inputs },
        idempotencyKey: call.idempotencyKey,
      }),
    );
  },
});

const dismiss = defineTool({
  name: "run_dismiss",
  description: "Deny a tool call of an agent. The agent continues without it.",
  effect: { kind: "decides", decision: "dismiss" },
  input: z.strictObject({
    approval: approvalInput,
    reason: z.string().min(1).optional().describe("Reason to show to the agent"),
    idempotencyKey,
  }),
  output: approvalView,
  run: async (call, { approval, reason = null }) => {
    const path = await toPath(call, approval);
    return toAnswered(
      await call.context.client.post("/api/runs/{runId}/approvals/{approvalId}/dismiss", {
        path,
        body: { reason },
        idempotencyKey: call.idempotencyKey,
      }),
    );
  },
});

const message = defineTool({
  name: "run_message",
  description: "Send a message to the running agent of a task that is assigned to the person.",
  effect: { kind: "decides", decision: "message" },
  input: z.strictObject({ run: runInput, text: z.string().min(1), team, idempotencyKey }),
  output: z.object({ runId: z.string(), step: z.number() }),
  run: async ({ context, idempotencyKey }, { run, text }) => {
    const path = { runId: await context.names.run(run) };
    const { index } = await context.client.post("/api/runs/{runId}/messages", { path, body: { text }, idempotencyKey });
    return { says: `Sent to ${path.runId}, as step ${index}.`, data: { runId: path.runId, step: index } };
  },
});

/**
 * Throws a {@link CommandError} if the value contains an integer beyond 2^53, which may have lost digits when the
 * message was parsed.
 */
function refuseRounded(value: unknown): void {
  if (typeof value === "object" && value !== null) for (const each of Object.values(value)) refuseRounded(each);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return;
  throw new CommandError(`the inputs have a whole number beyond 2^53 (${value}), which loses digits here`);
}

/** Returns the path parameters of an approval. Throws a {@link CommandError} if `id` is not the id of an approval. */
async function toPath({ context }: ToolCall, id: string) {
  const { approval } = await context.client.get("/api/inbox/{id}", { path: { id } });
  if (approval !== null) return { runId: approval.runId, approvalId: id };
  throw new CommandError(`${id} is not an approval: inbox lists them`);
}

function toAnswered(approval: Schema<"ApprovalOutput">) {
  return { says: `${approval.id} of ${approval.runId} is ${approval.state}.`, data: toApprovalView(approval) };
}

/**
 * The tools that make a decision about a run. Each tool is offered only if the person allows its `decision`
 * (`--allow`).
 */
export const runDecisionTools = [message, approve, edit, dismiss];
