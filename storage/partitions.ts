import { listKeys } from "./list-keys.js";
import type { Reading } from "./store.js";

/** Every partition that has entries, in key order: `~` is after those of workspaces. */
export function listPartitions(reading: Reading): string[] {
  const partitions: string[] = [];
  for (;;) {
    const next = nextPartition(reading, partitions.at(-1) ?? "");
    if (next === undefined) return partitions;
    partitions.push(next);
  }
}

/** The first partition after another one that has entries; the first of all comes after the empty text. */
export function nextPartition(reading: Reading, after: string): string | undefined {
  const keys = listKeys(reading, { prefix: [], after: [after], limit: 1 });
  return keys.map(([partition]) => String(partition)).find((partition) => partition > after);
}
