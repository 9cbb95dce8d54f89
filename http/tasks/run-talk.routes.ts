import { z } from "zod";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { MAX_SAID_CHARACTERS } from "../../actors/runners/protocol.js";
import { stepSchema, stepShown } from "../../actors/tasks/run.view.js";
import type { SpeakToRun, SpokenToRun } from "../../actors/tasks/run-messages.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idempotencyKey } from "../headers.js";
import { type Answer, type Route, type RouteRequest, route } from "../route.js";
import { findRun, notOnTeam, worksOn } from "./found-work.js";

const speech = z.strictObject({
  text: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_SAID_CHARACTERS, `must be at most ${MAX_SAID_CHARACTERS} characters`),
});

/** What is said between a run and the assignee of its task. */
export function runTalkRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
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
      handle: (request) => speakTo(runtime, request),
    }),
  ];
}

async function speakTo(
  runtime: Runtime,
  { caller, params, body, header }: RouteRequest<"person", z.output<typeof speech>, unknown>,
): Promise<Answer | Refusal> {
  const found = findRun(runtime, caller, params.runId ?? "");
  if (isRefusal(found)) return found;
  const { workspaceId, run } = found;
  if (!worksOn(runtime, caller, workspaceId, run.teamId)) return notOnTeam();
  const given = header("idempotency-key");
  const key = given === undefined || given === "" ? null : idempotencyKey(given);
  if (isRefusal(key)) return key;
  const message: SpeakToRun = { type: "run.speak", by: caller.userId, text: body.text, key };
  const answer = (await runtime.ask(address(workspaceId, "run", run.id), message)) as SpokenToRun | Refusal;
  if (isRefusal(answer)) return answer;
  const headers: Record<string, string> = answer.replayed ? { "idempotent-replayed": "true" } : {};
  return { status: 201, body: stepShown(answer.step), headers };
}
