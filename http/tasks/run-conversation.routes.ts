import { z } from "zod";
import { writeJson } from "../../actors/exact-json.js";
import { inputsSchema } from "../../actors/runners/call-inputs.js";
import { MAX_MESSAGE_CHARACTERS, MAX_REASON_CHARACTERS } from "../../actors/runners/protocol.js";
import { approvalSchema } from "../../actors/runs/approval.js";
import { approvalView } from "../../actors/runs/approval.view.js";
import { type AnswerApproval, runRef, type SendMessage } from "../../actors/runs/run.messages.js";
import { findRunToWorkOn, findVisibleRun, listApprovals, type VisibleRun } from "../../actors/runs/run.queries.js";
import { stepSchema, stepView } from "../../actors/runs/run.view.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPage } from "../../actors/tables/list-page.js";
import { toolCallRef } from "../../actors/tool-calls/tool-call.messages.js";
import { findCallOfApproval } from "../../actors/tool-calls/tool-call.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import { optionalIdempotencyKey } from "../wire/headers.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

const speech = z.strictObject({
  text: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_MESSAGE_CHARACTERS, `must be at most ${MAX_MESSAGE_CHARACTERS} characters`)
    .describe(`The message to the agent, 1 to ${MAX_MESSAGE_CHARACTERS} characters.`),
});

const dismissal = z.strictObject({
  reason: z
    .string()
    .max(MAX_REASON_CHARACTERS, `must be at most ${MAX_REASON_CHARACTERS} characters`)
    .nullable()
    .default(null)
    .describe("Why the call is denied, for the agent; at most 2,000 characters, null for no reason."),
});

interface RunConversationRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes for messages to runs, and for the approvals that runs wait for. */
export function runConversationRoutes(options: RunConversationRoutesOptions): readonly Route[] {
  const { runtime } = options;
  const { reading } = runtime;
  const visibleRun: Subject<VisibleRun> = {
    find: ({ caller, params }) => findVisibleRun(reading, caller, params.runId ?? ""),
  };
  return [
    messageRoute(runtime),
    subjectRoute(visibleRun, {
      method: "GET",
      path: "/api/runs/{runId}/approvals",
      summary: "List a run's requests for approval, newest first",
      description:
        "Includes permissions that the harness asks for, and tool calls of integrations. The person in " +
        "`approver` may answer an open approval. While `approver` is null, nobody may answer; assign the task " +
        "first.",
      access: "any",
      query: z.strictObject({ before: idCursor("apr"), limit: pageSize() }),
      answers: {
        200: z.strictObject({
          items: z.array(approvalSchema).describe("The approvals of this page, newest first."),
          next: nextPage("before"),
        }),
      },
      handle: ({ query }, found) => {
        const { rows, next } = readListPage(query, (page) => listApprovals(reading, found, page), byId);
        return { status: 200, body: { items: rows.map(approvalView), next } };
      },
    }),
    answerRoute(options, {
      name: "approve",
      summary: "Approve a call as requested",
      description:
        "Only for the task's assignee, or the person whose own rule requires the approval. Works once: if the " +
        "approval was answered or its run has ended, the service responds with 409.",
      body: z.strictObject({}),
      toAnswer: () => ({ verdict: "approved", edited: null, note: null }),
    }),
    answerRoute(options, {
      name: "edit",
      summary: "Approve a call with other inputs",
      description:
        "Only for the task's assignee, or the person whose own rule requires the approval. The service " +
        "validates the inputs of a tool call like the agent's inputs (422; the approval stays open), and runs " +
        "the hooks on `tool.using` with them before the call.",
      body: z.strictObject({ inputs: inputsSchema.describe("The inputs to call the tool with instead.") }),
      toAnswer: ({ inputs }) => ({ verdict: "approved", edited: writeJson(inputs), note: null }),
    }),
    answerRoute(options, {
      name: "dismiss",
      summary: "Deny a call",
      description:
        "Only for the task's assignee, or the person whose own rule requires the approval. The agent receives " +
        "the reason and continues without the call. If nobody answers a tool call, the service dismisses it " +
        "after 24 hours, or after 3 days of waiting in its run.",
      body: dismissal,
      toAnswer: ({ reason }) => ({ verdict: "dismissed", edited: null, note: reason === "" ? null : reason }),
    }),
  ];
}

function messageRoute(runtime: Runtime): Route {
  return subjectRoute(runToWorkOn(runtime), {
    method: "POST",
    path: "/api/runs/{runId}/messages",
    summary: "Send a message to an active run, as its task's assignee",
    description:
      "The message becomes a step of the run. A message that does not reach the agent before the run's end becomes a " +
      "note for the next run.",
    access: "person",
    body: speech,
    headers: { "idempotency-key": "optional" },
    answers: {
      201: { body: stepSchema, headers: replayedHeader },
    },
    handle: async ({ caller, body, header }, { workspaceId, run }) => {
      const key = granted(optionalIdempotencyKey(header("idempotency-key")));
      const message: SendMessage = { type: "run.speak", by: caller.userId, text: body.text, key };
      const { step, replayed } = granted(await runtime.ask(runRef(workspaceId, run.id), message));
      return { status: 201, body: stepView(step), headers: replayHeaders(replayed) };
    },
  });
}

interface AnswerRoute<Body extends z.ZodType> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly body: Body;
  toAnswer(body: z.output<Body>): Pick<AnswerApproval, "verdict" | "edited" | "note">;
}

/** The route for an answer to an approval that an agent waits for. */
function answerRoute<Body extends z.ZodType>(
  { runtime, sealer }: RunConversationRoutesOptions,
  { name, summary, description, body, toAnswer }: AnswerRoute<Body>,
): Route {
  return subjectRoute(runToWorkOn(runtime), {
    method: "POST",
    path: `/api/runs/{runId}/approvals/{approvalId}/${name}`,
    summary,
    description,
    access: "person",
    body,
    headers: { "idempotency-key": "optional" },
    answers: { 200: { body: approvalSchema, headers: replayedHeader } },
    handle: async (request, found) => {
      const { workspaceId, run } = found;
      const { caller, params, body: given } = request;
      const { approvalId = "" } = params;
      const idempotency = findIdempotency(sealer, request, `approval.${name} ${run.id} ${approvalId}`);
      const answer = { by: caller.userId, approvalId, ...toAnswer(given), idempotency };
      const callId = findCallOfApproval(runtime.reading, found, approvalId);
      const { approval, replayed } = granted(
        callId === undefined
          ? await runtime.ask(runRef(workspaceId, run.id), { type: "approval.answer", ...answer })
          : await runtime.ask(toolCallRef(workspaceId, callId), { type: "call.answer", runId: run.id, ...answer }),
      );
      return { status: 200, body: approvalView(approval), headers: replayHeaders(replayed) };
    },
  });
}

function runToWorkOn({ reading }: Runtime): Subject<VisibleRun> {
  return { find: ({ caller, params }) => findRunToWorkOn(reading, caller, params.runId ?? "") };
}
