import type { FittingRunners } from "./fitting-runners.js";
import { KnownNeeds } from "./known-needs.js";
import { LaneLoads } from "./lane-loads.js";
import { getLane, WORK_LANE } from "./run-queue.table.js";
import type { RunnerRow } from "./runner.js";
import type { ClaimRow, RunNeeds } from "./runner.table.js";
import { RunnerGroup, type RunnerLoad } from "./runner-group.js";

/** The data of a pool that placement needs. */
export interface PlacementPool {
  readonly id: string;
  readonly key: string;
  /** Labels that all runners of the pool have in addition to their own. */
  readonly labels: readonly string[];
  /** Maximum number of simultaneous runs on all runners of the pool together; null for no limit. */
  readonly concurrency: number | null;
}

/** A workspace's rules for placing runs. */
export interface PlacementRules {
  readonly pools: readonly PlacementPool[];
  /** The pool of runs that name no pool; null for any pool. */
  readonly defaultPoolId: string | null;
  /** Maximum number of simultaneous runs in the workspace; null for no limit. */
  readonly maxRuns: number | null;
  /**
   * Share of each pool's slots that all lanes other than `work` may use together, in percent. They may always use at
   * least one slot.
   */
  readonly besideWorkPercent: number;
}

/** A pool with sums over its runners. */
interface PoolLoad {
  readonly pool: PlacementPool;
  /** The groups of the pool's connected runners, by signature. */
  readonly groups: Map<string, RunnerGroup>;
  /** Total slots of the pool's connected runners. */
  slots: number;
  /** Number of claims of the pool's runners, connected or away. */
  held: number;
  /** Number of claims of lanes other than `work`. */
  heldBesideWork: number;
}

/** A runner with its claims and its group. */
interface KnownRunner extends RunnerLoad {
  heldBesideWork: number;
  /** {@link toSignature} of the runner's row. */
  readonly signature: string;
  /** The group of the runner; null while the runner is away, or if its pool does not exist. */
  group: RunnerGroup | null;
}

/**
 * The runners of a workspace with their claims and free slots. Owns all sums over the runners. Each change of a row
 * updates these sums. They always equal the sums of a placement that is newly built from the rows.
 *
 * The cost of an update or a query does not grow with the number of runners, with two exceptions. New needs are
 * compared with each group. A new group is compared with all cached needs.
 *
 * 1. A connected runner of an existing pool is in the group that its offer belongs to. No group is empty.
 * 2. Claims of removed runners count for the workspace and the lane, but not for a pool.
 */
export class Placement {
  readonly rules: PlacementRules;
  readonly lanes = new LaneLoads();
  readonly needs = new KnownNeeds();
  readonly #pools: ReadonlyMap<string, PoolLoad>;
  readonly #runners = new Map<string, KnownRunner>();
  /** The lanes of claims, by runner id and run id. */
  readonly #claims = new Map<string, Map<string, string>>();
  #claimCount = 0;
  #shape = 0;

  constructor(rules: PlacementRules) {
    this.rules = rules;
    this.#pools = new Map(
      rules.pools.map((pool) => [pool.id, { pool, groups: new Map(), slots: 0, held: 0, heldBesideWork: 0 }]),
    );
  }

  /** Adds a runner, or updates its offer. */
  putRunner(row: RunnerRow): void {
    const known = this.#runners.get(row.runnerId);
    const signature = toSignature(row);
    if (known?.group != null && row.connected && known.signature === signature) {
      this.#countSlots(row.poolId, row.slots - known.row.slots);
      known.group.change(known, row, known.held);
      return;
    }
    this.removeRunner(row.runnerId);
    const lanes = [...(this.#claims.get(row.runnerId)?.values() ?? [])];
    const heldBesideWork = lanes.filter((lane) => lane !== WORK_LANE).length;
    const held = lanes.length;
    const runner: KnownRunner = { row, held, free: row.slots - held, heldBesideWork, signature, group: null };
    this.#runners.set(row.runnerId, runner);
    this.#addClaims(row.poolId, runner);
    const pool = this.#pools.get(row.poolId);
    if (!row.connected || pool === undefined) return;
    this.#countSlots(row.poolId, row.slots);
    runner.group = this.#group(pool, runner);
    runner.group.join(runner);
  }

  /** Removes a runner. The runner's claims stay until the caller removes them. */
  removeRunner(runnerId: string): void {
    const runner = this.#runners.get(runnerId);
    if (runner === undefined) return;
    const { row, signature, group, held, heldBesideWork } = runner;
    this.#runners.delete(runnerId);
    this.#addClaims(row.poolId, { held: -held, heldBesideWork: -heldBesideWork });
    if (group === null) return;
    this.#countSlots(row.poolId, -row.slots);
    group.leave(runner);
    if (group.counts.runners > 0) return;
    this.#pools.get(row.poolId)?.groups.delete(signature);
    this.needs.removeGroup(group);
    this.#shape += 1;
  }

  putClaim(claim: ClaimRow): void {
    const { runnerId, runId } = claim;
    this.removeClaim(runnerId, runId);
    const claims = this.#claims.get(runnerId) ?? new Map<string, string>();
    this.#claims.set(runnerId, claims.set(runId, getLane(claim)));
    this.#hold(runnerId, getLane(claim), 1);
  }

  /** Removes a claim if it exists. Returns the lane of the claim, or null if there was no claim. */
  removeClaim(runnerId: string, runId: string): string | null {
    const claims = this.#claims.get(runnerId);
    const lane = claims?.get(runId);
    if (claims === undefined || lane === undefined) return null;
    claims.delete(runId);
    if (claims.size === 0) this.#claims.delete(runnerId);
    this.#hold(runnerId, lane, -1);
    return lane;
  }

  /** Whether the workspace has reached its limit of claimed runs. */
  get isFull(): boolean {
    return this.rules.maxRuns !== null && this.#claimCount >= this.rules.maxRuns;
  }

  /** The number of additions and removals of groups so far. */
  get shape(): number {
    return this.#shape;
  }

  pool(id: string): PlacementPool | undefined {
    return this.#pools.get(id)?.pool;
  }

  /** Lists the groups of the pool that the needs name, or of all pools if the needs name none. */
  groups({ poolId }: RunNeeds): RunnerGroup[] {
    const pools = poolId === null ? [...this.#pools.values()] : [this.#pools.get(poolId)];
    return pools.flatMap((pool) => (pool === undefined ? [] : [...pool.groups.values()]));
  }

  /** Returns the runners that fit a run's needs. Valid until the next change of placement. */
  fitting({ poolId, labels, harness, features = [] }: RunNeeds): FittingRunners {
    const needs: RunNeeds = { poolId: poolId ?? this.rules.defaultPoolId, labels, harness, features };
    return this.needs.get(needs, () => this.groups(needs));
  }

  /** Returns the runner for the lane's next run with these needs; null if the run must wait. */
  best(fitting: FittingRunners, lane: string): RunnerRow | null {
    if (this.isFull || this.lanes.isFull(lane)) return null;
    return fitting.best((poolId) => this.takesMore(poolId, lane))?.row ?? null;
  }

  /** Whether the pool's limits allow another run of the lane. */
  takesMore(poolId: string, lane: string): boolean {
    const load = this.#pools.get(poolId);
    if (load === undefined || isAtConcurrency(load)) return false;
    return lane === WORK_LANE || load.heldBesideWork < this.maxBesideWork(poolId);
  }

  /** Number of slots of a pool for all lanes other than `work` together. */
  maxBesideWork(poolId: string): number {
    const slots = this.#pools.get(poolId)?.slots ?? 0;
    return Math.max(1, Math.floor((slots * this.rules.besideWorkPercent) / 100));
  }

  isAtConcurrency(poolId: string): boolean {
    const load = this.#pools.get(poolId);
    return load !== undefined && isAtConcurrency(load);
  }

  /** Returns the state as plain data, for comparisons. Leaves out the cached needs, which depend on earlier queries. */
  describe(): unknown {
    const pools = [...this.#pools.values()].map(({ pool, groups, slots, held, heldBesideWork }) => {
      const byOffer = new Map([...groups].map(([signature, group]) => [signature, group.describe()]));
      return { pool, slots, held, heldBesideWork, groups: byOffer };
    });
    const runners = new Map([...this.#runners].map(([id, { group: _group, ...runner }]) => [id, runner]));
    const { rules } = this;
    return { rules, pools, runners, claims: this.#claims, held: this.#claimCount, lanes: this.lanes.describe() };
  }

  #group(pool: PoolLoad, { row, signature }: KnownRunner): RunnerGroup {
    const known = pool.groups.get(signature);
    if (known !== undefined) return known;
    const group = new RunnerGroup(row, pool.pool.labels);
    pool.groups.set(signature, group);
    this.needs.addGroup(group);
    this.#shape += 1;
    return group;
  }

  #hold(runnerId: string, lane: string, more: 1 | -1): void {
    this.#claimCount += more;
    this.lanes.hold(lane, more);
    const runner = this.#runners.get(runnerId);
    if (runner === undefined) return;
    const moreBesideWork = lane === WORK_LANE ? 0 : more;
    this.#addClaims(runner.row.poolId, { held: more, heldBesideWork: moreBesideWork });
    runner.heldBesideWork += moreBesideWork;
    const held = runner.held + more;
    if (runner.group !== null) {
      runner.group.change(runner, runner.row, held);
      return;
    }
    runner.held = held;
    runner.free = runner.row.slots - held;
  }

  #addClaims(poolId: string, more: Pick<KnownRunner, "held" | "heldBesideWork">): void {
    const pool = this.#pools.get(poolId);
    if (pool === undefined) return;
    pool.held += more.held;
    pool.heldBesideWork += more.heldBesideWork;
  }

  #countSlots(poolId: string, more: number): void {
    const pool = this.#pools.get(poolId);
    if (pool !== undefined) pool.slots += more;
  }
}

function isAtConcurrency({ pool, held }: PoolLoad): boolean {
  return pool.concurrency !== null && held >= pool.concurrency;
}

/** Returns the runner's signature. Runners that fit the same runs have the same signature. */
function toSignature({ poolId, labels, harnesses, features = [] }: RunnerRow): string {
  return JSON.stringify([poolId, ...[labels, harnesses, features].map((names) => [...new Set(names)].sort())]);
}
