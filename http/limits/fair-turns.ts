import type { Caller } from "../../actors/caller.js";
import type { Scheduler } from "../../runtime/clock.js";
import { Queue } from "../../runtime/queue.js";
import { sourceOf } from "./client-address.js";

/** Time of a turn of the event loop in which work of requests begins or goes on, in milliseconds; then input is read. */
const SLICE_MS = 1;
/** Most turns that are given before input is read again: what they have others do takes time as well. */
const MAX_TURNS = 8;

/** Parties whose last turn is remembered; one that is forgotten goes first. */
const MAX_REMEMBERED = 1_000;

export interface FairTurnsOptions {
  readonly scheduler: Scheduler;
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
}

/**
 * Shares the event loop between parties, so that however much one asks for, another waits for little of it.
 *
 * 1. Work that nobody waits before, with time left, begins at once.
 * 2. Of the parties that wait, the one whose last turn is longest ago has the next; its own wait in the order they came.
 * 3. Between two reads of input there are at most {@link MAX_TURNS} turns, and none begins once {@link SLICE_MS} are
 *    over. Work that takes longer than its share has to ask for a turn again in between.
 */
export class FairTurns {
  readonly #scheduler: Scheduler;
  readonly #elapsedMs: () => number;
  /** By party, none of them empty. */
  readonly #waiting = new Map<string, Queue<() => void>>();
  #length = 0;
  /** When parties had their last turn, as a count of turns; the longest ago first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** Turns that are deferred and not given yet. */
  #planned = 0;
  /** When the present slice began; null between slices. */
  #begunMs: number | null = null;

  constructor({ scheduler, elapsedMs }: FairTurnsOptions) {
    this.#scheduler = scheduler;
    this.#elapsedMs = elapsedMs;
  }

  /** Null when the party's work may begin at once; otherwise resolves when it has its turn. */
  enter(party: string): Promise<void> | null {
    if (this.#length > 0 || !this.#hasTime()) return this.next(party);
    this.#hadTurn(party);
    return null;
  }

  /** Resolves when the party has its next turn; others had theirs before, and input was read. */
  next(party: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(party) ?? new Queue();
      own.push(resolve);
      this.#waiting.set(party, own);
      this.#length += 1;
      this.#plan();
    });
  }

  #plan(): void {
    while (this.#planned < Math.min(MAX_TURNS, this.#length)) {
      this.#planned += 1;
      this.#scheduler.defer(() => this.#give());
    }
  }

  /** What was waiting goes on when this has returned, and before the next deferred work. */
  #give(): void {
    this.#planned -= 1;
    if (this.#hasTime()) this.#takeNext()?.();
    this.#plan();
  }

  #takeNext(): (() => void) | undefined {
    let next: string | undefined;
    let longestAgo = Number.POSITIVE_INFINITY;
    for (const party of this.#waiting.keys()) {
      const lastTurn = this.#lastTurns.get(party) ?? 0;
      if (lastTurn < longestAgo) [next, longestAgo] = [party, lastTurn];
      if (lastTurn === 0) break;
    }
    const own = next === undefined ? undefined : this.#waiting.get(next);
    if (next === undefined || own === undefined) return undefined;
    this.#hadTurn(next);
    this.#length -= 1;
    const resolve = own.take();
    if (own.length === 0) this.#waiting.delete(next);
    return resolve;
  }

  #hadTurn(party: string): void {
    this.#turns += 1;
    this.#lastTurns.delete(party);
    this.#lastTurns.set(party, this.#turns);
    const [oldest] = this.#lastTurns.size > MAX_REMEMBERED ? this.#lastTurns.keys() : [];
    if (oldest !== undefined) this.#lastTurns.delete(oldest);
  }

  #hasTime(): boolean {
    const nowMs = this.#elapsedMs();
    if (this.#begunMs !== null) return nowMs - this.#begunMs < SLICE_MS;
    this.#begunMs = nowMs;
    this.#scheduler.defer(() => {
      this.#begunMs = null;
    });
    return true;
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
