import { z } from "zod";
import { pollRef } from "../../actors/integration-work/polls/poll.messages.js";
import { findPoll, findPollToChange, type VisiblePoll } from "../../actors/integration-work/polls/poll.queries.js";
import { pollView } from "../../actors/integration-work/polls/poll.view.js";
import { pollSchema } from "../../actors/integrations/poll.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

export interface PollRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

const at = "/api/integrations/{integrationId}/poll";
const MAX_CURSOR_BYTES = 4_096;

const cursorBody = z.strictObject({
  cursor: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MAX_CURSOR_BYTES, `must be at most ${MAX_CURSOR_BYTES} bytes`)
    .describe("Where the next poll starts, at most 4,096 bytes; empty to start from the beginning."),
});

/** The routes for an integration's poll: read its status, poll now, set the cursor. */
export function pollRoutes(options: PollRoutesOptions): readonly Route[] {
  return [readRoute(options), nowRoute(options), cursorRoute(options)];
}

function readRoute({ runtime: { reading } }: PollRoutesOptions): Route {
  const seen: Subject<VisiblePoll> = {
    find: ({ caller, params }) => findPoll(reading, caller, params.integrationId ?? ""),
  };
  return subjectRoute(seen, {
    method: "GET",
    path: at,
    operation: "getPoll",
    summary: "Read the status of an integration's poll",
    description: "For people who may read the team's outcomes.",
    access: "any",
    answers: { 200: pollSchema },
    handle: (_request, { poll }) => ({ status: 200, body: pollView(poll) }),
  });
}

/** The subject of routes that change a poll: finds the poll if the caller may change it. */
function changed({ runtime: { reading } }: PollRoutesOptions): Subject<VisiblePoll> {
  return {
    find: ({ caller, params }) => findPollToChange(reading, caller, params.integrationId ?? ""),
    problems: ["forbidden"],
  };
}

function nowRoute(options: PollRoutesOptions): Route {
  const { runtime, sealer } = options;
  return subjectRoute(changed(options), {
    method: "POST",
    path: `${at}/now`,
    operation: "pollNow",
    summary: "Poll now",
    description: "Responds when the poll has started. Has no effect while a poll is running. Requires `configure`.",
    access: "any",
    body: z.strictObject({}),
    headers: { "idempotency-key": "optional" },
    answers: { 202: { body: pollSchema, headers: replayedHeader } },
    problems: ["conflict"],
    handle: async (request, { workspaceId, poll: { integrationId } }) => {
      const idempotency = findIdempotency(sealer, request, `poll.now ${integrationId}`);
      const result = granted(await runtime.ask(pollRef(workspaceId, integrationId), { type: "poll.now", idempotency }));
      return { status: 202, body: pollView(result.poll), headers: replayHeaders(result.replayed) };
    },
  });
}

function cursorRoute(options: PollRoutesOptions): Route {
  const { runtime } = options;
  return subjectRoute(changed(options), {
    method: "PUT",
    path: `${at}/cursor`,
    operation: "setPollCursor",
    summary: "Set the cursor of a poll",
    description:
      "The next poll starts from this cursor. A poll that is running is still recorded, but does not change " +
      "this cursor. Requires `configure`.",
    access: "any",
    body: cursorBody,
    answers: { 200: pollSchema },
    problems: ["conflict"],
    handle: async ({ body }, { workspaceId, poll: { integrationId } }) => {
      const message = { type: "poll.cursor", cursor: body.cursor } as const;
      const result = granted(await runtime.ask(pollRef(workspaceId, integrationId), message));
      return { status: 200, body: pollView(result.poll) };
    },
  });
}
