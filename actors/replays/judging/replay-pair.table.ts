import type { Unpaired } from "../../judging/pair.js";
import type { PairReading, PairReason } from "../../judging/pair-question.js";
import type { ModelSpent } from "../../outbound/models/model-cost.js";
import type { PairOutcome } from "../../statistics/comparison.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { copyChange } from "../reads/replay-changes.js";
import { bodiesOfReasons, type KeptReasons } from "./kept-reasons.js";
import type { CopyKey } from "./replay-verdict.table.js";

/** A reading of a pair, in one of the two orders. */
export interface StoredReading extends Omit<PairReading, "reasons"> {
  readonly reasons: KeptReasons<PairReason>;
}

/** The comparison of a copy's change with that of a copy in the paired replay. */
export interface ReplayPairRow extends CopyKey {
  /** `asked` as soon as both replays have ended. */
  readonly state: "asked" | "judged" | "unpaired";
  /** The other copy's run; null if that copy has none. */
  readonly againstRunId: string | null;
  /** Null unless judged. */
  readonly outcome: PairOutcome | null;
  /** Null unless unpaired. */
  readonly unpaired: Unpaired | null;
  /** The model that reads the pair, and its prompt version; both null before the first answer. */
  readonly model: string | null;
  readonly promptVersion: number | null;
  /** The answered readings: two once judged, none if both copies changed nothing. */
  readonly readings: readonly StoredReading[];
  /** Total of all attempts to ask so far. Attempts with unknown usage count their estimate. */
  readonly spent: ModelSpent;
}

/** Key: `[replay, place, repeat]` */
export const replayPairs = indexedTable<ReplayPairRow>("replay-pair", {
  under: ["replayId"],
  order: ["place", "repeat"],
  changes: (pair) => [copyChange(pair)],
  blobs: ({ readings }) => readings.flatMap(({ reasons }) => bodiesOfReasons(reasons)),
});
