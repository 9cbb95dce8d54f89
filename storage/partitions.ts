import type { Reading } from "./store.js";

/** Every partition that has entries, in key order: `~` is after those of workspaces. */
export function listPartitions(reading: Reading): string[] {
  const partitions: string[] = [];
  for (;;) {
    const [row] = reading.range({ prefix: [], after: [partitions.at(-1) ?? ""], limit: 1 });
    if (row === undefined) return partitions;
    partitions.push(String(row.key[0]));
  }
}
