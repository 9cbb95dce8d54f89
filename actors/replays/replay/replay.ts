import type { Stored } from "../../view.js";
import type { copySchema } from "../reads/copy-schemas.js";
import type { replayRowSchema } from "../reads/replay-schemas.js";

/**
 * The number of a replay's copies in each state and with each result. The remaining copies wait for a place in the
 * queue.
 */
export interface ReplayCounts {
  /** Copies in the dispatcher's queue. */
  readonly queued: number;
  /** Copies that a runner has. */
  readonly running: number;
  /**
   * Copies that have stopped running. The next three fields count these copies by result. A copy that is still being
   * judged counts in none of the three.
   */
  readonly settled: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unscored: number;
}

/** A replay's spending, as fractions in the ceiling's currency (`fraction.ts`, `toText`). */
export interface ReplaySpending {
  /** The cost that its copies reported, including first judgings. */
  readonly spent: string;
  /**
   * Costs that count only against the ceiling: second judgings, pairs, first judgings that are not part of a copy's
   * spending, and estimates for model calls in progress.
   */
  readonly besides: string;
  /** Number of copies with an attempt that started its agent and reported no cost in the ceiling's currency. */
  readonly unpriced: number;
}

/**
 * A replay of a set, which repeats each of the set's runs under one config. The replay's input holds the config and the
 * entries.
 */
export interface ReplayRow extends Stored<typeof replayRowSchema, "progress"> {
  readonly teamId: string;
  /** The running and the scoring fingerprint of the replay's config (`lines/fingerprint.ts`). */
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  /** The number of runs that the replay repeats. */
  readonly runs: number;
  /**
   * The set's baseline that started together with this replay: this replay itself, or a separate one. Null if the set
   * already had a baseline.
   */
  readonly startedBaseline: string | null;
  /** For a replay with the answer: the live replay whose end started this replay. Null for other replays. */
  readonly answers: string | null;
  /** False when the start of this live replay excluded a replay with the answer; absent otherwise. */
  readonly oracle?: false;
  readonly counts: ReplayCounts;
  readonly spending: ReplaySpending;
  /**
   * The wait for the model, with the start of the wait; null if the replay does not wait for the model. Views add a
   * wait for runners.
   */
  readonly waiting: { readonly for: "model" | "runner"; readonly since: string } | null;
}

export type ReplayState = ReplayRow["state"];
export type CandidateKind = ReplayRow["candidate"]["kind"];

type StoredCopy = Stored<
  typeof copySchema,
  "title" | "check" | "judge" | "secondJudge" | "rejudgingSpent" | "recheck" | "pair" | "pairingSpent"
>;

/**
 * One copy of a run in a replay. The rows of the copy's own run hold the copy's work, and are stored for as long as the
 * replay. A copy that needs a judge has no result until it is `judged`.
 */
export interface ReplayCopyRow extends StoredCopy {
  readonly replayId: string;
  /** The place of the copy's entry. The place and `repeat`, which starts at 1, identify the copy within the replay. */
  readonly place: number;
  /** The runs of earlier attempts whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /**
   * The result of the station's check, with the end of its output; null without a check, or if the check did not run.
   */
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly tail: string } | null;
}

/** The name of a copy within its replay. */
export interface CopyName {
  readonly place: number;
  readonly repeat: number;
}

/** A replay's progress through its copies. Keep the context small: other code reads the replay's row instead. */
export interface ReplayContext {
  /** Number of copies whose rows exist, in order: every run has its first copy before any run gets a second. */
  readonly made: number;
  /**
   * Index of the next copy to queue, in order of creation. Each earlier copy was queued at least once, or will never be
   * queued.
   */
  readonly next: number;
  /** Copies that returned to `waiting`; they start after all others. */
  readonly back: readonly CopyName[];
}
