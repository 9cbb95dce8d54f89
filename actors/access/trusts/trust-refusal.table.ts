import type { Turn } from "../../../runtime/turns/turn.js";
import { readPastDamage } from "../../../storage/past-damage.js";
import { table } from "../../../storage/table.js";
import type { WorkloadFault } from "../tokens/workload-token.js";

/** An exchange that a trust refused, as users who manage the trust see it. */
export interface TrustRefusal extends WorkloadFault {
  /** When this refusal last occurred. */
  readonly at: string;
  /** How often this refusal has occurred. */
  readonly times: number;
}

/** Key: `[trust, id]`, in the order of the last occurrence. */
export const refusals = table<TrustRefusal>("trust-refusal");

/** Maximum number of stored refusals per trust. The refusal with the oldest last occurrence is removed first. */
export const MAX_REFUSALS = 20;
/** How long a refusal is stored, in milliseconds. */
export const REFUSAL_RETENTION_MS = 7 * 24 * 60 * 60 * 1_000;

/**
 * Records a refusal. Identical refusals share one row with a count, so that the refusals of one workload do not evict
 * the refusals of other workloads.
 */
export function recordRefusal(turn: Turn, trustId: string, fault: WorkloadFault): void {
  const { partition } = turn.self;
  const stored = refusals.entries(readPastDamage(turn), partition, [trustId]);
  const same = stored.find(({ value }) => isSame(value, fault));
  const replaced = same ?? (stored.length >= MAX_REFUSALS ? stored[0] : undefined);
  if (replaced !== undefined) turn.remove(replaced.key);
  const { check, wanted, came, verified } = fault;
  const at = new Date(turn.now).toISOString();
  const refusal = { at, times: (same?.value.times ?? 0) + 1, check, wanted, came, verified };
  refusals.put(turn, partition, [trustId, turn.newId("refusal")], refusal);
}

/** Removes a trust's old refusals, or all of them. Returns when to sweep again; null if no refusal is left. */
export function sweepRefusals(turn: Turn, trustId: string, which: "old" | "all"): number | null {
  const stored = refusals.entries(readPastDamage(turn), turn.self.partition, [trustId]);
  const staying = stored.filter(
    ({ value }) => which === "old" && Date.parse(value.at) + REFUSAL_RETENTION_MS > turn.now,
  );
  for (const entry of stored) if (!staying.includes(entry)) turn.remove(entry.key);
  const [first] = staying;
  return first === undefined ? null : Date.parse(first.value.at) + REFUSAL_RETENTION_MS;
}

function isSame(left: WorkloadFault, right: WorkloadFault): boolean {
  return (
    left.check === right.check &&
    left.came === right.came &&
    left.wanted === right.wanted &&
    left.verified === right.verified
  );
}
