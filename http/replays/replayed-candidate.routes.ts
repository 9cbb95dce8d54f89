import { z } from "zod";
import { invalid } from "../../actors/refusal.js";
import {
  candidateReplays,
  MAX_CANDIDATE_REPLAYS,
  periods,
  type ReplayedCandidatesView,
  replayedCandidatesSchema,
  toPeriod,
} from "../../actors/replays/candidates/replayed-candidates.view.js";
import { readFigures, readSetTerms } from "../../actors/replays/figures/replay-figures.js";
import { replaySummary } from "../../actors/replays/reads/replay.view.js";
import { findStoredReplay } from "../../actors/replays/replay/replay.queries.js";
import { findStoredSet } from "../../actors/replays/sets/replay-set.queries.js";
import { readPage } from "../wire/page-reading.js";
import type { Route } from "../wire/route.js";
import { teamRoute } from "../wire/team-route.js";
import { type ReplayRead, type ReplayReads, readAtOnce } from "./replay-reading.js";

/** The routes that list the candidates that a team replayed. */
export function replayedCandidateRoutes(reads: ReplayReads): readonly Route[] {
  const { runtime } = reads;
  return [
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/replayed-candidates",
      summary: "List the candidates that a team replayed in a period, beside each set's baseline",
      description:
        "Sets with the newest replay come first. The period covers whole UTC days up to and including today.",
      access: "any",
      query: z.strictObject({ period: z.string().default("30d").describe("`7d`, `30d` or `90d`.") }),
      answers: { 200: replayedCandidatesSchema },
      problems: ["invalid"],
      handle: async (request, { workspaceId, teamId }) => {
        const name = periods.find((one) => one === request.query.period);
        if (name === undefined) return invalid("period", "Period must be 7d, 30d or 90d.");
        const period = toPeriod(name, runtime.clock.now());
        const found = await readPage(runtime, request, candidateReplays({ workspaceId, teamId, from: period.from }));
        const shown = found.slice(0, MAX_CANDIDATE_REPLAYS);
        const items = await readAtOnce(reads, request, async (read) => {
          const sets = [];
          for (const setId of new Set(shown.map((replay) => replay.setId))) {
            const ofSet = shown.filter((replay) => replay.setId === setId);
            sets.push(...(await readSet(read, { workspaceId, setId }, ofSet)));
          }
          return sets;
        });
        return { status: 200, body: { period, truncated: found.length > shown.length, items } };
      },
    }),
  ];
}

type SetItem = ReplayedCandidatesView["items"][number];

/** Reads the candidate replays of one set; an empty list if the set no longer exists. */
async function readSet(
  read: ReplayRead,
  { workspaceId, setId }: { readonly workspaceId: string; readonly setId: string },
  found: readonly { readonly id: string }[],
): Promise<SetItem[]> {
  const { view, memory, pause } = read;
  const set = findStoredSet(view, workspaceId, setId);
  if (set === undefined) return [];
  const terms = readSetTerms(view, workspaceId, set, read.judging);
  const summaries = [];
  for (const { id } of found) {
    const replay = findStoredReplay(view, workspaceId, id);
    if (replay !== undefined) summaries.push(replaySummary(readFigures(view, terms, replay, memory)));
    await pause();
    read.signal.throwIfAborted();
  }
  const baseline = terms.baselineId === null ? undefined : findStoredReplay(view, workspaceId, terms.baselineId);
  const { name, lineId, stationId, stationKey } = set;
  return [
    {
      set: { id: setId, name },
      lineId,
      stationId,
      stationKey,
      replays: summaries,
      baseline: baseline === undefined ? null : replaySummary(readFigures(view, terms, baseline, memory)),
    },
  ];
}
