import type { Money } from "../money.js";
import type { StartWarning } from "../replays/start-warnings.js";
import type { CheckVerdict, UndecidedReason } from "./verdict.js";

/** The fields of a station that a check keeps as they are live, in the order in which it names them. */
export const keptFields = ["check", "judge", "diffs", "runners"] as const;
export type KeptField = (typeof keptFields)[number];

/** What a check decides by, from the live line as it was at the start. */
export interface CheckThreshold {
  readonly mostRegressions: number;
  readonly minGain: number;
  /** Of each replay that it starts. */
  readonly ceiling: Money;
}

/** A check of a planned change: its replay of a guarding set beside one of the live config. */
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
  /** From 1: it counts checks of a station that have the two fingerprints of how runs go in common. */
  readonly attempt: number;
  readonly reference: { readonly commit: string | null; readonly pullRequest: number | null };
  /** Of the whole configs, and of how runs go under them (`lines/fingerprint.ts`). */
  readonly liveFingerprint: string;
  readonly candidateFingerprint: string;
  readonly liveRunning: string;
  readonly candidateRunning: string;
  /** Of how both sides are scored. */
  readonly scoring: string;
  /** Digest of the ids of the runs that it replays. */
  readonly runsDigest: string;
  readonly keptLive: readonly KeptField[];
  readonly threshold: CheckThreshold;
  readonly repeats: number;
  /** What there was to say of its replay at the start. */
  readonly warned: readonly StartWarning["kind"][];
  /** The tasks that it replays. */
  readonly tasks: number;
  readonly verdict: CheckVerdict;
  /** Null unless undecided. */
  readonly undecidedBecause: UndecidedReason | null;
  /** The tasks that regressed, and those that both sides scored, as far as it has come. */
  readonly regressed: number;
  readonly compared: number;
  readonly createdAt: string;
  /** When its verdict was final; null before. */
  readonly decidedAt: string | null;
  /** When both replays had ended after that, or were gone; null before. */
  readonly endedAt: string | null;
}
