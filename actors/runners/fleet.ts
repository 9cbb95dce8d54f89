import type { RowMemory } from "../../runtime/rows/row-memory.js";
import { rowSpace } from "../../storage/keys.js";
import { type Change, isDamage, type Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import { queuedRuns } from "./run-queue.table.js";
import { claims, runners } from "./runner.table.js";

/** The work that waits for a pool, and the pool's runners, for the metrics. */
export interface PoolLoad {
  /** The pool's key; `(any)` for runs that name no pool, `(other)` for all pools beyond the limits together. */
  readonly pool: string;
  readonly queued: number;
  /** When the oldest waiting run was queued, in milliseconds since 1970; null if none waits. */
  readonly oldestMs: number | null;
  /** Number of connected runners. `away` is the number of disconnected runners whose lease has not expired. */
  readonly connected: number;
  readonly away: number;
  readonly slots: number;
  /** Free slots of connected runners. */
  readonly free: number;
}

/**
 * Maximum number of pools that the metrics show by key, over all workspaces. {@link MAX_POOLS_PER_WORKSPACE} is the
 * maximum per workspace.
 */
const MAX_POOLS = 100;
const MAX_POOLS_PER_WORKSPACE = 10;
const ANY = "(any)";
const OTHER = "(other)";

interface Waiting {
  readonly pool: string;
  readonly queuedAtMs: number;
}
interface Known {
  readonly pool: string;
  readonly connected: boolean;
  readonly slots: number;
}
type Sums = { -readonly [Field in Exclude<keyof PoolLoad, "pool">]: PoolLoad[Field] };

/**
 * Counts the queued runs, runners and claims of all workspaces in memory, for the metrics. After the first read of a
 * workspace's rows, each change of a row updates the counts. So the metrics only read the rows of the shown pools.
 * Memory use grows with the queues and with the number of known runners.
 *
 * Metrics show pools by key. To limit the number of series, they show only the first pools that have runners or waiting
 * runs: at most {@link MAX_POOLS_PER_WORKSPACE} pools per workspace, and {@link MAX_POOLS} in total. A shown pool stays
 * shown until the process ends. All other pools count as `(other)`. Pools of several workspaces with the same key share
 * one series.
 */
export class Fleet implements RowMemory {
  readonly #queued = new Map<string, Waiting>();
  readonly #runners = new Map<string, Known>();
  /** Ids of the claimed runs, by runner id. */
  readonly #claims = new Map<string, Set<string>>();
  /** The pools that the metrics show by key, as `<workspace>\0<pool>`. `#shownOf` has their number by workspace. */
  readonly #shown = new Set<string>();
  readonly #shownOf = new Map<string, number>();

  /** Reads the rows of a workspace. {@link applied} may have received some of these rows before. */
  build(reading: Reading, partition: string): void {
    for (const { name } of [queuedRuns, runners, claims]) {
      const onDamaged = () => undefined;
      const rows = reading.range({ prefix: [partition, rowSpace, name], onDamaged });
      this.applied(rows.map(({ key, value }) => ({ op: "put", key, value })));
    }
  }

  applied(changes: readonly Change[]): void {
    for (const change of changes) {
      const { key } = change;
      if (key[1] !== rowSpace) continue;
      if (key[2] === queuedRuns.name) this.#queue(change);
      else if (key[2] === runners.name) this.#know(change);
      else if (key[2] === claims.name) this.#claim(change);
    }
  }

  /** Returns the load of each shown pool, by key. `reading` finds the keys of at most {@link MAX_POOLS} pools. */
  describe(reading: Reading): readonly PoolLoad[] {
    const sums = new Map<string, Sums>();
    const names = new Map<string, string>();
    for (const pool of this.#shown) names.set(pool, findKey(reading, pool));
    const sumsOf = (pool: string): Sums => {
      const name = pool.endsWith("\0") ? ANY : (names.get(pool) ?? OTHER);
      const known = sums.get(name) ?? { queued: 0, oldestMs: null, connected: 0, away: 0, slots: 0, free: 0 };
      sums.set(name, known);
      return known;
    };
    for (const pool of this.#shown) sumsOf(pool);
    for (const { pool, queuedAtMs } of this.#queued.values()) {
      const of = sumsOf(pool);
      of.queued += 1;
      of.oldestMs = Math.min(of.oldestMs ?? queuedAtMs, queuedAtMs);
    }
    for (const [id, { pool, connected, slots }] of this.#runners) {
      const of = sumsOf(pool);
      of[connected ? "connected" : "away"] += 1;
      if (!connected) continue;
      of.slots += slots;
      of.free += Math.max(0, slots - (this.#claims.get(id)?.size ?? 0));
    }
    return [...sums].map(([pool, of]) => ({ pool, ...of }));
  }

  #queue(change: Change): void {
    const id = change.key.join("\0");
    const row = queuedRuns.toRow(change);
    if (row === undefined) this.#queued.delete(id);
    else {
      const pool = this.#toPool(change, row.poolId);
      this.#queued.set(id, { pool, queuedAtMs: row.queuedAtMs });
    }
  }

  #know(change: Change): void {
    const [workspaceId, , , runnerId] = change.key;
    const row = runners.toRow(change);
    const id = `${workspaceId}\0${runnerId}`;
    if (row === undefined) this.#runners.delete(id);
    else {
      const pool = this.#toPool(change, row.poolId);
      this.#runners.set(id, { pool, connected: row.connected, slots: row.slots });
    }
  }

  #claim(change: Change): void {
    const [workspaceId, , , runnerId, runId] = change.key;
    const id = `${workspaceId}\0${runnerId}`;
    const held = this.#claims.get(id) ?? new Set();
    if (change.op === "put") this.#claims.set(id, held.add(String(runId)));
    else if (held.delete(String(runId)) && held.size === 0) this.#claims.delete(id);
  }

  /** Returns the internal name of a pool. If the limits allow, also marks the pool as shown in the metrics. */
  #toPool({ key: [partition] }: Change, poolId: string | null): string {
    const workspaceId = String(partition);
    const pool = `${workspaceId}\0${poolId ?? ""}`;
    const shown = this.#shownOf.get(workspaceId) ?? 0;
    const isFull = this.#shown.size >= MAX_POOLS || shown >= MAX_POOLS_PER_WORKSPACE;
    if (poolId !== null && !isFull && !this.#shown.has(pool)) {
      this.#shown.add(pool);
      this.#shownOf.set(workspaceId, shown + 1);
    }
    return pool;
  }
}

function findKey(reading: Reading, pool: string): string {
  const [workspaceId = "", poolId = ""] = pool.split("\0");
  try {
    return findResource<{ readonly key: string }>(reading, workspaceId, "runner-pool", poolId)?.fields.key ?? OTHER;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return OTHER;
  }
}
