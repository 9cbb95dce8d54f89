import { z } from "zod";
import { ulidTime } from "../../runtime/ids.js";
import type { Reading } from "../../storage/store.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { Shown } from "./copy-schemas.js";
import type { ReplayRow } from "./replay.js";
import { replays } from "./replay.table.js";
import { replaySummarySchema } from "./replay-schemas.js";

/** The periods that figures are asked for, in whole UTC days up to and including today. */
export const periods = ["7d", "30d", "90d"] as const;
export type PeriodName = (typeof periods)[number];

const DAY_MS = 86_400_000;
/** Most replays of candidates in one answer: the newest ones. */
export const MAX_CANDIDATE_REPLAYS = 200;

const time = z.iso.datetime();

/** A team's replayed candidates, by set. */
export const replayedCandidatesSchema = z
  .strictObject({
    period: z.strictObject({ name: z.enum(periods), from: time, to: time }),
    truncated: z.boolean().describe(`Whether there were more than the newest ${MAX_CANDIDATE_REPLAYS} replays.`),
    items: z.array(
      z.strictObject({
        set: z.strictObject({ id: z.string(), name: z.string() }),
        ...{ lineId: z.string(), stationId: z.string(), stationKey: z.string() },
        baseline: replaySummarySchema.nullable().describe("The set's baseline as it is now."),
        replays: z.array(replaySummarySchema).describe("Newest first."),
      }),
    ),
  })
  .meta({ title: "replayed candidates" });

/** A period up to a time: from the beginning of its first UTC day. */
export function toPeriod(name: PeriodName, nowMs: number) {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const fromMs = today - (Number.parseInt(name, 10) - 1) * DAY_MS;
  return { name, from: new Date(fromMs).toISOString(), to: new Date(nowMs).toISOString() };
}

export type ReplayedCandidatesView = Shown<typeof replayedCandidatesSchema>;

interface CandidatePlace {
  readonly workspaceId: string;
  readonly teamId: string;
  /** From this time on. */
  readonly from: string;
}

/** A slice of the replays of candidates that a team started since a time, newest first; one more than are shown. */
export function candidateReplays({ workspaceId, teamId, from }: CandidatePlace) {
  return (reading: Reading, cursor: Cursor<ReplayRow> | null): Slice<ReplayRow> =>
    replays.page(
      reading,
      workspaceId,
      { teamId },
      {
        ...{ cursor, limit: MAX_CANDIDATE_REPLAYS + 1, after: [`rep_${ulidTime(Date.parse(from))}`] },
        // A replay with the answer shows what could be gained at most: nobody could take it.
        fits: ({ candidate }) => candidate.kind !== "live" && candidate.kind !== "with-answer",
      },
    );
}
