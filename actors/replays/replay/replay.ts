import type { Money } from "../../money.js";
import type { RunOutcome } from "../../runs/run.js";

/** The states of a replay (replays, States and transitions). The last three are end states. */
export const replayStates = ["queued", "running", "finished", "stopped", "over-budget"] as const;
export type ReplayState = (typeof replayStates)[number];

/** What kind of candidate a replay runs. Only proposed candidates are resources. */
export const candidateKinds = ["proposed", "live", "planned", "searched", "with-answer"] as const;
export type CandidateKind = (typeof candidateKinds)[number];

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
   * Copies that have stopped running. The next three fields count them by result; a copy that is being judged has none.
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
  /** Costs that count only against the ceiling: second judgings, pairs, and estimates for model calls in progress. */
  readonly besides: string;
  /** Number of copies with an attempt that started its agent and reported no cost in the ceiling's currency. */
  readonly unpriced: number;
}

/** A replay of a set: it repeats each of the set's runs under one config. Its input holds its config and entries. */
export interface ReplayRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly setId: string;
  /** The version of the set that it replays. */
  readonly setVersion: number;
  readonly candidate: { readonly id: string; readonly name: string; readonly kind: CandidateKind };
  /** The three fingerprints of its config (`lines/fingerprint.ts`). */
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  readonly state: ReplayState;
  /** The number of runs that it repeats, and the number of copies of each. */
  readonly runs: number;
  readonly repeats: number;
  /** The limit of its spending, after any increase at its start. */
  readonly ceiling: Money;
  readonly createdAt: string;
  /** When a runner claimed the first copy. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Whether it checks the set. */
  readonly probe: boolean;
  /** The replay that its changes are compared with, chosen at the start. */
  readonly pairedWith: string | null;
  /** The set's baseline that started with it: itself, or a separate replay. Null if the set already had a baseline. */
  readonly startedBaseline: string | null;
  /** For a replay with the answer: the live replay whose end started it. */
  readonly answers: string | null;
  /** False when the start of this live replay excluded a replay with the answer; absent otherwise. */
  readonly oracle?: false;
  readonly search: { readonly searchId: string; readonly candidateName: string } | null;
  readonly counts: ReplayCounts;
  readonly spending: ReplaySpending;
  /** Whether all judging is complete, including second judgings, second checks and pairs, which follow its end. */
  readonly judged: boolean;
  /** The wait for the model, with its start; null if the replay does not wait for it. Views add a wait for runners. */
  readonly waiting: { readonly for: "model" | "runner"; readonly since: string } | null;
}

/**
 * The states of a copy. `waiting`: it waits for a place in the dispatcher's queue. `queued`: it is in that queue.
 * `running`: a runner has it. `settled`: it has stopped running. A copy that needs a judge has no result until it is
 * `judged`.
 */
export type CopyState = "waiting" | "queued" | "running" | "settled" | "judging" | "judged";

/** One copy of a run in a replay. The run's own rows hold its work, and are stored for as long as the replay. */
export interface ReplayCopyRow {
  readonly replayId: string;
  /** The place of its entry. With `repeat`, which starts at 1, it identifies the copy within the replay. */
  readonly place: number;
  readonly repeat: number;
  readonly originalRunId: string;
  readonly taskId: string;
  readonly state: CopyState;
  /** The run of its newest attempt; null before the first attempt, and for a copy that never started. */
  readonly runId: string | null;
  /** The runs of earlier attempts whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Null until it is settled and, with a judge, judged. */
  readonly result: "succeeded" | "failed" | "unscored" | null;
  /** Why it did not succeed; null if it did, and while it has no result. */
  readonly why: { readonly code: string; readonly text: string } | null;
  /** The outcome of its last run. */
  readonly outcome: RunOutcome | null;
  /**
   * The result of the station's check, with the end of its output; null without a check, or if the check did not run.
   */
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly tail: string } | null;
  /** The cost that its attempts reported, plus its first judging if that has a price; null for no cost. */
  readonly spent: Money | null;
  /** Whether every attempt that started its agent reported its cost in the ceiling's currency. */
  readonly priced: boolean;
  /**
   * Figures of the last attempt; null before it ends. `ms` is the time from the agent's start to its end; null if it
   * never started.
   */
  readonly steps: number | null;
  readonly ms: number | null;
  /** The number of refused tool calls: replays call no tools. */
  readonly toolMisses: number;
}

/** The name of a copy within its replay. */
export interface CopyName {
  readonly place: number;
  readonly repeat: number;
}

/** A replay's progress through its copies. Keep it small: readers use the replay's row instead. */
export interface ReplayContext {
  /** Number of copies whose rows exist, in order: every run has its first copy before any run gets a second. */
  readonly made: number;
  /** Number of these copies that were queued, or that never will be. */
  readonly next: number;
  /** Copies that returned to `waiting`; they start after all others. */
  readonly back: readonly CopyName[];
}
