import { listKeys } from "./list-keys.js";
import type { Reading } from "./store.js";

/** Lists every partition that has entries, in key order. `~` comes after the workspaces. */
export function listPartitions(reading: Reading): string[] {
  const partitions: string[] = [];
  for (;;) {
    const next = nextPartition(reading, partitions.at(-1) ?? "");
    if (next === undefined) return partitions;
    partitions.push(next);
  }
}

/**
 * Returns the first partition after `after` that has entries; undefined if there is none. Pass an empty text to get the
 * first partition.
 */
export function nextPartition(reading: Reading, after: string): string | undefined {
  const keys = listKeys(reading, { prefix: [], after: [after], limit: 1 });
  return keys.map(([partition]) => String(partition)).find((partition) => partition > after);
}
