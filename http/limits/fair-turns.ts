import type { Caller } from "../../actors/caller.js";
import type { Scheduler } from "../../runtime/clock.js";
import { TurnoverMap } from "../../runtime/schedule/turnover-map.js";
import { sourceOf } from "./client-address.js";
import { type Begin, type Leaving, OwnWork } from "./own-work.js";

/** How long the event loop has been away from its input when no more turns are given, in milliseconds. */
const SHARED_SLICE_MS = 0.05;
/** The same while one party is alone: looking at the input less often, more gets done. */
const SLICE_MS = 2;
/** How long a party is taken to be about after a turn, in milliseconds. */
const ABOUT_MS = 10_000;
/** Most turns that are given before input is read again: what they have others do takes time as well. */
const MAX_TURNS = 16;
/** The same while several parties are about: more seldom fit into the slice, and each that does not is planned in vain. */
const MAX_SHARED_TURNS = 4;

/** Most parties that go ahead of what waits in a slice, each once. */
const MAX_AHEAD = 4;
/** Most parties that wait when one goes ahead: it is compared with each. */
const MAX_COMPARED = 16;

/** Most requests of a party that wait to begin. */
const MAX_WAITING = 1_000;

/** Parties whose last turn is remembered; one that is forgotten goes first. */
const MAX_REMEMBERED = 1_000;

export interface FairTurnsOptions {
  /** Has turns that were waited for begin, in line with other work. */
  readonly scheduler: Scheduler;
  /** The event loop, which reads input between two rounds: slices end in each, whatever other work is in line. */
  readonly loop: Scheduler;
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
  /** Milliseconds that the event loop has waited for input, in all. When it waits, it has read all there is. */
  readonly idleMs: () => number;
}

/**
 * Shares the event loop between parties, so that however much one asks for, another waits for little of it.
 *
 * 1. Work that nobody waits before, with time left, begins at once. Whatever the slice took, so does work of a party that
 *    has nothing waiting, while others are about: it goes ahead of all who have several waiting, and of who has one unless
 *    that party's last turn is longer ago. In a slice each does so once, and {@link MAX_AHEAD} in all. So who asks for one
 *    thing at a time does not wait for who asks for more.
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
  readonly #loop: Scheduler;
  readonly #elapsedMs: () => number;
  readonly #idleMs: () => number;
  /** By party, none of them empty. */
  readonly #waiting = new TurnoverMap<string, OwnWork>();
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
  /** Who went ahead of what waited in it. */
  #ahead: string[] = [];
  /** Who had the last turn, and until when others are taken to be about. */
  #latest: string | null = null;
  #sharedUntilMs = 0;

  constructor({ scheduler, loop, elapsedMs, idleMs }: FairTurnsOptions) {
    this.#scheduler = scheduler;
    this.#loop = loop;
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
    const hasTime = this.#hasTime();
    if (this.#length > 0 || !hasTime) {
      if (!this.#mayGoAhead(party)) return false;
      this.#ahead.push(party);
    }
    this.#hadTurn(party);
    return true;
  }

  #mayGoAhead(party: string): boolean {
    // A party alone has nobody to go ahead of.
    if (party === this.#latest && !this.isShared) return false;
    if (this.#ahead.length === MAX_AHEAD || this.#ahead.includes(party)) return false;
    if (this.#waiting.has(party) || this.#waiting.size > MAX_COMPARED) return false;
    const lastTurn = this.#lastTurns.get(party) ?? 0;
    for (const [other, { length }] of this.#waiting) {
      if (length === 1 && (this.#lastTurns.get(other) ?? 0) <= lastTurn) return false;
    }
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
    if (own.length === 0) this.#waiting.delete(next);
    if (!isGiven) return;
    this.#hadTurn(next);
    this.#given += 1;
    this.#length -= 1;
  }

  #hadTurn(party: string): void {
    this.#turns += 1;
    if (this.#latest !== null && this.#latest !== party) this.#sharedUntilMs = (this.#begunMs ?? 0) + ABOUT_MS;
    if (this.#latest !== party) this.#lastTurns.delete(party);
    this.#latest = party;
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
    if (this.#ahead.length > 0) this.#ahead = [];
  }

  /** A slice begins while input is read; what is deferred then still belongs to it. */
  #planEnd(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#loop.defer(() => this.#loop.defer(() => this.#endSlice()));
  }

  /** While somebody waits, the next slice begins at once. */
  #endSlice(): void {
    if (this.#length === 0) {
      this.#begunMs = null;
      this.#isEnding = false;
    } else {
      this.#beginSlice();
      this.#loop.defer(() => this.#endSlice());
    }
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
