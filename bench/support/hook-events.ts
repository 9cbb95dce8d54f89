import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Store } from "../../storage/store.js";
import { percentile } from "./table.js";

export const IN_FLIGHT = 256;
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/**
 * The figures of a round: deliveries per second, percentiles of the delivery time in milliseconds, and the CPU time per
 * event.
 */
export interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicros: number;
}

/** Calls `work` with a new store in a temporary folder. */
export async function inFolder<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    return await work(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Delivers events one after another or concurrently; `n` is the number of the event. */
export interface Deliverer {
  deliver(n: number): Promise<void>;
  close(): Promise<void>;
}

/** Delivers `count` events starting at `first`, with limited concurrency, and measures them. */
export async function measure({ deliver }: Deliverer, first: number, count: number): Promise<Figures> {
  let next = first;
  const times: number[] = [];
  const work = async () => {
    while (next < first + count) {
      const begun = performance.now();
      await deliver(next++);
      times.push(performance.now() - begun);
    }
  };
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const seconds = (performance.now() - begun) / 1_000;
  const used = process.cpuUsage(cpu);
  return {
    perSecond: count / seconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    cpuMicros: (used.user + used.system) / count,
  };
}

/** Returns the n-th event: a moved task. */
export function toWork(n: number, workspaceId: string, teamId: string): WorkEvent {
  return {
    on: "task.moved",
    occurrence: `occ_${String(n).padStart(26, "0")}`,
    workspaceId,
    teamId,
    lineId: "line_1",
    stationId: "sta_1",
    task: {
      id: `task_${n}`,
      title: "A task of the benchmark",
      url: "",
      line: "notes",
      station: "Review",
      stationKey: "review",
      marks: {},
      repositories: ["acme/project"],
      pullRequest: null,
    },
    run: null,
    event: { at: new Date().toISOString(), from: "work", to: "review" },
    causes: [],
  };
}
