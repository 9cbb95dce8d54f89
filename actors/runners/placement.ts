import type { FittingRunners } from "./fitting-runners.js";
import { KnownNeeds } from "./known-needs.js";
import { LaneLoads } from "./lane-loads.js";
import { getLane, WORK_LANE } from "./run-queue.table.js";
import type { ClaimRow, RunNeeds, RunnerRow } from "./runner.table.js";
import { RunnerGroup, type RunnerLoad } from "./runner-group.js";

/** A pool as placement sees it. */
export interface PlacementPool {
  readonly id: string;
  readonly key: string;
  /** Labels of all its runners, beside their own. */
  readonly labels: readonly string[];
  /** Runs at once over all its runners; null for no bound. */
  readonly concurrency: number | null;
}

/** What a workspace allows its runs. */
export interface PlacementRules {
  readonly pools: readonly PlacementPool[];
  /** The pool of runs that name none; null lets them go to any. */
  readonly defaultPoolId: string | null;
  /** Runs at once over all runners of the workspace; null for no bound. */
  readonly maxRuns: number | null;
  /** How much of each pool's slots the lanes beside `work` may have together, in percent; one slot at least. */
  readonly besideWorkPercent: number;
}

/** A pool with the counts over its runners. */
interface PoolLoad {
  readonly pool: PlacementPool;
  /** By what their runners offer. */
  readonly groups: Map<string, RunnerGroup>;
  /** Slots of its connected runners. */
  slots: number;
  /** Claims of its runners, away or not. */
  held: number;
  /** Those of the claims that are in other lanes than `work`. */
  heldBesideWork: number;
}

/** A runner and where it is counted. */
interface KnownRunner extends RunnerLoad {
  heldBesideWork: number;
  /** Of its row. */
  readonly signature: string;
  /** Null while it is away, and when its pool is gone. */
  group: RunnerGroup | null;
}

/**
 * The runners of a workspace, what they hold, and which of them has room for what. Owns all counts over them. It is
 * told of each row that comes, changes or goes, and says at any time what one made of the rows would say. Nothing that
 * it is told or asked costs more with more runners, but for what it meets for the first time: new needs are held
 * against each group of runners, and a new group against all known needs.
 *
 * 1. A connected runner of a pool that exists stands in the one group of what it offers; no group is empty.
 * 2. A runner holds as many runs as it has claims. Claims of runners that are gone count for the workspace and the lane.
 */
export class Placement {
  readonly rules: PlacementRules;
  readonly lanes = new LaneLoads();
  readonly needs = new KnownNeeds();
  readonly #pools: ReadonlyMap<string, PoolLoad>;
  readonly #runners = new Map<string, KnownRunner>();
  /** Lanes of the claims by run, by runner. */
  readonly #claims = new Map<string, Map<string, string>>();
  #held = 0;
  #shape = 0;

  constructor(rules: PlacementRules) {
    this.rules = rules;
    this.#pools = new Map(
      rules.pools.map((pool) => [pool.id, { pool, groups: new Map(), slots: 0, held: 0, heldBesideWork: 0 }]),
    );
  }

  /** The runner is there, or offers something else. */
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
    this.#countHeld(row.poolId, runner);
    const pool = this.#pools.get(row.poolId);
    if (!row.connected || pool === undefined) return;
    this.#countSlots(row.poolId, row.slots);
    runner.group = this.#group(pool, runner);
    runner.group.join(runner);
  }

  /** The runner is gone; its claims are not, until they are removed. */
  removeRunner(runnerId: string): void {
    const runner = this.#runners.get(runnerId);
    if (runner === undefined) return;
    const { row, signature, group, held, heldBesideWork } = runner;
    this.#runners.delete(runnerId);
    this.#countHeld(row.poolId, { held: -held, heldBesideWork: -heldBesideWork });
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

  /** Takes a claim back; one that is not there is fine. Gives back the lane that it was in, or null. */
  removeClaim(runnerId: string, runId: string): string | null {
    const claims = this.#claims.get(runnerId);
    const lane = claims?.get(runId);
    if (claims === undefined || lane === undefined) return null;
    claims.delete(runId);
    if (claims.size === 0) this.#claims.delete(runnerId);
    this.#hold(runnerId, lane, -1);
    return lane;
  }

  /** The workspace has as many runs under way as it allows. */
  get isFull(): boolean {
    return this.rules.maxRuns !== null && this.#held >= this.rules.maxRuns;
  }

  /** Rises when a group of runners comes or goes. */
  get shape(): number {
    return this.#shape;
  }

  pool(id: string): PlacementPool | undefined {
    return this.#pools.get(id)?.pool;
  }

  /** The groups of the pool that these needs go to, or of every pool. */
  groups({ poolId }: RunNeeds): RunnerGroup[] {
    const pools = poolId === null ? [...this.#pools.values()] : [this.#pools.get(poolId)];
    return pools.flatMap((pool) => (pool === undefined ? [] : [...pool.groups.values()]));
  }

  /** The runners that fit a run; they stay what they are now only while nothing else is told. */
  fitting({ poolId, labels, harness, features = [] }: RunNeeds): FittingRunners {
    const needs: RunNeeds = { poolId: poolId ?? this.rules.defaultPoolId, labels, harness, features };
    return this.needs.get(needs, () => this.groups(needs));
  }

  /** The runner that the next run of these needs in that lane goes to; null when it has to wait. */
  best(fitting: FittingRunners, lane: string): RunnerRow | null {
    if (this.isFull || this.lanes.isFull(lane)) return null;
    return fitting.best((poolId) => this.takesMore(poolId, lane))?.row ?? null;
  }

  /** Whether the pool's own limits let a run of the lane in. */
  takesMore(poolId: string, lane: string): boolean {
    const load = this.#pools.get(poolId);
    if (load === undefined || isAtConcurrency(load)) return false;
    return lane === WORK_LANE || load.heldBesideWork < this.maxBesideWork(poolId);
  }

  /** Slots of a pool that the lanes beside `work` may have together. */
  maxBesideWork(poolId: string): number {
    const slots = this.#pools.get(poolId)?.slots ?? 0;
    return Math.max(1, Math.floor((slots * this.rules.besideWorkPercent) / 100));
  }

  isAtConcurrency(poolId: string): boolean {
    const load = this.#pools.get(poolId);
    return load !== undefined && isAtConcurrency(load);
  }

  /** All that it knows as plain data, but for needs: those are known once they were asked about. */
  describe(): unknown {
    const pools = [...this.#pools.values()].map(({ pool, groups, slots, held, heldBesideWork }) => {
      const byOffer = new Map([...groups].map(([signature, group]) => [signature, group.describe()]));
      return { pool, slots, held, heldBesideWork, groups: byOffer };
    });
    const runners = new Map([...this.#runners].map(([id, { group: _group, ...runner }]) => [id, runner]));
    const { rules } = this;
    return { rules, pools, runners, claims: this.#claims, held: this.#held, lanes: this.lanes.describe() };
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
    this.#held += more;
    this.lanes.hold(lane, more);
    const runner = this.#runners.get(runnerId);
    if (runner === undefined) return;
    const moreBesideWork = lane === WORK_LANE ? 0 : more;
    this.#countHeld(runner.row.poolId, { held: more, heldBesideWork: moreBesideWork });
    runner.heldBesideWork += moreBesideWork;
    const held = runner.held + more;
    if (runner.group !== null) {
      runner.group.change(runner, runner.row, held);
      return;
    }
    runner.held = held;
    runner.free = runner.row.slots - held;
  }

  #countHeld(poolId: string, more: Pick<KnownRunner, "held" | "heldBesideWork">): void {
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

/** Runners with the same signature fit the same runs. */
function toSignature({ poolId, labels, harnesses, features = [] }: RunnerRow): string {
  return JSON.stringify([poolId, ...[labels, harnesses, features].map((names) => [...new Set(names)].sort())]);
}
