import type { Money } from "../money.js";
import type { StartWarning } from "../replays/starting/start-warnings.js";
import type { CheckVerdict, UndecidedReason } from "./verdict.js";

/** The fields of a station that a check keeps at their live values, in the order in which it lists them. */
export const keptFields = ["check", "judge", "diffs", "runners"] as const;
export type KeptField = (typeof keptFields)[number];

/** The criteria of a check's verdict, from the live line at its start. */
export interface CheckThreshold {
  readonly mostRegressions: number;
  readonly minGain: number;
  /** The ceiling of each replay that the check starts. */
  readonly ceiling: Money;
}

/** A check of a planned change: its replay of a guarding set, compared with one of the live config. */
export interface ReplayCheckRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly setId: string;
  /** The version of the set that it replays. */
  readonly setVersion: number;
  readonly candidateId: string;
  readonly replayId: string;
  readonly baselineReplayId: string;
  /** Counts the station's checks that have the same two running fingerprints; starts at 1. */
  readonly attempt: number;
  readonly reference: { readonly commit: string | null; readonly pullRequest: number | null };
  /** The fingerprints of the complete configs, and their running fingerprints (`lines/fingerprint.ts`). */
  readonly liveFingerprint: string;
  readonly candidateFingerprint: string;
  readonly liveRunning: string;
  readonly candidateRunning: string;
  /** The scoring fingerprint of both sides. */
  readonly scoring: string;
  /** Digest of the ids of the runs that it replays. */
  readonly runsDigest: string;
  readonly keptLive: readonly KeptField[];
  readonly threshold: CheckThreshold;
  readonly repeats: number;
  /** The kinds of warnings about its replay at the start. */
  readonly warned: readonly StartWarning["kind"][];
  /** The number of tasks that it replays. */
  readonly tasks: number;
  readonly verdict: CheckVerdict;
  /** Null unless undecided. */
  readonly undecidedBecause: UndecidedReason | null;
  /** The number of tasks that regressed so far, and of tasks that both sides scored so far. */
  readonly regressed: number;
  readonly compared: number;
  readonly createdAt: string;
  /** When its verdict became final; null before. */
  readonly decidedAt: string | null;
  /** When both replays were over or gone after that; null before. */
  readonly endedAt: string | null;
}
