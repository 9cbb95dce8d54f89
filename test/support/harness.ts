import type { Catalogue } from "../../runtime/cells/actor-type.js";
import { type Address, address } from "../../runtime/cells/address.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime, RuntimeLimits, RuntimeOptions } from "../../runtime/runtime.js";
import type { Message } from "../../runtime/turns/turn.js";
import { type Change, type Key, type Range, type Reading, type Store, StoreError } from "../../storage/store.js";
import { type Chance, createChance } from "../simulation/chance.js";
import { SimulatedDisk } from "../simulation/disk.js";
import { World } from "../simulation/world.js";

/** The partition that {@link Harness.to} addresses. */
export const partition = "ws_1";

/** A time in milliseconds in which all flushes and turns in progress end. */
const SOON_MS = 500;

/** A log entry of the runtime, without details that vary between runs. */
export interface Logged {
  readonly message: string;
  readonly details: Record<string, unknown>;
}

export interface HarnessOptions {
  readonly catalogue: Partial<Catalogue>;
  readonly limits?: Partial<RuntimeLimits>;
  readonly cachedTables?: readonly string[];
  readonly elapsedMs?: () => number;
  /** The runtime's option `isShared`. */
  readonly isShared?: () => boolean;
  /** The runtime's option `reported`. */
  readonly reported?: NonNullable<RuntimeOptions["reported"]>;
  /** Whether the harness listens for store failures; true by default. */
  readonly listens?: boolean;
}

/** A runtime over a simulated clock and disk: nothing happens until the test advances time. */
export class Harness {
  readonly world: World;
  readonly disk: SimulatedDisk;
  readonly logged: Logged[] = [];
  readonly fatal: unknown[] = [];
  /** The committed batches, in order. */
  readonly batches: (readonly Change[])[] = [];
  /** While this promise is set, a commit waits until it resolves, and only then reaches the disk. */
  held: Promise<void> | null = null;
  /**
   * Kills the process at the commit with this number, counted from the start of the harness. This commit and all later
   * commits never return. With `after`, the disk has the batch of this commit; with `before`, it does not. The test
   * must still call {@link crash}.
   */
  killAt: { readonly commit: number; readonly when: "before" | "after" } | null = null;
  /**
   * Called twice per batch: first before the batch reaches the disk, then after that but before the acknowledgement.
   */
  onCommit: (() => void) | null = null;
  /** While set, every read of the disk throws. */
  readsFail = false;
  readonly #chance: Chance = createChance(7);
  readonly #options: HarnessOptions;
  #runtime: Runtime | null = null;

  constructor(options: HarnessOptions) {
    this.#options = options;
    this.world = new World(this.#chance);
    this.disk = new SimulatedDisk(this.world, this.#chance, null);
  }

  get runtime(): Runtime {
    if (this.#runtime === null) throw new Error("start the runtime first");
    return this.#runtime;
  }

  get durable(): Reading {
    return this.disk.reading;
  }

  /**
   * Starts a process on the current disk. A `catalogue` simulates a process of a later release. `resting` is passed to
   * the runtime.
   */
  async start(
    catalogue: Partial<Catalogue> = this.#options.catalogue,
    { resting }: Pick<RuntimeOptions, "resting"> = {},
  ): Promise<Runtime> {
    const { limits, cachedTables, elapsedMs, isShared, reported } = this.#options;
    this.#runtime = await createRuntime({
      store: this.#store(),
      catalogue: { actors: [], subscribers: [], gates: [], effects: [], ...catalogue },
      clock: this.world.clock,
      scheduler: this.world.scheduler,
      ...(resting && { resting }),
      randomBytes: (count) => this.#chance.bytes(count),
      log: {
        warn: (message, details) => void this.logged.push({ message, details }),
        error: (message, details) => void this.logged.push({ message, details }),
      },
      ...(this.#options.listens === false ? {} : { onFatal: (error: unknown) => void this.fatal.push(error) }),
      freezes: true,
      ...(limits === undefined ? {} : { limits }),
      ...(cachedTables === undefined ? {} : { cachedTables }),
      ...(elapsedMs === undefined ? {} : { elapsedMs }),
      ...(isShared === undefined ? {} : { isShared }),
      ...(reported === undefined ? {} : { reported }),
    });
    return this.#runtime;
  }

  /** Ends the process like `kill -9`. A batch that is being flushed is either lost or stored. */
  crash(): void {
    this.world.killProcess();
    this.disk.crash();
    this.#runtime = null;
  }

  to(kind: string, id = "1"): Address {
    return address(partition, kind, id);
  }

  /** Asks an actor, and advances time by {@link SOON_MS}. Throws if the actor has not answered by then. */
  async ask(to: Address, message: Message, options?: { readonly messageId?: string }): Promise<unknown> {
    const answer = settled(this.runtime.ask(to, message, options));
    await this.advance(SOON_MS);
    const outcome = await Promise.race([answer, Promise.resolve({ error: new Error("there is no answer") })]);
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  advance(ms = SOON_MS): Promise<void> {
    return this.world.advance(ms);
  }

  #store(): Store {
    const store = this.disk.open();
    const { reading } = store;
    const check = (): void => {
      if (this.readsFail) throw new StoreError("failed", "the simulated disk cannot be read");
    };
    return {
      ...store,
      reading: {
        get: <Value>(key: Key) => {
          check();
          return reading.get<Value>(key);
        },
        range: <Value>(range: Range) => {
          check();
          return reading.range<Value>(range);
        },
      },
      commit: async (changes) => {
        this.batches.push(changes);
        const { killAt } = this;
        const isOver = killAt !== null && this.batches.length > killAt.commit;
        const isLast = killAt !== null && this.batches.length === killAt.commit;
        if (this.held !== null) await this.held;
        this.onCommit?.();
        if (!isOver && !(isLast && killAt.when === "before")) await store.commit(changes);
        this.onCommit?.();
        if (isOver || isLast) await new Promise(() => undefined);
      },
    };
  }
}

/**
 * Returns a promise that resolves with the value or the error of `promise`. So Node never reports an early rejection as
 * unhandled.
 */
export function settled(promise: Promise<unknown>): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}
