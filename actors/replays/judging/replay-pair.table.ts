import type { Unpaired } from "../../judging/pair.js";
import type { PairReading, PairReason } from "../../judging/pair-question.js";
import type { ModelSpent } from "../../outbound/model-cost.js";
import type { PairOutcome } from "../../statistics/comparison.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { copyChange } from "../replay-changes.js";
import { bodiesOfReasons, type KeptReasons } from "./kept-reasons.js";
import type { CopyKey } from "./replay-verdict.table.js";

/** A reading of a pair, in one of the two orders. */
export interface StoredReading extends Omit<PairReading, "reasons"> {
  readonly reasons: KeptReasons<PairReason>;
}

/** A copy's change beside that of a copy of the replay that its own is paired with. */
export interface ReplayPairRow extends CopyKey {
  /** `asked` from when both replays have ended. */
  readonly state: "asked" | "judged" | "unpaired";
  /** The run of the other copy; null when it has none. */
  readonly againstRunId: string | null;
  /** Null unless judged. */
  readonly outcome: PairOutcome | null;
  /** Null unless unpaired. */
  readonly unpaired: Unpaired | null;
  /** The model that reads it, and the version of what it is told; null before its first answer. */
  readonly model: string | null;
  readonly promptVersion: number | null;
  /** Those that were answered: two once judged, none of two changes of nothing. */
  readonly readings: readonly StoredReading[];
  /** All askings so far, with the estimates of those whose usage nobody knows. */
  readonly spent: ModelSpent;
}

/** `[replay, place, repeat]` */
export const replayPairs = indexedTable<ReplayPairRow>("replay-pair", {
  ...{ under: ["replayId"], order: ["place", "repeat"] },
  changes: (pair) => [copyChange(pair)],
  blobs: ({ readings }) => readings.flatMap(({ reasons }) => bodiesOfReasons(reasons)),
});
