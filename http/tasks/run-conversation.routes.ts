import { z } from "zod";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { inputsSchema } from "../../actors/runners/call-inputs.js";
import { MAX_MESSAGE_CHARACTERS, MAX_REASON_CHARACTERS } from "../../actors/runners/protocol.js";
import type { ApprovalRow } from "../../actors/runs/approval.js";
import { listApprovals } from "../../actors/runs/approval.table.js";
import { approvalSchema, approvalView } from "../../actors/runs/approval.view.js";
import type { AnswerApproval, MessageSent, SendMessage } from "../../actors/runs/run.messages.js";
import { stepSchema, stepView } from "../../actors/runs/run.view.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, type RouteRequest, route } from "../route.js";
import { idempotencyKey } from "../transport/headers.js";
import { findRun, isOnTaskTeam, notOnTeam } from "./task.queries.js";

const speech = z.strictObject({
  text: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_MESSAGE_CHARACTERS, `must be at most ${MAX_MESSAGE_CHARACTERS} characters`),
});

const dismissal = z.strictObject({
  reason: z
    .string()
    .max(MAX_REASON_CHARACTERS, `must be at most ${MAX_REASON_CHARACTERS} characters`)
    .nullable()
    .default(null),
});

/** What is said between a run and the assignee of its task. */
export function runConversationRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/runs/{runId}/messages",
      summary: "Say something to a run that an agent works on (its task's assignee)",
      access: "person",
      body: speech,
      headers: { "idempotency-key": "optional" },
      answers: {
        201: {
          body: stepSchema,
          headers: { "idempotent-replayed": "`true` when it was said before, under this key." },
        },
      },
      handle: (request) => sendMessage(runtime, request),
    }),
    route({
      method: "GET",
      path: "/api/runs/{runId}/approvals",
      summary: "The calls that a run's agent wanted leave for, newest first",
      access: "any",
      query: z.strictObject({ before: cursor.optional(), limit: pageSize() }),
      answers: { 200: z.strictObject({ items: z.array(approvalSchema) }) },
      handle: ({ caller, params, query }) => {
        const found = findRun(runtime, caller, params.runId ?? "");
        if (isRefusal(found)) return found;
        const { workspaceId, run } = found;
        const items = listApprovals(runtime.reading, { workspaceId, runId: run.id }, query).map(approvalView);
        return { status: 200, body: { items } };
      },
    }),
    answerRoute(runtime, {
      name: "approve",
      summary: "Give leave for a call as it was asked (the task's assignee)",
      body: z.strictObject({}),
      answerOf: () => ({ verdict: "approved", edited: null, note: null }),
    }),
    answerRoute(runtime, {
      name: "edit",
      summary: "Give leave for a call with other inputs (the task's assignee)",
      body: z.strictObject({ inputs: inputsSchema }),
      answerOf: ({ inputs }) => ({ verdict: "approved", edited: JSON.stringify(inputs), note: null }),
    }),
    answerRoute(runtime, {
      name: "dismiss",
      summary: "Give no leave for a call (the task's assignee)",
      body: dismissal,
      answerOf: ({ reason }) => ({ verdict: "dismissed", edited: null, note: reason === "" ? null : reason }),
    }),
  ];
}

interface AnswerRoute<Body extends z.ZodType> {
  readonly name: string;
  readonly summary: string;
  readonly body: Body;
  answerOf(body: z.output<Body>): Pick<AnswerApproval, "verdict" | "edited" | "note">;
}

/** An answer of the assignee to what an agent wants leave for. */
function answerRoute<Body extends z.ZodType>(
  runtime: Runtime,
  { name, summary, body, answerOf }: AnswerRoute<Body>,
): Route {
  return route({
    method: "POST",
    path: `/api/runs/{runId}/approvals/{approvalId}/${name}`,
    summary,
    access: "person",
    body,
    answers: { 200: approvalSchema },
    handle: async ({ caller, params, body: given }) => {
      const found = findWork(runtime, caller, params.runId ?? "");
      if (isRefusal(found)) return found;
      const { workspaceId, run } = found;
      const { approvalId = "" } = params;
      const message: AnswerApproval = { type: "approval.answer", by: caller.userId, approvalId, ...answerOf(given) };
      const answer = (await runtime.ask(address(workspaceId, "run", run.id), message)) as ApprovalRow | Refusal;
      return isRefusal(answer) ? answer : { status: 200, body: approvalView(answer) };
    },
  });
}

/** A run that the caller, a person on its team, works with. */
function findWork(runtime: Runtime, caller: RouteRequest<"person", unknown, unknown>["caller"], runId: string) {
  const found = findRun(runtime, caller, runId);
  if (isRefusal(found)) return found;
  return isOnTaskTeam(runtime, caller, found.workspaceId, found.run.teamId) ? found : notOnTeam();
}

async function sendMessage(
  runtime: Runtime,
  { caller, params, body, header }: RouteRequest<"person", z.output<typeof speech>, unknown>,
): Promise<Answer | Refusal> {
  const found = findWork(runtime, caller, params.runId ?? "");
  if (isRefusal(found)) return found;
  const { workspaceId, run } = found;
  const given = header("idempotency-key");
  const key = given === undefined || given === "" ? null : idempotencyKey(given);
  if (isRefusal(key)) return key;
  const message: SendMessage = { type: "run.speak", by: caller.userId, text: body.text, key };
  const answer = (await runtime.ask(address(workspaceId, "run", run.id), message)) as MessageSent | Refusal;
  if (isRefusal(answer)) return answer;
  const headers: Record<string, string> = answer.replayed ? { "idempotent-replayed": "true" } : {};
  return { status: 201, body: stepView(answer.step), headers };
}
