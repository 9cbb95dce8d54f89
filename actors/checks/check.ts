import type { StartWarning } from "../replays/starting/start-warnings.js";
import type { Stored } from "../view.js";
import type { ReplayCheckView, replayCheckSchema } from "./check-schemas.js";

export type LiveField = ReplayCheckView["keptLive"][number];

/** The thresholds of a check, copied from the live line when the check started. */
export type CheckThreshold = Omit<ReplayCheckView["threshold"], "unpricedRun">;

type StoredCheck = Stored<
  typeof replayCheckSchema,
  | "setName"
  | "threshold"
  | "gain"
  | "waiting"
  | "candidate"
  | "baseline"
  | "regressions"
  | "warnings"
  | "replayUrl"
  | "reused"
>;

/**
 * A check of a planned change. It compares a replay of a guarding set under the planned config with a replay under the
 * live config.
 */
export interface ReplayCheckRow extends StoredCheck {
  readonly baselineReplayId: string;
  /** The running fingerprints of both configs (`lines/fingerprint.ts`). */
  readonly liveRunning: string;
  readonly candidateRunning: string;
  /** The scoring fingerprint, which both sides share. */
  readonly scoring: string;
  /** Digest of the ids of the runs that the check replays. */
  readonly runsDigest: string;
  readonly threshold: CheckThreshold;
  /** The kinds of warnings about the check's replay when it started. */
  readonly warned: readonly StartWarning["kind"][];
  /** The number of tasks that regressed so far. */
  readonly regressed: number;
  /**
   * When the check ended: it had a verdict, and each of its replays was gone, or had ended and had no running runs.
   * Null until then.
   */
  readonly endedAt: string | null;
}
