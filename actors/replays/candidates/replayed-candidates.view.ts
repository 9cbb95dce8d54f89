import { z } from "zod";
import { ulidTime } from "../../../runtime/turns/ids.js";
import type { Reading } from "../../../storage/store.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import type { Shown } from "../../view.js";
import { replaySummarySchema } from "../reads/replay-schemas.js";
import type { ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";

/** The periods that a request can choose, in whole UTC days up to and including today. */
export const periods = ["7d", "30d", "90d"] as const;
export type PeriodName = (typeof periods)[number];

const DAY_MS = 86_400_000;
/** Maximum number of candidate replays in one answer. The newest ones are shown. */
export const MAX_CANDIDATE_REPLAYS = 200;

const time = z.iso.datetime();

/** A team's replayed candidates, by set. */
export const replayedCandidatesSchema = z
  .strictObject({
    period: z
      .strictObject({
        name: z.enum(periods).describe("The requested period: `7d`, `30d` or `90d`."),
        from: time.describe("The start of the period: the beginning of its first UTC day."),
        to: time.describe("The end of the period: the time of the request."),
      })
      .describe("The period in which the listed replays started."),
    truncated: z
      .boolean()
      .describe(
        `Whether there were more than ${MAX_CANDIDATE_REPLAYS} replays. Only the newest ${MAX_CANDIDATE_REPLAYS} ` +
          "are listed.",
      ),
    items: z
      .array(
        z.strictObject({
          set: z
            .strictObject({
              id: z.string().describe("The id of the replay set (`rset_…`)."),
              name: z.string().describe("The current name of the replay set."),
            })
            .describe("The replay set of the replays."),
          lineId: z.string().describe("The line of the set's station (`line_…`)."),
          stationId: z.string().describe("The id of the station whose runs the set holds."),
          stationKey: z.string().describe("The key of the station in its line."),
          baseline: replaySummarySchema.nullable().describe("The set's current baseline; null if it has none."),
          replays: z.array(replaySummarySchema).describe("The replays of candidates in the period, newest first."),
        }),
      )
      .describe("The sets with replays in the period; the set with the newest replay comes first."),
  })
  .meta({
    title: "replayed candidates",
    description: "The candidates that a team replayed in a period, by replay set.",
  });

/** Returns a period that ends at `nowMs` and starts at the beginning of its first UTC day. */
export function toPeriod(name: PeriodName, nowMs: number) {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const fromMs = today - (Number.parseInt(name, 10) - 1) * DAY_MS;
  return { name, from: new Date(fromMs).toISOString(), to: new Date(nowMs).toISOString() };
}

export type ReplayedCandidatesView = Shown<typeof replayedCandidatesSchema>;

interface CandidatePlace {
  readonly workspaceId: string;
  readonly teamId: string;
  /** The start of the period. */
  readonly from: string;
}

/**
 * Returns a function that reads slices of a team's candidate replays that started at or after `from`, newest first. A
 * slice has one replay more than the maximum, so that the caller can detect truncation.
 */
export function candidateReplays({ workspaceId, teamId, from }: CandidatePlace) {
  return (reading: Reading, cursor: Cursor<ReplayRow> | null): Slice<ReplayRow> =>
    replays.page(
      reading,
      workspaceId,
      { teamId },
      {
        cursor,
        limit: MAX_CANDIDATE_REPLAYS + 1,
        after: [`rep_${ulidTime(Date.parse(from))}`],
        // Exclude replays with the answer: they only show an upper bound, because no team can adopt a config that knows
        // the answer.
        fits: ({ candidate }) => candidate.kind !== "live" && candidate.kind !== "with-answer",
      },
    );
}
