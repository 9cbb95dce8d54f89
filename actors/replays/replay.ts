import type { Money } from "../money.js";
import type { RunOutcome } from "../runs/run.js";

/** The states of a replay (replays, States and transitions). The last three are its ends. */
export const replayStates = ["queued", "running", "finished", "stopped", "over-budget"] as const;
export type ReplayState = (typeof replayStates)[number];

/** What a replay runs. Only proposed candidates are resources. */
export const candidateKinds = ["proposed", "live", "planned", "searched", "with-answer"] as const;
export type CandidateKind = (typeof candidateKinds)[number];

/** How many copies of a replay there are of each kind. Those that wait for a place in the queue are the rest. */
export interface ReplayCounts {
  /** In the dispatcher's queue. */
  readonly queued: number;
  /** With a runner. */
  readonly running: number;
  /** Settled: they run no more. Of these, those with each result; without one while they are judged. */
  readonly settled: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unscored: number;
}

/** What a replay spent, as fractions in the ceiling's currency (`fraction.ts`, `toText`). */
export interface ReplaySpending {
  /** What its copies reported, with their first judgings. */
  readonly spent: string;
  /** What counts against the ceiling only: second judgings, pairs, estimates of model calls under way. */
  readonly besides: string;
  /** Copies with an attempt that began its agent and reported no cost in the ceiling's currency. */
  readonly unpriced: number;
}

/** A replay of a set: each of its runs, repeated under one config. Its config and entries are its input. */
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
  /** Number of runs that it replays, and how many copies of each it makes. */
  readonly runs: number;
  readonly repeats: number;
  /** The most that it may spend; the amount that holds, where the start raised it. */
  readonly ceiling: Money;
  readonly createdAt: string;
  /** When a runner took the first copy. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Whether it checks the set. */
  readonly probe: boolean;
  /** The replay that its changes are set beside, chosen at the start. */
  readonly pairedWith: string | null;
  /** The replay that became the set's baseline with its start: itself, or one started beside it. Null when one stood. */
  readonly startedBaseline: string | null;
  /** The live replay whose finishing started it, for a replay with the answer. */
  readonly answers: string | null;
  /** False when the start of this live replay asked for no replay with the answer; absent otherwise. */
  readonly oracle?: false;
  readonly search: { readonly searchId: string; readonly candidateName: string } | null;
  readonly counts: ReplayCounts;
  readonly spending: ReplaySpending;
  /** Whether all judging is over, also second judgings, second checks and pairs, which follow its end. */
  readonly judged: boolean;
  /** That it waits for the model, and since when; null while it does not. Reads add a wait for runners. */
  readonly waiting: { readonly for: "model" | "runner"; readonly since: string } | null;
}

/**
 * The states of a copy. `waiting` for a place in the dispatcher's queue, `queued` there, `running` with a runner,
 * `settled` when it runs no more. A copy that is judged has no result until it is `judged`.
 */
export type CopyState = "waiting" | "queued" | "running" | "settled" | "judging" | "judged";

/** One copy of a run of a replay. What its run did is in the rows of that run, which live as long as the replay. */
export interface ReplayCopyRow {
  readonly replayId: string;
  /** The place of its entry; with `repeat`, from 1, its name in the replay. */
  readonly place: number;
  readonly repeat: number;
  readonly originalRunId: string;
  readonly taskId: string;
  readonly state: CopyState;
  /** The run of its newest attempt; null before the first, and for a copy that never started. */
  readonly runId: string | null;
  /** The runs of earlier attempts, whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Null until it is settled and, with a judge, judged. */
  readonly result: "succeeded" | "failed" | "unscored" | null;
  /** Why it did not succeed; null when it did, and without a result. */
  readonly why: { readonly code: string; readonly text: string } | null;
  /** The outcome of its last run. */
  readonly outcome: RunOutcome | null;
  /** What the station's check said of it, with the end of its output; null when it has none or it did not run. */
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly tail: string } | null;
  /** What its attempts reported, and its first judging where that is priced; null for nothing. */
  readonly spent: Money | null;
  /** Whether every attempt that began its agent reported its cost in the ceiling's currency. */
  readonly priced: boolean;
  /** Of the last attempt; null before it ended. `ms` from the start of its agent to its end, null if it did not start. */
  readonly steps: number | null;
  readonly ms: number | null;
  /** Calls of tools that were refused, since replays make none. */
  readonly toolMisses: number;
}

/** The name of a copy in its replay. */
export interface CopyName {
  readonly place: number;
  readonly repeat: number;
}

/** Where a replay is with its copies. Small on purpose: readers use its row. */
export interface ReplayContext {
  /** Copies whose rows were made: the first ones, all runs once before any twice. */
  readonly made: number;
  /** Of these, how many were queued or are never. */
  readonly next: number;
  /** Copies whose runners were lost: they go behind all others. */
  readonly back: readonly CopyName[];
}
