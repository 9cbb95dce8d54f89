import { z } from "zod";
import type { VisibleTeam } from "../../actors/access/members/team.queries.js";
import { replayCheckRef } from "../../actors/checks/check.messages.js";
import { checksOfSet, findReplayCheck, findStoredCheck, type VisibleCheck } from "../../actors/checks/check.queries.js";
import { listedCheckView, viewInSteps } from "../../actors/checks/check.view.js";
import { listedCheckSchema, type ReplayCheckView, replayCheckSchema } from "../../actors/checks/check-schemas.js";
import { findTeam } from "../../actors/replays/sets/replay-set.queries.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idempotencyKey } from "../wire/headers.js";
import { runInSteps } from "../wire/in-steps.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { cursor, nextPage, pageSize } from "../wire/paging.js";
import { granted, Refused } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import { setSubject } from "../wire/replay-subjects.js";
import type { Route, RouteRequest } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { checkBody, parseCheck } from "./check-body.js";

interface CheckRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/**
 * The routes for replay checks of planned changes. Callers who may plan can start checks. Callers who may read the
 * team's outcomes can read checks.
 */
export function checkRoutes(options: CheckRoutesOptions): readonly Route[] {
  const { runtime } = options;
  return [startRoute(options), readRoute(runtime), listRoute(runtime)];
}

function startRoute({ runtime, sealer }: CheckRoutesOptions): Route {
  const planningTeam: Subject<VisibleTeam> = {
    find: ({ caller, params: { teamId = "" } }) => findTeam(runtime.reading, caller, teamId, "plan"),
    problems: ["forbidden"],
  };
  return subjectRoute(planningTeam, {
    method: "POST",
    path: "/api/teams/{teamId}/replay-checks",
    isCheckedFirst: true,
    summary: "Check a planned change of a station",
    description:
      "Replays the set that guards the station's changes with the planned block and with the live config, and " +
      "returns a verdict based on the live line's `replayCheck`. The block's `check`, `judge`, `diffs` and " +
      "`runners` keep their live values. The ceiling applies to each replay: this replay, and a replay of the " +
      "live config if the set has none with as many copies. If the same change has a check that is running, " +
      "passed or failed against the same live config with the same runs, terms and repeats, the service returns " +
      "that check (200, `reused`). A change that does not affect runs is refused with `nothing-to-replay`. A set " +
      "keeps at most 200 checks: starting another removes the oldest ended check.",
    access: "any",
    body: z.unknown(),
    takes: checkBody,
    example: {
      lineId: "line_01",
      stationKey: "work",
      repeats: 3,
      station: { key: "work", name: "Work", kind: "work", prompt: "Fix the problem, then run the tests." },
      reference: { commit: "3f9c2ab", pullRequest: 17 },
    },
    headers: { "idempotency-key": "required" },
    answers: { 200: replayCheckSchema, 201: { body: replayCheckSchema, headers: replayedHeader } },
    problems: ["conflict", "nothing-to-replay", "invalid"],
    handle: async (request, { workspaceId, teamId }) => {
      granted(idempotencyKey(request.header("idempotency-key")));
      const asked = granted(parseCheck(request.body));
      const { caller, client } = request;
      const idempotency = findIdempotency(sealer, request, `replay-check.start ${teamId}`);
      const to = replayCheckRef(workspaceId, runtime.newId("check"));
      const message = { type: "check.start", caller, client, teamId, ...asked, idempotency } as const;
      const { checkId, how } = granted(await runtime.ask(to, message));
      const reused = how === "reused";
      const body = await viewNow(runtime, request, { workspaceId, checkId, reused });
      return { status: reused ? 200 : 201, body, headers: replayHeaders(how === "replayed") };
    },
  });
}

function readRoute(runtime: Runtime): Route {
  const readCheck: Subject<VisibleCheck> = {
    find: ({ caller, params: { teamId = "", checkId = "" } }) =>
      findReplayCheck(runtime.reading, caller, { teamId, checkId }),
  };
  return subjectRoute(readCheck, {
    method: "GET",
    path: "/api/teams/{teamId}/replay-checks/{checkId}",
    summary: "Read a replay check, with its verdict",
    description: "A check remains after its replays and its set are removed, with their results.",
    access: "any",
    answers: { 200: replayCheckSchema },
    handle: async (request, { workspaceId, check: { id: checkId } }) => ({
      status: 200,
      body: await viewNow(runtime, request, { workspaceId, checkId, reused: false }),
    }),
  });
}

function listRoute(runtime: Runtime): Route {
  return subjectRoute(setSubject(runtime, "read"), {
    method: "GET",
    path: "/api/teams/{teamId}/replay-sets/{setId}/replay-checks",
    summary: "List the replay checks of a set, newest first",
    description: "Shows the verdict of each check; read a single check for its regressions and both sides.",
    access: "any",
    query: z.strictObject({
      before: cursor
        .optional()
        .describe("The id of a check; the service returns older checks. A check of another set returns none."),
      limit: pageSize().describe("The number of checks."),
    }),
    answers: {
      200: z.strictObject({
        items: z.array(listedCheckSchema).describe("The checks of the set, newest first."),
        next: nextPage("before"),
      }),
    },
    handle: async (request, { workspaceId, set: { id: setId } }) => {
      const { rows, next } = await readListPageInSlices(
        request.query,
        ({ limit, before }) => readPage(runtime, request, checksOfSet({ workspaceId, setId }, { limit, before })),
        byId,
      );
      return { status: 200, body: { items: await inPieces(rows, request, listedCheckView), next } };
    },
  });
}

interface Read {
  readonly workspaceId: string;
  readonly checkId: string;
  readonly reused: boolean;
}

/**
 * Returns the view of a check, read from one snapshot of the store. The view is built in steps, and other work can run
 * between them. Throws {@link Refused} if there is no such check.
 */
async function viewNow(
  runtime: Runtime,
  request: Pick<RouteRequest, "pause" | "signal">,
  { workspaceId, checkId, reused }: Read,
): Promise<ReplayCheckView> {
  const view = runtime.view();
  try {
    const row = findStoredCheck(view, workspaceId, checkId);
    if (row === undefined) throw new Refused({ refused: "not-found", detail: `Replay check ${checkId} not found.` });
    return await runInSteps(viewInSteps(view, workspaceId, row, { reused, latest: runtime.reading }), request);
  } finally {
    view.close();
  }
}
