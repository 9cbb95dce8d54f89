import { Queue } from "./queue.js";
import { TurnoverMap } from "./turnover-map.js";

/** A lane: how many places it has, and who may have how many of them. */
export interface LaneLimits {
  readonly name: string;
  /** Places of the whole process. */
  readonly places: number;
  /** Of those, places that are kept for the first of each party: no second or further one takes them. */
  readonly kept: number;
  /** Places of one party at once. */
  readonly perParty: number;
  /** Places of one party at once for one target. */
  readonly perTarget: number;
}

/** What a place is taken for: a party is whoever the work is for, a target what it goes to. */
export interface PlaceFor {
  readonly party: string;
  readonly target: string;
}

/** Something that waits for a place. */
export interface PlaceWaiter extends PlaceFor {
  /** Whether it waits; for the lane alone. */
  isWaiting: boolean;
  /** Called once, with the place taken. */
  granted(): void;
}

/** What an effect waits for, and since when. */
export interface EffectWait {
  readonly sinceMs: number;
  /** Null while it waits for its turn to be prepared. */
  readonly bound: LaneBound | null;
  /** What it goes to; empty as long as that is not known. */
  readonly target: string;
}

/** Which bound keeps something waiting. */
export type LaneBound = "target" | "party" | "process";

interface Target {
  readonly name: string;
  taken: number;
  /** Those that were cancelled stay until their turn comes. */
  readonly waiters: Queue<PlaceWaiter>;
  /** Whether it stands in its party's queue. */
  isQueued: boolean;
}

interface Party {
  readonly name: string;
  taken: number;
  readonly targets: TurnoverMap<string, Target>;
  /** Targets with room at which somebody waits, in turn. */
  readonly queue: Queue<Target>;
  /** The queue of parties in which it stands. */
  standsIn: Queue<Party> | null;
  /** Queues of parties that hold it, each once: besides that one, those that it was in before. */
  readonly heldBy: Set<Queue<Party>>;
}

/**
 * Places for work that goes out of the process, so that nobody's work can hold up another's. Owns who has places and
 * who waits for one, in memory.
 *
 * 1. Nobody has more places than {@link LaneLimits} allows. Whatever parties that have one hang on to, `kept` places are
 *    left for those without.
 * 2. No place is free that one of those who wait may have.
 * 3. Among parties that wait those without a place go first, then all in turn; within one its targets in turn; at one
 *    target who came first.
 */
export class Lane {
  readonly #parties = new TurnoverMap<string, Party>();
  /** Parties with a target with room at which somebody waits: those without a place, and the others. */
  readonly #without = new Queue<Party>();
  readonly #with = new Queue<Party>();
  #waiting = 0;
  #taken = 0;
  /** Places beyond the first of a party. */
  #further = 0;
  /** Free places are being given out. */
  #granting = false;

  constructor(readonly limits: LaneLimits) {}

  /** Places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a place if there is one; `release` gives it back. */
  take(place: PlaceFor): boolean {
    // Whoever comes while places are given out waits for its turn.
    if (this.#granting || this.boundOf(place) !== null) return false;
    const party = this.#partyOf(place.party);
    this.#occupy(party, targetOf(party, place.target));
    return true;
  }

  /** Waits for a place, after `take` gave none. */
  wait(waiter: PlaceWaiter): void {
    const party = this.#partyOf(waiter.party);
    const target = targetOf(party, waiter.target);
    target.waiters.push(waiter);
    waiter.isWaiting = true;
    this.#waiting += 1;
    this.#queue(party, target);
  }

  /** Waits no longer. Whoever was granted a place has it all the same. */
  cancel(waiter: PlaceWaiter): void {
    this.#leave(waiter);
  }

  /** Gives a place back, and to whoever is next. */
  release(place: PlaceFor): void {
    const party = this.#partyOf(place.party);
    const target = targetOf(party, place.target);
    this.#taken -= 1;
    party.taken -= 1;
    if (party.taken > 0) this.#further -= 1;
    target.taken -= 1;
    this.#queue(party, target);
    this.#forget(party, target);
    // A place may be given back by whoever was just granted it: then the loop below goes on, however many do so.
    if (this.#granting) return;
    this.#granting = true;
    try {
      while (this.#grant()) {}
    } finally {
      this.#granting = false;
    }
  }

  /** The bound that keeps somebody from a place, or null when there is one. */
  boundOf({ party: name, target }: PlaceFor): LaneBound | null {
    const { places, kept, perParty, perTarget } = this.limits;
    const party = this.#parties.get(name);
    if ((party?.targets.get(target)?.taken ?? 0) >= perTarget) return "target";
    const taken = party?.taken ?? 0;
    if (taken >= perParty) return "party";
    return this.#taken < places && (taken === 0 || this.#further < places - kept) ? null : "process";
  }

  /** Gives the next free place to whoever's turn it is; false when nobody that waits may have one. */
  #grant(): boolean {
    const { places, kept } = this.limits;
    if (this.#taken >= places) return false;
    const party = this.#next(this.#without) ?? (this.#further < places - kept ? this.#next(this.#with) : undefined);
    if (party === undefined) return false;
    party.standsIn = null;
    const target = party.queue.take();
    if (target === undefined) return true;
    target.isQueued = false;
    const waiter = this.#nextWaiter(target);
    if (waiter !== undefined) this.#occupy(party, target);
    this.#queue(party, target);
    this.#forget(party, target);
    waiter?.granted();
    return true;
  }

  #next(queue: Queue<Party>): Party | undefined {
    // A party that has moved to the other queue, or that may have no more, is only passed over.
    for (let party = queue.take(); party !== undefined; party = queue.take()) {
      party.heldBy.delete(queue);
      if (party.standsIn === queue) return party;
      this.#forgetParty(party);
    }
    return undefined;
  }

  #nextWaiter(target: Target): PlaceWaiter | undefined {
    for (let waiter = target.waiters.take(); waiter !== undefined; waiter = target.waiters.take()) {
      if (this.#leave(waiter)) return waiter;
    }
    return undefined;
  }

  /** Whether it waited until now. */
  #leave(waiter: PlaceWaiter): boolean {
    const { isWaiting } = waiter;
    if (isWaiting) this.#waiting -= 1;
    waiter.isWaiting = false;
    return isWaiting;
  }

  #occupy(party: Party, target: Target): void {
    this.#taken += 1;
    if (party.taken > 0) this.#further += 1;
    party.taken += 1;
    target.taken += 1;
  }

  /** Has the target stand in line if somebody waits there and it has room. */
  #queue(party: Party, target: Target): void {
    if (!target.isQueued && target.waiters.length > 0 && target.taken < this.limits.perTarget) {
      target.isQueued = true;
      party.queue.push(target);
    }
    this.#stand(party);
  }

  #stand(party: Party): void {
    const isReady = party.queue.length > 0 && party.taken < this.limits.perParty;
    const queue = isReady ? (party.taken === 0 ? this.#without : this.#with) : null;
    party.standsIn = queue;
    if (queue === null || party.heldBy.has(queue)) return;
    party.heldBy.add(queue);
    queue.push(party);
  }

  #forget(party: Party, target: Target): void {
    if (target.taken === 0 && target.waiters.length === 0) party.targets.delete(target.name);
    this.#forgetParty(party);
  }

  #forgetParty(party: Party): void {
    if (party.targets.size === 0 && party.heldBy.size === 0) this.#parties.delete(party.name);
  }

  #partyOf(name: string): Party {
    const known = this.#parties.get(name);
    if (known !== undefined) return known;
    const party: Party = {
      name,
      taken: 0,
      targets: new TurnoverMap(),
      queue: new Queue(),
      standsIn: null,
      heldBy: new Set(),
    };
    this.#parties.set(name, party);
    return party;
  }
}

function targetOf(party: Party, name: string): Target {
  const known = party.targets.get(name);
  if (known !== undefined) return known;
  const target: Target = { name, taken: 0, waiters: new Queue(), isQueued: false };
  party.targets.set(name, target);
  return target;
}
