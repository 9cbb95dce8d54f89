import { table } from "../../../storage/table.js";
import type { ShownWork } from "../../judging/judge-question.js";
import type { ShownPair } from "../../judging/pair-question.js";
import type { Money } from "../../money.js";
import type { ModelAsking } from "../../outbound/model-asking.js";
import type { WhichJudging } from "./replay-verdict.table.js";

interface LookAt {
  readonly place: number;
  readonly repeat: number;
}

/** A verdict on a copy: the first decides its result, a second says how steady the judge is. */
export interface VerdictLook extends LookAt {
  readonly look: WhichJudging;
}

/** How a copy reads beside another. */
export interface PairLook extends LookAt {
  readonly look: "pair";
}

/** What the model is to be asked about a copy. */
export type Look = VerdictLook | PairLook;

/** A question under way, or one that waits for the model. */
export type AskedLook = AskedVerdict | AskedReading;

interface Asked {
  /** The id of its effect, another each time that it is asked. */
  readonly questionId: string;
  /** Of the fences in what is shown; the same each time that it is asked. */
  readonly mark: string;
  readonly asking: ModelAsking;
  /** When it is asked again, in milliseconds since the epoch; null while it is under way. */
  readonly askAtMs: number | null;
  /** What it counts against the ceiling until its usage is known; null for nothing, and while it waits. */
  readonly estimate: Money | null;
}

/** `shown` is what its answer is read by. */
export interface AskedVerdict extends Asked, VerdictLook {
  readonly shown: ShownWork;
}

export interface AskedReading extends Asked, PairLook {
  readonly shown: ShownPair;
}

/** The questions of a replay to the model. A replay without any has no row; it goes with the replay. */
export interface ReplayJudgingRow {
  /** To be asked, in this order: at most one for each copy. */
  readonly wanted: readonly Look[];
  /** At most `MAX_ASKED`. */
  readonly asked: readonly AskedLook[];
  /** Since when the model was not to be had; null once it answered. */
  readonly downSinceMs: number | null;
}

/** `[replay]` */
export const replayJudgings = table<ReplayJudgingRow>("replay-judging");
