import type { Reading } from "../storage/store.js";

/** Every partition that holds something, in order; each costs one read. */
export function listPartitions(reading: Reading): string[] {
  const partitions: string[] = [];
  for (;;) {
    const [row] = reading.range({ prefix: [], after: [partitions.at(-1) ?? ""], limit: 1 });
    if (row === undefined) return partitions;
    partitions.push(String(row.key[0]));
  }
}
