import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import type { Change } from "../../storage/store.js";

/**
 * An order to write the rows of creates through LMDB's binding without the service. Each batch has the rows of
 * `perBatch` creates.
 */
export interface RowsOrder {
  readonly changes: readonly Change[];
  readonly perBatch: number;
  readonly durationMs: number;
}

/** The CPU time, and the number of creates whose rows are on disk. */
export interface RowsWritten {
  readonly micros: number;
  readonly creates: number;
}

let creates = 0;

const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
const root = open<unknown, (string | number)[]>({ path: folder, noSubdir: false, overlappingSync: false });

async function write({ changes, perBatch, durationMs }: RowsOrder): Promise<RowsWritten> {
  const before = { ...process.cpuUsage(), creates };
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    await root.batch(() => {
      for (let create = 0; create < perBatch; create++) writeRows(changes);
    });
  }
  const { user, system } = process.cpuUsage(before);
  return { micros: user + system, creates: creates - before.creates };
}

/** Writes the rows of one create. New keys prevent it from overwriting earlier rows. */
function writeRows(changes: readonly Change[]): void {
  creates += 1;
  for (const change of changes) {
    if (change.op === "put") root.put([...change.key, creates], change.value);
  }
}

// Entry point of the child process, whose CPU time is measured.
process.on("message", async (order: RowsOrder | "close") => {
  if (order !== "close") {
    process.send?.(await write(order));
    return;
  }
  await root.close();
  await rm(folder, { recursive: true });
  process.disconnect();
});
process.send?.("ready");
