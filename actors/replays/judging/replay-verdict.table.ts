import type { JudgeReason, JudgeVerdict } from "../../judging/verdict.js";
import type { ModelSpent } from "../../outbound/models/model-cost.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { secondLookChanges } from "../reads/second-look-changes.js";
import { bodiesOfReasons, type StoredReasons } from "./stored-reasons.js";

/**
 * Key of a replay copy: the place of the original run in the set, and the copy's number. Each run's copies are numbered
 * from 1.
 */
export interface CopyKey {
  readonly replayId: string;
  readonly place: number;
  readonly repeat: number;
}

/** The first judging decides the copy's result. A replay that checks its set also has a second judging. */
export type WhichJudging = "first" | "second";

/** Why a copy has no verdict, or no second verdict. */
export type NoVerdict =
  /** No model is configured. */
  | "not-set-up"
  /**
   * `refused`, `unreadable`, `unavailable`: the model refused, answered in the wrong form, or was unavailable for a
   * day.
   */
  | "refused"
  | "unreadable"
  | "unavailable"
  /** A second judging does not fit under the ceiling. */
  | "budget"
  /** The replay was stopped before the verdict. */
  | "stopped";

/** A verdict without the fields that the replay's config holds: the claims, and the share of claims to meet. */
export interface StoredVerdict extends Omit<JudgeVerdict, "reasons" | "claims" | "passShare"> {
  readonly reasons: StoredReasons<JudgeReason>;
}

/** A judging of a copy's change. */
export interface ReplayVerdictRow extends CopyKey {
  readonly which: WhichJudging;
  /** `asked` once the judging is requested; `none` once it is certain that the judging gets no verdict. */
  readonly state: "asked" | "judged" | "none";
  /** Null unless judged. */
  readonly verdict: StoredVerdict | null;
  /** Why there is no verdict; otherwise null. Users may see the text. */
  readonly none: { readonly code: NoVerdict; readonly text: string } | null;
  /**
   * Total spending of all attempts to ask the model so far. An attempt with unknown usage counts as its estimated cost.
   */
  readonly spent: ModelSpent;
}

/** Key: `[replay, place, repeat, which]` */
export const replayVerdicts = indexedTable<ReplayVerdictRow>("replay-verdict", {
  under: ["replayId"],
  order: ["place", "repeat", "which"],
  // A first judging publishes no change of its own: its end changes the copy, and the copy publishes its change.
  changes: (verdict, reading, { workspaceId }) =>
    verdict.which === "first" ? [] : secondLookChanges(reading, workspaceId, verdict),
  blobs: ({ verdict }) => (verdict === null ? [] : bodiesOfReasons(verdict.reasons)),
});
