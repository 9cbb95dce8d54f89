import { createHash } from "node:crypto";

/** The values that identify one start of a check. */
export interface CheckStart {
  readonly lineId: string;
  readonly stationKey: string;
  readonly commit: string | null;
  /** The CI attempt, or a value in its place. */
  readonly attempt: string;
}

/** Returns the `Idempotency-Key` of a start. A retry of a start has the same key; another attempt has another key. */
export function idempotencyKeyOf({ lineId, stationKey, commit, attempt }: CheckStart): string {
  const parts = JSON.stringify([lineId, stationKey, commit, attempt]);
  return `replay-check-${createHash("sha256").update(parts).digest("hex")}`;
}
