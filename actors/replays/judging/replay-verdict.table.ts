import type { JudgeReason, JudgeVerdict } from "../../judging/verdict.js";
import type { ModelSpent } from "../../outbound/model-cost.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { secondLookChanges } from "../second-look-changes.js";
import { bodiesOfReasons, type KeptReasons } from "./kept-reasons.js";

/** A copy of a replay: the place of its run in the set, and its number among the copies of that run, from 1. */
export interface CopyKey {
  readonly replayId: string;
  readonly place: number;
  readonly repeat: number;
}

/** The first judging decides the copy's result; a second one is made of a baseline that checks its set. */
export type WhichJudging = "first" | "second";

/** Why a copy has no verdict, or no second one. */
export type NoVerdict =
  /** No model is set up. */
  | "not-set-up"
  /** The model gave no verdict: it refused, did not answer in the form asked for, or was not to be had for a day. */
  | "refused"
  | "unreadable"
  | "unavailable"
  /** The ceiling has no room for a second judging. */
  | "budget"
  /** The replay was stopped first. */
  | "stopped";

/** A verdict without what the replay's config says: the claims, and the share of them to meet. */
export interface StoredVerdict extends Omit<JudgeVerdict, "reasons" | "claims" | "passShare"> {
  readonly reasons: KeptReasons<JudgeReason>;
}

/** A judging of a copy's change. */
export interface ReplayVerdictRow extends CopyKey {
  readonly which: WhichJudging;
  /** `asked` from when it is to be judged, `none` once it is known that there will be no verdict. */
  readonly state: "asked" | "judged" | "none";
  /** Null unless judged. */
  readonly verdict: StoredVerdict | null;
  /** Null unless there is none; the text may be shown. */
  readonly none: { readonly code: NoVerdict; readonly text: string } | null;
  /** All askings so far, with the estimates of those whose usage nobody knows. */
  readonly spent: ModelSpent;
}

/** `[replay, place, repeat, which]` */
export const replayVerdicts = indexedTable<ReplayVerdictRow>("replay-verdict", {
  ...{ under: ["replayId"], order: ["place", "repeat", "which"] },
  // A first judging changes its copy in the same turns.
  changes: (verdict, reading, { workspaceId }) =>
    verdict.which === "first" ? [] : secondLookChanges(reading, workspaceId, verdict),
  blobs: ({ verdict }) => (verdict === null ? [] : bodiesOfReasons(verdict.reasons)),
});
