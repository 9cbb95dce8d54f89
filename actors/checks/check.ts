import type { StartWarning } from "../replays/starting/start-warnings.js";
import type { Stored } from "../view.js";
import type { ReplayCheckView, replayCheckSchema } from "./check-schemas.js";

export type LiveField = ReplayCheckView["keptLive"][number];

/** The criteria of a check's verdict, from the live line at its start. */
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

/** A check of a planned change: its replay of a guarding set, compared with one of the live config. */
export interface ReplayCheckRow extends StoredCheck {
  readonly baselineReplayId: string;
  /** The running fingerprints of both configs (`lines/fingerprint.ts`). */
  readonly liveRunning: string;
  readonly candidateRunning: string;
  /** The scoring fingerprint of both sides. */
  readonly scoring: string;
  /** Digest of the ids of the runs that the check replays. */
  readonly runsDigest: string;
  readonly threshold: CheckThreshold;
  /** The kinds of warnings about its replay at the start. */
  readonly warned: readonly StartWarning["kind"][];
  /** The number of tasks that regressed so far. */
  readonly regressed: number;
  /** When the check had its verdict and both replays were over or gone; null before. */
  readonly endedAt: string | null;
}
