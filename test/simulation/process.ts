import type { Catalogue } from "../../runtime/cells/actor-type.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Chance } from "./chance.js";
import type { SimulatedDisk } from "./disk.js";
import { arrivals, reminders } from "./rows.js";
import type { World } from "./world.js";

/** Small limits, so that the simulation reaches every limit often. */
const limits = {
  idleCells: 3,
  mailbox: 4,
  turnsPerBatch: 5,
  feedEntries: 100_000,
  timersInMemory: 3,
};
/** Maximum time between the end of a process and the start of the next one, in milliseconds. */
const LONGEST_OUTAGE_MS = 9_000;

/** One run of the simulated process, from start to end. */
interface Life {
  readonly runtime: Runtime;
  /** Resolves when the process ends. */
  readonly over: Promise<void>;
  readonly end: () => void;
}

/**
 * The process under test. The simulation kills or stops the process, makes its disk fail, and restarts the process on
 * the same disk.
 */
export class SimulatedProcess {
  /** Errors about row views that differ from their rows. */
  readonly complaints: string[] = [];
  lives = 0;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #disk: SimulatedDisk;
  readonly #catalogue: Catalogue;
  readonly #onStart: (runtime: Runtime) => void;
  #life: Life | null = null;
  #waiting: ((life: Life) => void)[] = [];

  constructor(
    world: World,
    chance: Chance,
    disk: SimulatedDisk,
    catalogue: Catalogue,
    onStart: (runtime: Runtime) => void,
  ) {
    this.#world = world;
    this.#chance = chance;
    this.#disk = disk;
    this.#catalogue = catalogue;
    this.#onStart = onStart;
  }

  get isUp(): boolean {
    return this.#life !== null;
  }

  /** Returns the current life, or waits for the next one. */
  life(): Promise<Life> {
    const life = this.#life;
    return life === null ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(life);
  }

  async start(): Promise<void> {
    this.lives += 1;
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const runtime = await createRuntime({
      store: this.#disk.open(),
      catalogue: this.#catalogue,
      clock: this.#world.clock,
      scheduler: this.#world.scheduler,
      randomBytes: (count) => this.#chance.bytes(count),
      log: { warn: () => undefined, error: (_message, { error }) => this.#note(error) },
      limits,
      freezes: true,
      cachedTables: [reminders.name, arrivals.name],
      onFatal: () => this.kill(),
    });
    const life = { runtime, over, end };
    this.#life = life;
    this.#onStart(runtime);
    for (const hear of this.#waiting.splice(0)) hear(life);
  }

  #note(error: unknown): void {
    if (error instanceof Error && /that differs from its rows/.test(error.message)) this.complaints.push(error.message);
  }

  /** Kills the process, and starts the next one after a random time. */
  kill(): void {
    const life = this.#life;
    if (life === null) return;
    this.#life = null;
    this.#world.killProcess();
    this.#disk.crash();
    life.end();
    void this.#world.pause(this.#chance.between(0, LONGEST_OUTAGE_MS)).then(() => this.start());
  }

  /** Stops the process gracefully, then starts the next one. */
  stop(): void {
    const life = this.#life;
    if (life === null) return;
    void life.runtime.stop().then(() => {
      if (this.#life === life) this.kill();
    });
  }
}
