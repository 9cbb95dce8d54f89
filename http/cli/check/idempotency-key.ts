import { createHash } from "node:crypto";

/** What makes one start of a check the same as another. */
export interface CheckStart {
  readonly lineId: string;
  readonly stationKey: string;
  readonly commit: string | null;
  /** The CI attempt, or what stands for it. */
  readonly attempt: string;
}

/** The `Idempotency-Key` of a start: the same for a start whose answer was lost, another one for each attempt. */
export function idempotencyKeyOf({ lineId, stationKey, commit, attempt }: CheckStart): string {
  const parts = JSON.stringify([lineId, stationKey, commit, attempt]);
  return `replay-check-${createHash("sha256").update(parts).digest("hex")}`;
}
