import type { Caller } from "../../actors/caller.js";
import type { Scheduler } from "../../runtime/clock.js";
import { TurnoverMap } from "../../runtime/schedule/turnover-map.js";
import { toSource } from "./client-address.js";
import { type Begin, type Leaving, OwnWork } from "./own-work.js";

/** Maximum length of a slice while several clients are active, in milliseconds: see rule 3 of {@link FairTurns}. */
const SHARED_SLICE_MS = 0.05;
/**
 * Maximum length of a slice while one client is active, in milliseconds. Reading input less often increases throughput.
 */
const SLICE_MS = 2;
/** How long a client counts as active after a turn, in milliseconds. */
const ABOUT_MS = 10_000;
/** Maximum number of queued turns between two reads of input. Work that a turn defers takes time as well. */
const MAX_TURNS = 16;
/**
 * The same maximum while several clients are active. More turns than this rarely fit into the slice, and scheduling a
 * turn that does not fit wastes time.
 */
const MAX_SHARED_TURNS = 4;

/** Maximum number of clients that may jump the queue in a slice, each once. */
const MAX_AHEAD = 4;
/**
 * Maximum number of waiting clients while a client may jump the queue. The jump compares the client with each waiting
 * client, which takes time.
 */
const MAX_COMPARED = 16;

/** Maximum number of a client's requests that wait to start. */
const MAX_WAITING = 1_000;

/** Number of clients whose last turn is remembered. A client that is no longer remembered goes first. */
const MAX_REMEMBERED = 1_000;

export interface FairTurnsOptions {
  /** Starts queued turns, in order with other deferred work. */
  readonly scheduler: Scheduler;
  /**
   * The rounds of the event loop, which reads input between two rounds. Slices end in these rounds, not in the rounds
   * of `scheduler`.
   */
  readonly loop: Scheduler;
  /** Milliseconds since any fixed point. Never goes backwards. */
  readonly elapsedMs: () => number;
  /**
   * Total time that the event loop has waited for input, in milliseconds. When the loop waits, it has read all
   * available input.
   */
  readonly idleMs: () => number;
}

/**
 * Shares the event loop fairly between clients, so that a client waits only briefly however much another client
 * requests.
 *
 * 1. Work starts at once if no client is waiting and the slice has time left. While several clients are active, a
 *    client may also jump the queue, even if the slice has no time left:
 *    - The client must have nothing queued.
 *    - Each waiting client must have several items queued, or have had its last turn more recently.
 *    - In a slice, each client may jump once, and {@link MAX_AHEAD} clients in total.
 *    - So a client that sends one request at a time does not wait for a client that sends many.
 * 2. Among the waiting clients, the client whose last turn is longest ago has the next turn. Within a client, few
 *    requests are in flight at once, so that their memory is freed soon: see {@link OwnWork}.
 * 3. A slice is the time between two reads of input. These limits apply to it:
 *    - At most {@link MAX_TURNS} queued turns run, or {@link MAX_SHARED_TURNS} while several clients are active.
 *    - No queued turn starts after {@link SHARED_SLICE_MS}, or after {@link SLICE_MS} if only one client is active.
 *      All work in the slice counts. At least one queued turn always runs.
 *    - Longer work must request another turn in between.
 *    - The slice ends by itself when the loop waits for input. The end is scheduled only if a client is waiting, or if
 *      the loop has not waited since the previous slice, because scheduling costs rounds of the loop.
 * 4. At most {@link MAX_WAITING} requests of a client wait to start. A request whose client disconnected, or that
 *    waited too long, takes no turn.
 */
export class FairTurns {
  readonly #scheduler: Scheduler;
  readonly #loop: Scheduler;
  readonly #elapsedMs: () => number;
  readonly #idleMs: () => number;
  /** The queued work by client. An entry is removed when its queue is empty. */
  readonly #waiting = new TurnoverMap<string, OwnWork>();
  #length = 0;
  /** For each client, the serial number of its last turn. The client with the oldest turn is first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** Turns that are scheduled and have not run yet. */
  #planned = 0;
  /** When the current slice started; null between slices. */
  #begunMs: number | null = null;
  /** The loop's total idle time at the start of the slice. */
  #idledMs = 0;
  /** Whether the end of the slice is scheduled. */
  #isEnding = false;
  /** Queued turns that ran in this slice. */
  #given = 0;
  /** The clients that jumped the queue in this slice. */
  #ahead: string[] = [];
  /** The client that had the last turn. Below it, the time until which several clients count as active. */
  #latest: string | null = null;
  #sharedUntilMs = 0;

  constructor({ scheduler, loop, elapsedMs, idleMs }: FairTurnsOptions) {
    this.#scheduler = scheduler;
    this.#loop = loop;
    this.#elapsedMs = elapsedMs;
    this.#idleMs = idleMs;
  }

  /** Whether several clients are active. */
  get isShared(): boolean {
    return this.#elapsedMs() < this.#sharedUntilMs;
  }

  /**
   * Requests a turn for a new request. Returns null if the request may start at once, and `crowded` if too many
   * requests of the client already wait. Otherwise resolves with {@link Begin}. The request waits at most `mostMs`.
   */
  enter(client: string, peer: Leaving, mostMs: number): Promise<Begin> | "crowded" | null {
    if (this.#mayRun(client)) return null;
    const own = this.#getOwn(client);
    if (own.fresh.length >= MAX_WAITING) this.#length -= own.dropGone();
    if (own.fresh.length >= MAX_WAITING) return "crowded";
    return new Promise((resolve) => {
      own.fresh.push({ begin: resolve, peer, latestMs: this.#elapsedMs() + mostMs });
      this.#lengthen();
    });
  }

  /**
   * Requests a turn for a request that waited for something else. Returns null if the request may continue at once.
   * Otherwise resolves when the request may continue.
   */
  goOn(client: string): Promise<void> | null {
    return this.#mayRun(client) ? null : this.next(client);
  }

  /**
   * Queues a turn for a request that has started. Resolves when the turn comes. Before that, clients whose last turn is
   * longer ago have their turns, and the loop reads input.
   */
  next(client: string): Promise<void> {
    return new Promise((resolve) => {
      this.#getOwn(client).begun.push(resolve);
      this.#lengthen();
    });
  }

  #mayRun(client: string): boolean {
    const hasTime = this.#hasTime();
    if (this.#length > 0 || !hasTime) {
      if (!this.#mayGoAhead(client)) return false;
      this.#ahead.push(client);
    }
    this.#hadTurn(client);
    return true;
  }

  #mayGoAhead(client: string): boolean {
    // If no other client is active, there is no queue to jump.
    if (client === this.#latest && !this.isShared) return false;
    if (this.#ahead.length === MAX_AHEAD || this.#ahead.includes(client)) return false;
    if (this.#waiting.has(client) || this.#waiting.size > MAX_COMPARED) return false;
    const lastTurn = this.#lastTurns.get(client) ?? 0;
    for (const [other, { length }] of this.#waiting) {
      if (length === 1 && (this.#lastTurns.get(other) ?? 0) <= lastTurn) return false;
    }
    return true;
  }

  #getOwn(client: string): OwnWork {
    const known = this.#waiting.get(client);
    if (known !== undefined) return known;
    const own = new OwnWork();
    this.#waiting.set(client, own);
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

  /**
   * Gives the next queued turn, unless the slice has no time left and already had a queued turn. The request that gets
   * the turn continues right after this function returns, before the next deferred work.
   */
  #give(): void {
    this.#planned -= 1;
    if (this.#hasTime() || this.#given === 0) this.#giveNext();
    this.#plan();
  }

  #giveNext(): void {
    let next: string | undefined;
    let longestAgo = Number.POSITIVE_INFINITY;
    for (const client of this.#waiting.keys()) {
      const lastTurn = this.#lastTurns.get(client) ?? 0;
      if (lastTurn < longestAgo) [next, longestAgo] = [client, lastTurn];
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

  #hadTurn(client: string): void {
    this.#turns += 1;
    if (this.#latest !== null && this.#latest !== client) this.#sharedUntilMs = (this.#begunMs ?? 0) + ABOUT_MS;
    if (this.#latest !== client) this.#lastTurns.delete(client);
    this.#latest = client;
    this.#lastTurns.set(client, this.#turns);
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

  /**
   * Schedules the end of the slice. A slice starts while the loop reads input, and includes the work that is deferred
   * at that time. So the end comes after two rounds.
   */
  #planEnd(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#loop.defer(() => this.#loop.defer(() => this.#endSlice()));
  }

  /** Ends the slice. If a client is waiting, starts the next slice at once. */
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
 * Returns the client whose turns a request takes: the token's workspace, or the person, or the client address if the
 * request has no credential. A person's requests do not count for the workspace in the path, because a person can
 * request any path.
 */
export function toClient(caller: Caller | null, address: () => string): string {
  if (caller === null) return toSource(address());
  return caller.kind === "token" ? caller.workspaceId : caller.userId;
}
