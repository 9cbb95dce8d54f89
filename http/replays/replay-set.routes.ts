import { z } from "zod";
import { hasHiddenCharacters } from "../../actors/hidden-characters.js";
import { MAX_ENTRIES, type ReplaySetMessage, replaySetsRef } from "../../actors/replays/sets/replay-set.messages.js";
import { distinct } from "../../actors/resources/fields.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import { setSubject, stationSubject } from "../wire/replay-subjects.js";
import { EXAMPLE_ULID, type Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";

const SET = "/api/teams/{teamId}/replay-sets/{setId}";
const MAX_NAME = 100;

const named = z.strictObject({
  name: z
    .string()
    .trim()
    .refine(({ length }) => length >= 1 && length <= MAX_NAME, `Replay set name must be 1 to ${MAX_NAME} characters.`)
    .refine((name) => !hasHiddenCharacters(name), "Replay set name cannot contain control characters.")
    .describe(`1 to ${MAX_NAME} characters; surrounding spaces are removed.`),
});
const example = { name: "Sent back in September" };
const addedRuns = z.union([
  z.strictObject({ runId: z.string().describe("The ended run of the station to add (`run_…`).") }),
  z.strictObject({
    runIds: distinct(z.string(), "must name each run once")
      .min(1, "must not be empty")
      .max(MAX_ENTRIES, `must be at most ${MAX_ENTRIES} runs`)
      .describe(`The ended runs of the station to add: 1 to ${MAX_ENTRIES} different ids.`),
  }),
]);
const repeatable = { "idempotency-key": "optional" } as const;

interface ReplaySetRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes that change replay sets, for callers who may plan. */
export function replaySetRoutes(options: ReplaySetRoutesOptions): readonly Route[] {
  const { runtime } = options;
  return [openRoute(options), ...changeRoutes(runtime), ...entryRoutes(options), ...guardRoutes(runtime)];
}

function openRoute({ runtime, sealer }: ReplaySetRoutesOptions): Route {
  return subjectRoute(stationSubject(runtime, "plan"), {
    method: "POST",
    path: "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets",
    isCheckedFirst: true,
    summary: "Create an empty replay set of a work station",
    description: "A review station has no replay sets (422). A team can have 100 sets; another one is refused (409).",
    access: "any",
    body: named,
    example,
    headers: repeatable,
    answers: {
      201: {
        body: z.strictObject({ id: z.string().describe("The id of the new set (`rset_…`).") }),
        headers: replayedHeader,
      },
    },
    problems: ["conflict"],
    handle: async (request, { workspaceId, teamId, lineId, stationId }) => {
      const { caller, body } = request;
      const idempotency = findIdempotency(sealer, request, `replay-set.open ${lineId} ${stationId}`);
      const message = { type: "set.open", caller, lineId, stationId, ...body, idempotency } as const;
      const { setId, replayed } = granted(await runtime.ask(replaySetsRef(workspaceId, teamId), message));
      return { status: 201, body: { id: setId }, headers: replayHeaders(replayed) };
    },
  });
}

function changeRoutes(runtime: Runtime): readonly Route[] {
  const subject = setSubject(runtime, "plan");
  return [
    subjectRoute(subject, {
      method: "PATCH",
      path: SET,
      isCheckedFirst: true,
      summary: "Rename a replay set",
      description: "Also works after the station left its line. Replays of the set keep their results.",
      access: "any",
      body: named,
      example,
      answers: { 204: null },
      handle: ({ caller, body }, { set: { id: setId }, ...team }) =>
        changeSet(runtime, team, { type: "set.rename", caller, setId, ...body }),
    }),
    subjectRoute(subject, {
      method: "DELETE",
      path: SET,
      summary: "Delete a replay set",
      description:
        "Removes all its replays, with their copies, runs, verdicts and figures, and releases what the set " +
        "stored of its runs. Refused (409) while a replay or a search of the set is in progress.",
      access: "any",
      answers: { 204: null },
      handle: ({ caller, client }, { set: { id: setId }, ...team }) =>
        changeSet(runtime, team, { type: "set.delete", caller, client, setId }),
    }),
  ];
}

function entryRoutes({ runtime, sealer }: ReplaySetRoutesOptions): readonly Route[] {
  const subject = setSubject(runtime, "plan");
  return [
    subjectRoute(subject, {
      method: "POST",
      path: `${SET}/entries`,
      isCheckedFirst: true,
      summary: "Add ended runs of the station to a replay set",
      description:
        "Takes one run as `runId`, or several as `runIds`. Of several, either all are added or none: the refusal " +
        "names each run that cannot be added. The service stores a run as long as it is in a set. A set holds at " +
        "most 50 runs.",
      access: "any",
      body: addedRuns,
      example: { runIds: [`run_${EXAMPLE_ULID}`, "run_01KAHX5E8GJMPQS1T3V5X7Z9AC"] },
      headers: repeatable,
      answers: { 204: { body: null, headers: replayedHeader } },
      problems: ["conflict"],
      handle: (request, { set: { id: setId }, ...team }) => {
        const { caller, body } = request;
        const idempotency = findIdempotency(sealer, request, `replay-set.entry ${setId}`);
        return changeSet(runtime, team, { type: "entry.add", caller, setId, ...body, idempotency });
      },
    }),
    subjectRoute(subject, {
      method: "DELETE",
      path: `${SET}/entries/{runId}`,
      summary: "Remove a run from a replay set",
      description:
        "Existing replays keep their copies of the run. Refused (409) while a search of the set is in progress. Also works " +
        "after the station left its line.",
      access: "any",
      answers: { 204: null },
      handle: ({ caller, params: { runId = "" } }, { set: { id: setId }, ...team }) =>
        changeSet(runtime, team, { type: "entry.remove", caller, setId, runId }),
    }),
  ];
}

function guardRoutes(runtime: Runtime): readonly Route[] {
  const subject = setSubject(runtime, "plan");
  return [
    subjectRoute(subject, {
      method: "POST",
      path: `${SET}/guards-changes`,
      summary: "Make a replay set guard its station's changes",
      description:
        "Only one set per station can guard its changes: marking another is refused (409) until the first is " +
        "unmarked. Replay checks of planned changes replay the set, under the terms of the line's `replayCheck`.",
      access: "any",
      answers: { 204: null },
      problems: ["conflict"],
      handle: ({ caller, client }, { set: { id: setId }, ...team }) =>
        changeSet(runtime, team, { type: "guard.mark", caller, client, setId, guardsChanges: true }),
    }),
    subjectRoute(subject, {
      method: "DELETE",
      path: `${SET}/guards-changes`,
      summary: "Stop a replay set from guarding its station's changes",
      description:
        "Afterwards, starting a replay check of the station is refused (409) until a set guards its changes.",
      access: "any",
      answers: { 204: null },
      handle: ({ caller, client }, { set: { id: setId }, ...team }) =>
        changeSet(runtime, team, { type: "guard.mark", caller, client, setId, guardsChanges: false }),
    }),
  ];
}

/** A message about one replay set. */
type SetMessage = Extract<ReplaySetMessage, { readonly setId: string }>;

async function changeSet(
  runtime: Runtime,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  message: SetMessage,
) {
  const { replayed } = granted(await runtime.ask(replaySetsRef(workspaceId, teamId), message));
  return { status: 204, headers: replayHeaders(replayed) };
}
