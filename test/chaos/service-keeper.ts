import { closeSync, openSync, writeSync } from "node:fs";
import { type Reply, ServiceProcess } from "../processes/service-process.js";

const clock = new URL("./stepped-clock.js", import.meta.url).href;

interface KeeperOptions {
  readonly dataFolder: string;
  /** A file with the offset of the service's wall clock. */
  readonly clockFile: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Called when the service exits unexpectedly. */
  readonly onDeath: (said: string) => void;
}

/** The service across its restarts: one port, one store, and a wall clock that can be stepped. */
export class ServiceKeeper {
  readonly #options: KeeperOptions;
  readonly #clock: number;
  #life: ServiceProcess | null = null;
  #dataFolder: string;
  #port = 0;
  #offsetMs = 0;
  #isExpected = false;
  #lives = 0;
  readonly #logs: (readonly string[])[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#dataFolder = options.dataFolder;
    this.#clock = openSync(options.clockFile, "w");
    this.stepClock(0);
  }

  get port(): number {
    return this.#port;
  }

  /** The folder of the service's store. */
  get dataFolder(): string {
    return this.#dataFolder;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The current process, or the last one. */
  get life(): ServiceProcess {
    if (this.#life === null) throw new Error("the service was not started");
    return this.#life;
  }

  /** The time of the service's wall clock, in milliseconds since 1970. */
  get nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  get lives(): number {
    return this.#lives;
  }

  /** The output of each process. */
  get logs(): readonly (readonly string[])[] {
    return this.#logs;
  }

  /** Starts the service on its store. With `dataFolder`, uses the store in that folder from now on. */
  async start(dataFolder = this.#dataFolder): Promise<void> {
    this.#dataFolder = dataFolder;
    const settings = { ...this.#options.settings, CHAOS_CLOCK: this.#options.clockFile };
    const life = await ServiceProcess.start(dataFolder, settings, this.#port, ["--import", clock]);
    this.#life = life;
    this.#port = life.port;
    this.#lives += 1;
    this.#isExpected = false;
    this.#logs.push(life.output);
    void life.ended.then((code) => {
      if (life === this.#life && !this.#isExpected) this.#options.onDeath(`with ${code}: ${life.output.at(-1) ?? ""}`);
    });
  }

  /** Stops the service; returns its exit code, or null if the signal killed it. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.expectEnd();
    return this.life.end(signal);
  }

  /** Marks the service's next exit as expected. */
  expectEnd(): void {
    this.#isExpected = true;
  }

  /** Kills the service with SIGKILL and starts it again. */
  async restart(): Promise<void> {
    await this.end("SIGKILL");
    await this.start();
  }

  /** Sets the service's wall clock forward or back. */
  stepClock(byMs: number): void {
    this.#offsetMs += byMs;
    writeSync(this.#clock, new Float64Array([this.#offsetMs]), 0, 8, 0);
  }

  /** Sends a request to the current process. Rejects if no process is listening. */
  request(...request: Parameters<ServiceProcess["request"]>): Promise<Reply> {
    return this.life.request(...request);
  }

  close(): void {
    closeSync(this.#clock);
  }
}
