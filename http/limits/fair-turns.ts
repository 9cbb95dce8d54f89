import type { Caller } from "../../actors/caller.js";
import type { Scheduler } from "../../runtime/clock.js";
import { Queue } from "../../runtime/queue.js";
import { sourceOf } from "./client-address.js";

/** How long the event loop has been away from its input when no more turns are given, in milliseconds. */
const SHARED_SLICE_MS = 0.1;
/** The same while one party is alone: looking at the input less often, more gets done. */
const SLICE_MS = 2;
/** How long a party is taken to be about after a turn, in milliseconds. */
const ABOUT_MS = 10_000;
/** Most turns that are given before input is read again: what they have others do takes time as well. */
const MAX_TURNS = 16;
/** The same while several parties are about: more seldom fit into the slice, and each that does not is planned in vain. */
const MAX_SHARED_TURNS = 4;

/** Requests of a party that have begun and wait, from which on others of its own hardly begin. */
const MANY_BEGUN = 4;
/** Turns of begun requests to one that begins: with less than {@link MANY_BEGUN}, and with as many. */
const BEGINS_AFTER = 1;
const BEGINS_RARELY_AFTER = 63;

/** Most requests of a party that wait to begin. */
const MAX_WAITING = 1_000;

/** Parties whose last turn is remembered; one that is forgotten goes first. */
const MAX_REMEMBERED = 1_000;

/**
 * What came of waiting to begin: the turn, or none. `gone`: nobody waits for the answer any more. `late`: it waited
 * for too long.
 */
export type Begin = "turn" | "gone" | "late";

export interface FairTurnsOptions {
  readonly scheduler: Scheduler;
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
  /** Milliseconds that the event loop has waited for input, in all. When it waits, it has read all there is. */
  readonly idleMs: () => number;
}

/**
 * Shares the event loop between parties, so that however much one asks for, another waits for little of it.
 *
 * 1. Work that nobody waits before, with time left, begins at once.
 * 2. Of the parties that wait, the one whose last turn is longest ago has the next. Of its own work, few requests are
 *    under way at once, so that what they hold is soon garbage: see {@link OwnWork}.
 * 3. Between two reads of input there are at most {@link MAX_TURNS} turns that were waited for, or
 *    {@link MAX_SHARED_TURNS} while several parties are about, and none begins once
 *    {@link SHARED_SLICE_MS} are over, whatever took them; but one always. A party alone has {@link SLICE_MS}. Work that
 *    takes longer than that has to ask for a turn again in between. Such a slice ends by itself where the loop waits for
 *    input; its end is planned, at the cost of rounds of the loop, only where somebody waits, or where the loop did not
 *    wait since the slice before.
 * 4. At most {@link MAX_WAITING} requests of a party wait to begin. What nobody waits for any more, or has waited too
 *    long, takes no turn.
 */
export class FairTurns {
  readonly #scheduler: Scheduler;
  readonly #elapsedMs: () => number;
  readonly #idleMs: () => number;
  /** By party, none of them empty. */
  readonly #waiting = new Map<string, OwnWork>();
  #length = 0;
  /** When parties had their last turn, as a count of turns; the longest ago first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** Turns that are deferred and not given yet. */
  #planned = 0;
  /** When the present slice began; null between slices. */
  #begunMs: number | null = null;
  /** How long the loop had waited for input by then, in all. */
  #idledMs = 0;
  /** Whether the slice's end is planned. */
  #isEnding = false;
  /** Turns that were waited for and given in it. */
  #given = 0;
  /** Who had the last turn, and until when others are taken to be about. */
  #latest: string | null = null;
  #sharedUntilMs = 0;

  constructor({ scheduler, elapsedMs, idleMs }: FairTurnsOptions) {
    this.#scheduler = scheduler;
    this.#elapsedMs = elapsedMs;
    this.#idleMs = idleMs;
  }

  /** Whether more than one party is about. */
  get isShared(): boolean {
    return this.#elapsedMs() < this.#sharedUntilMs;
  }

  /**
   * Null when a request of the party may begin at once, `crowded` when too many of its own wait already; otherwise
   * resolves when it may or need not. It waits for at most `mostMs`.
   */
  enter(party: string, client: Leaving, mostMs: number): Promise<Begin> | "crowded" | null {
    if (this.#mayRun(party)) return null;
    const own = this.#ownOf(party);
    if (own.fresh.length >= MAX_WAITING) this.#length -= own.dropGone();
    if (own.fresh.length >= MAX_WAITING) return "crowded";
    return new Promise((resolve) => {
      own.fresh.push({ begin: resolve, client, latestMs: this.#elapsedMs() + mostMs });
      this.#lengthen();
    });
  }

  /** Null when a request that waited for something else may go on at once; otherwise resolves when it may. */
  goOn(party: string): Promise<void> | null {
    return this.#mayRun(party) ? null : this.next(party);
  }

  /** Resolves when the party has its next turn; others had theirs before, and input was read. */
  next(party: string): Promise<void> {
    return new Promise((resolve) => {
      this.#ownOf(party).begun.push(resolve);
      this.#lengthen();
    });
  }

  #mayRun(party: string): boolean {
    if (this.#length > 0 || !this.#hasTime()) return false;
    this.#hadTurn(party);
    return true;
  }

  #ownOf(party: string): OwnWork {
    const known = this.#waiting.get(party);
    if (known !== undefined) return known;
    const own = new OwnWork();
    this.#waiting.set(party, own);
    return own;
  }

  #lengthen(): void {
    this.#length += 1;
    if (this.#begunMs !== null) this.#planEnd();
    this.#plan();
  }

  #plan(): void {
    const most = Math.min(this.isShared ? MAX_SHARED_TURNS : MAX_TURNS, this.#length);
    while (this.#planned < most) {
      this.#planned += 1;
      this.#scheduler.defer(() => this.#give());
    }
  }

  /** What was waiting goes on when this has returned, and before the next deferred work. */
  #give(): void {
    this.#planned -= 1;
    if (this.#hasTime() || this.#given === 0) this.#giveNext();
    this.#plan();
  }

  #giveNext(): void {
    let next: string | undefined;
    let longestAgo = Number.POSITIVE_INFINITY;
    for (const party of this.#waiting.keys()) {
      const lastTurn = this.#lastTurns.get(party) ?? 0;
      if (lastTurn < longestAgo) [next, longestAgo] = [party, lastTurn];
      if (lastTurn === 0) break;
    }
    const own = next === undefined ? undefined : this.#waiting.get(next);
    if (next === undefined || own === undefined) return;
    const nowMs = this.#elapsedMs();
    this.#length -= own.dropUnwanted(nowMs);
    const isGiven = own.give(nowMs);
    if (own.isEmpty) this.#waiting.delete(next);
    if (!isGiven) return;
    this.#hadTurn(next);
    this.#given += 1;
    this.#length -= 1;
  }

  #hadTurn(party: string): void {
    this.#turns += 1;
    if (this.#latest !== null && this.#latest !== party) this.#sharedUntilMs = (this.#begunMs ?? 0) + ABOUT_MS;
    this.#latest = party;
    this.#lastTurns.delete(party);
    this.#lastTurns.set(party, this.#turns);
    const [oldest] = this.#lastTurns.size > MAX_REMEMBERED ? this.#lastTurns.keys() : [];
    if (oldest !== undefined) this.#lastTurns.delete(oldest);
  }

  #hasTime(): boolean {
    if (this.#begunMs === null || !this.#isEnding) {
      const idledMs = this.#idleMs();
      const hasWaited = idledMs !== this.#idledMs;
      if (this.#begunMs === null || hasWaited) {
        this.#idledMs = idledMs;
        this.#beginSlice();
        if (!hasWaited) this.#planEnd();
        return true;
      }
    }
    const isShared = this.#begunMs < this.#sharedUntilMs;
    if (this.#elapsedMs() - this.#begunMs < (isShared ? SHARED_SLICE_MS : SLICE_MS)) return true;
    this.#planEnd();
    return false;
  }

  #beginSlice(): void {
    this.#begunMs = this.#elapsedMs();
    this.#given = 0;
  }

  /** A slice begins while input is read; what is deferred then still belongs to it. */
  #planEnd(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#scheduler.defer(() => this.#scheduler.defer(() => this.#endSlice()));
  }

  /** While somebody waits, the next slice begins at once. */
  #endSlice(): void {
    if (this.#length === 0) {
      this.#begunMs = null;
      this.#isEnding = false;
    } else {
      this.#beginSlice();
      this.#scheduler.defer(() => this.#endSlice());
    }
  }
}

/** Whoever waits for an answer, and may leave. */
interface Leaving {
  readonly isGone: boolean;
}

/** A request that waits to begin. */
interface Fresh {
  readonly begin: (how: Begin) => void;
  readonly client: Leaving;
  readonly latestMs: number;
}

function beginOf({ client, latestMs }: Fresh, nowMs: number): Begin {
  if (client.isGone) return "gone";
  return latestMs <= nowMs ? "late" : "turn";
}

/** Requests without a turn to take that are dropped at once: each still has to be counted. */
const MAX_DROPPED = 100;

/**
 * What waits of one party: requests that begin, and those that have begun, each in the order they came. Begun ones go
 * before when there are many, but never always: a few that take long do not hold up the others for long.
 */
class OwnWork {
  readonly fresh = new Queue<Fresh>();
  readonly begun = new Queue<() => void>();
  /** Turns of begun requests since one began. */
  #sinceBegin = 0;

  get isEmpty(): boolean {
    return this.fresh.length + this.begun.length === 0;
  }

  /** Gives the next of them its turn; false when none waits. */
  give(nowMs: number): boolean {
    const after = this.begun.length < MANY_BEGUN ? BEGINS_AFTER : BEGINS_RARELY_AFTER;
    const begins = this.fresh.length > 0 && (this.begun.length === 0 || this.#sinceBegin >= after);
    this.#sinceBegin = begins ? 0 : this.#sinceBegin + 1;
    if (begins) {
      const fresh = this.fresh.take();
      fresh?.begin(beginOf(fresh, nowMs));
      return fresh !== undefined;
    }
    const goOn = this.begun.take();
    goOn?.();
    return goOn !== undefined;
  }

  /** Lets go of those at the front that need no turn at `nowMs`; returns how many. */
  dropUnwanted(nowMs: number): number {
    for (let dropped = 0; dropped < MAX_DROPPED; dropped++) {
      const first = this.fresh.first();
      const begin = first === undefined ? "turn" : beginOf(first, nowMs);
      if (begin === "turn") return dropped;
      this.fresh.take()?.begin(begin);
    }
    return MAX_DROPPED;
  }

  /** Lets go of all whose clients have gone away; returns how many. */
  dropGone(): number {
    const gone = this.fresh.removeWhere(({ client }) => client.isGone);
    for (const { begin } of gone) begin("gone");
    return gone.length;
  }
}

/**
 * Who a request's turn counts for: a token's workspace, a person, or the address of whoever has no credential. A person's
 * requests do not count for the workspace that they name: they could name another's.
 */
export function partyOf(caller: Caller | null, address: () => string): string {
  if (caller === null) return sourceOf(address());
  return caller.kind === "token" ? caller.workspaceId : caller.userId;
}
