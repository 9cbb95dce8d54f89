import { Queue } from "../schedule/queue.js";
import { TurnoverMap } from "../schedule/turnover-map.js";

/** The limits of a lane: its number of places, and the maximum for each client and for each target of a client. */
export interface LaneLimits {
  readonly name: string;
  /** Places of the whole process. */
  readonly places: number;
  /** Number of places that are reserved for clients without a place. */
  readonly kept: number;
  /** Maximum places of one client at a time. */
  readonly perClient: number;
  /** Maximum places of one client at a time for one target. */
  readonly perTarget: number;
}

/** What a place is used for: the client whose work is done, usually a workspace, and the target of the request. */
export interface PlaceFor {
  readonly client: string;
  readonly target: string;
}

/** A request that waits for a place. */
export interface PlaceWaiter extends PlaceFor {
  /** Whether the request is waiting. For the lane's use only. */
  isWaiting: boolean;
  /** Called once, when the lane has granted the place. */
  granted(): void;
}

/** Why an effect waits, and since when. */
export interface EffectWait {
  readonly sinceMs: number;
  /** The limit that the effect waits for; null while it waits for its preparation. */
  readonly bound: LaneBound | null;
  /** The target of the effect's run, such as a host; empty while the target is unknown. */
  readonly target: string;
}

/** The kind of limit that a waiter waits for. */
export type LaneBound = "target" | "client" | "process";

interface Target {
  readonly name: string;
  taken: number;
  /** Cancelled waiters stay in the queue until they reach its front. */
  readonly waiters: Queue<PlaceWaiter>;
  /** Whether the target is in its client's queue. */
  isQueued: boolean;
}

interface Client {
  readonly name: string;
  taken: number;
  readonly targets: TurnoverMap<string, Target>;
  /** Targets with waiters that have not reached `perTarget`. They take turns. */
  readonly queue: Queue<Target>;
  /** The queue that currently serves this client; null for none. The client's entries in other queues are outdated. */
  standsIn: Queue<Client> | null;
  /**
   * All queues that contain this client, even if the entry is outdated. No queue contains the client more than once.
   */
  readonly heldBy: Set<Queue<Client>>;
}

/**
 * Assigns places for work outside the process, so that one client's work cannot block another's. Tracks in memory which
 * clients have places and which wait.
 *
 * 1. No client has more places than {@link LaneLimits} allows. Even if clients never release their places, `kept` places
 *    remain for clients without one.
 * 2. A free place is never left unused while a waiter is allowed to take it.
 * 3. Waiting clients without a place go first, then all others in turn. Within a client, targets take turns. Within a
 *    target, waiters are served in order of arrival.
 */
export class Lane {
  readonly #clients = new TurnoverMap<string, Client>();
  /**
   * The clients with a queued target, in two queues: clients without a place, which are served first, and clients with
   * a place.
   */
  readonly #without = new Queue<Client>();
  readonly #with = new Queue<Client>();
  #waiting = 0;
  #taken = 0;
  /** Number of taken places, except the first place of each client. */
  #further = 0;
  /** Whether the lane is currently granting free places. */
  #granting = false;

  constructor(readonly limits: LaneLimits) {}

  /** Number of taken places. */
  get taken(): number {
    return this.#taken;
  }

  /** Number of waiters. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a place if one is available, and returns whether it did. Call `release` to return the place. */
  take(place: PlaceFor): boolean {
    // While the lane grants free places to waiters, a new request may not take a place before them.
    if (this.#granting || this.findBound(place) !== null) return false;
    const client = this.#getClient(place.client);
    this.#occupy(client, getTarget(client, place.target));
    return true;
  }

  /** Waits for a place. Call it after `take` returned false. */
  wait(waiter: PlaceWaiter): void {
    const client = this.#getClient(waiter.client);
    const target = getTarget(client, waiter.target);
    target.waiters.push(waiter);
    waiter.isWaiting = true;
    this.#waiting += 1;
    this.#queue(client, target);
  }

  /** Ends a wait. A waiter whose place was already granted keeps the place. */
  cancel(waiter: PlaceWaiter): void {
    this.#endWait(waiter);
  }

  /** Returns a place, and grants free places to the next waiters. */
  release(place: PlaceFor): void {
    const client = this.#getClient(place.client);
    const target = getTarget(client, place.target);
    this.#taken -= 1;
    client.taken -= 1;
    if (client.taken > 0) this.#further -= 1;
    target.taken -= 1;
    this.#queue(client, target);
    this.#forget(client, target);
    // A waiter may release its place while it is being granted the place. Return then: the outer call's loop grants the
    // free place, without recursion.
    if (this.#granting) return;
    this.#granting = true;
    try {
      while (this.#grant()) {}
    } finally {
      this.#granting = false;
    }
  }

  /** Returns the limit that keeps this request from getting a place; null if a place is available. */
  findBound({ client: name, target }: PlaceFor): LaneBound | null {
    const { places, kept, perClient, perTarget } = this.limits;
    const client = this.#clients.get(name);
    if ((client?.targets.get(target)?.taken ?? 0) >= perTarget) return "target";
    const taken = client?.taken ?? 0;
    if (taken >= perClient) return "client";
    return this.#taken < places && (taken === 0 || this.#further < places - kept) ? null : "process";
  }

  /** Grants a free place to the next waiter. Returns false if no waiter is allowed to have one. */
  #grant(): boolean {
    const { places, kept } = this.limits;
    if (this.#taken >= places) return false;
    const client = this.#next(this.#without) ?? (this.#further < places - kept ? this.#next(this.#with) : undefined);
    if (client === undefined) return false;
    client.standsIn = null;
    const target = client.queue.take();
    if (target === undefined) return true;
    target.isQueued = false;
    const waiter = this.#nextWaiter(target);
    if (waiter !== undefined) this.#occupy(client, target);
    this.#queue(client, target);
    this.#forget(client, target);
    waiter?.granted();
    return true;
  }

  #next(queue: Queue<Client>): Client | undefined {
    // Skip clients that have moved to the other queue, or that have reached a limit.
    for (let client = queue.take(); client !== undefined; client = queue.take()) {
      client.heldBy.delete(queue);
      if (client.standsIn === queue) return client;
      this.#forgetClient(client);
    }
    return undefined;
  }

  #nextWaiter(target: Target): PlaceWaiter | undefined {
    for (let waiter = target.waiters.take(); waiter !== undefined; waiter = target.waiters.take()) {
      if (this.#endWait(waiter)) return waiter;
    }
    return undefined;
  }

  /** Ends a waiter's wait. Returns false if it was already over. */
  #endWait(waiter: PlaceWaiter): boolean {
    const { isWaiting } = waiter;
    if (isWaiting) this.#waiting -= 1;
    waiter.isWaiting = false;
    return isWaiting;
  }

  #occupy(client: Client, target: Target): void {
    this.#taken += 1;
    if (client.taken > 0) this.#further += 1;
    client.taken += 1;
    target.taken += 1;
  }

  /** Adds the target to its client's queue if it has waiters and is below its limit. */
  #queue(client: Client, target: Target): void {
    if (!target.isQueued && target.waiters.length > 0 && target.taken < this.limits.perTarget) {
      target.isQueued = true;
      client.queue.push(target);
    }
    this.#stand(client);
  }

  #stand(client: Client): void {
    const isReady = client.queue.length > 0 && client.taken < this.limits.perClient;
    const queue = isReady ? (client.taken === 0 ? this.#without : this.#with) : null;
    client.standsIn = queue;
    if (queue === null || client.heldBy.has(queue)) return;
    client.heldBy.add(queue);
    queue.push(client);
  }

  #forget(client: Client, target: Target): void {
    if (target.taken === 0 && target.waiters.length === 0) client.targets.delete(target.name);
    this.#forgetClient(client);
  }

  #forgetClient(client: Client): void {
    if (client.targets.size === 0 && client.heldBy.size === 0) this.#clients.delete(client.name);
  }

  #getClient(name: string): Client {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client: Client = {
      name,
      taken: 0,
      targets: new TurnoverMap(),
      queue: new Queue(),
      standsIn: null,
      heldBy: new Set(),
    };
    this.#clients.set(name, client);
    return client;
  }
}

function getTarget(client: Client, name: string): Target {
  const known = client.targets.get(name);
  if (known !== undefined) return known;
  const target: Target = { name, taken: 0, waiters: new Queue(), isQueued: false };
  client.targets.set(name, target);
  return target;
}
