import type { PairReading, PairReason } from "../../judging/pair-question.js";
import type { ModelSpent } from "../../outbound/models/model-cost.js";
import { indexedTable } from "../../tables/indexed-table.js";
import type { Stored } from "../../view.js";
import type { listedPairSchema } from "../reads/copy-schemas.js";
import { copyChange } from "../reads/replay-changes.js";
import type { CopyKey } from "./replay-verdict.table.js";
import { bodiesOfReasons, type StoredReasons } from "./stored-reasons.js";

/** A reading of a pair, in one of the two orders. */
export interface StoredReading extends Omit<PairReading, "reasons"> {
  readonly reasons: StoredReasons<PairReason>;
}

/** The comparison of a copy's change with the change of a copy in the paired replay. */
export interface ReplayPairRow extends CopyKey, Stored<typeof listedPairSchema, "readings"> {
  /** The version of the model's prompt; null before the first answer. */
  readonly promptVersion: number | null;
  /** The readings that are answered so far, at most two. A pair of two empty changes is judged without readings. */
  readonly readings: readonly StoredReading[];
  /**
   * Total spending of all attempts to ask the model so far. An attempt with unknown usage counts as its estimated cost.
   */
  readonly spent: ModelSpent;
}

/** Key: `[replay, place, repeat]` */
export const replayPairs = indexedTable<ReplayPairRow>("replay-pair", {
  under: ["replayId"],
  order: ["place", "repeat"],
  changes: (pair) => [copyChange(pair)],
  blobs: ({ readings }) => readings.flatMap(({ reasons }) => bodiesOfReasons(reasons)),
});
