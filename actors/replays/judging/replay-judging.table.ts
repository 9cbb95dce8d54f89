import { table } from "../../../storage/table.js";
import type { ShownWork } from "../../judging/judge-question.js";
import type { ShownPair } from "../../judging/pair-question.js";
import type { Money } from "../../money.js";
import type { ModelAsking } from "../../outbound/models/model-asking.js";
import type { WhichJudging } from "./replay-verdict.table.js";

interface LookAt {
  readonly place: number;
  readonly repeat: number;
}

/**
 * A request for a verdict on a copy. The first verdict decides the copy's result. A second verdict measures the judge's
 * consistency.
 */
export interface VerdictLook extends LookAt {
  readonly look: WhichJudging;
}

/** A request to compare a copy with another. */
export interface PairLook extends LookAt {
  readonly look: "pair";
}

/** What to ask the model about a copy. */
export type Look = VerdictLook | PairLook;

/** A question that is in progress or waits for the model. */
export type AskedLook = AskedVerdict | AskedReading;

interface Asked {
  /** The id of the question's effect. Each new attempt gets a new id. */
  readonly questionId: string;
  /** The random text in the fences around the work in the prompt; the same for each attempt. */
  readonly mark: string;
  readonly asking: ModelAsking;
  /** When to ask the question again, in milliseconds since the epoch; null while the question is in progress. */
  readonly askAtMs: number | null;
  /**
   * The amount that counts against the ceiling until the question's usage is known. Null if nothing counts, and while
   * the question waits for the model.
   */
  readonly estimate: Money | null;
}

/** A question for a verdict. `shown` is needed to interpret its answer. */
export interface AskedVerdict extends Asked, VerdictLook {
  readonly shown: ShownWork;
}

/** A question for a reading of a pair. `shown` is needed to interpret its answer. */
export interface AskedReading extends Asked, PairLook {
  readonly shown: ShownPair;
}

/** A replay's questions to the model. A replay without questions has no row. The row is removed with the replay. */
export interface ReplayJudgingRow {
  /** The requests that have no question yet. They are asked in this order. */
  readonly wanted: readonly Look[];
  /** At most `MAX_ASKED` questions. */
  readonly asked: readonly AskedLook[];
  /** When the model became unavailable, in milliseconds since the epoch; null while it answers. */
  readonly downSinceMs: number | null;
}

/** Key: `[replay]` */
export const replayJudgings = table<ReplayJudgingRow>("replay-judging");
