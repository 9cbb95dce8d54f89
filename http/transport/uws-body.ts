import type { HttpResponse } from "uWebSockets.js";
import type { BodyBytes } from "./body-bytes.js";
import { BodyTimeout, BodyTooLarge, ClientGone, DROP_BYTES, DROP_MS } from "./transport.js";

/** Bytes buffered of a body that is not being read yet; beyond it the client is paused. */
const EARLY_BYTES = 64 * 1024;
/**
 * Interval at which reading is resumed: the library closes a connection whose body brought less than 160 KiB in ten
 * seconds, unless reading was resumed meanwhile.
 */
const RESUME_EVERY_MS = 4_000;

/** Who tells when a client goes away. */
interface Leaving {
  onGone(listener: () => void): void;
}

/** How long a body is waited for, in milliseconds: in all, and without a byte. */
interface WaitTimes {
  readonly timeoutMs: number;
  readonly idleMs: number;
}

/** A body as it arrives. Beyond {@link EARLY_BYTES} it is paused until it is read. */
export class IncomingBody {
  complete = false;
  /** Whether bytes still arrived when {@link drop} gave up. */
  isFlooding = false;
  readonly #response: HttpResponse;
  /** What came before it was read. */
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;
  #bytes: BodyBytes | null = null;
  /** How many bytes have arrived in all, and up to how many of them are dropped. */
  #arrived = 0;
  #droppedUpTo = Number.POSITIVE_INFINITY;
  #paused = false;
  #settle: ((error: unknown) => void) | null = null;
  /** Ends the timers of a body that is late. */
  #stop: (() => void) | null = null;
  #aborted = false;
  #forgotten = false;

  constructor(response: HttpResponse, client: Leaving) {
    this.#response = response;
    client.onGone(() => {
      this.#aborted = true;
      this.#settle?.(new ClientGone());
    });
    response.onData((chunk, isLast) => this.#add(new Uint8Array(chunk), isLast));
  }

  /** Drops what has arrived and what still does. */
  forget(): void {
    this.#forgotten = true;
    this.#early.length = 0;
    this.#bytes = null;
  }

  /** Reads the body into what `roomFor` makes; rejects with what that throws, {@link BodyTimeout} or {@link ClientGone}. */
  read(roomFor: () => BodyBytes, timeoutMs: number): Promise<Uint8Array> {
    try {
      const bytes = roomFor();
      for (const chunk of this.#early.splice(0)) bytes.add(chunk);
      this.#bytes = bytes;
      return this.#over({ timeoutMs, idleMs: timeoutMs }, () => bytes.whole());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Drops the rest of the body; `TransportRequest.dropBody` has the bounds. */
  async drop(idleMs: number): Promise<void> {
    this.forget();
    this.#droppedUpTo = this.#arrived + DROP_BYTES;
    const gaveUp = await this.#over({ timeoutMs: DROP_MS, idleMs }, () => null).catch((error: unknown) => error);
    this.isFlooding = gaveUp instanceof BodyTooLarge;
  }

  /** The library uses the chunk's memory again afterwards. */
  #add(chunk: Uint8Array, isLast: boolean): void {
    this.complete = isLast;
    this.#arrived += chunk.length;
    try {
      if (this.#bytes !== null) this.#bytes.add(chunk);
      else if (!this.#forgotten) this.#addEarly(chunk);
      else if (this.#arrived > this.#droppedUpTo) throw new BodyTooLarge();
    } catch (error) {
      this.forget();
      this.#settle?.(error);
      return;
    }
    if (isLast) this.#settle?.(null);
  }

  #addEarly(chunk: Uint8Array): void {
    this.#early.push(Buffer.from(chunk));
    this.#earlyBytes += chunk.length;
    if (this.complete || this.#earlyBytes <= EARLY_BYTES || this.#paused) return;
    this.#paused = true;
    this.#response.pause();
  }

  /** Resolves with what `result` gives when the body has arrived; rejects when it does not. */
  #over<Result>(times: WaitTimes, result: () => Result): Promise<Result> {
    if (this.#aborted) return Promise.reject(new ClientGone());
    if (this.complete) return Promise.resolve(result());
    return new Promise((resolve, reject) => {
      const settle = (error: unknown): void => {
        this.#stop?.();
        this.#stop = null;
        this.#settle = null;
        if (error === null) resolve(result());
        else reject(error);
      };
      this.#settle = settle;
      watchWhenLate(() => {
        if (this.#settle === settle) this.#watch(times);
      });
      if (this.#paused) this.#response.resume();
    });
  }

  /** Ends the wait for the body in time, and has the library wait as long. */
  #watch({ timeoutMs, idleMs }: WaitTimes): void {
    const end = (error: Error) => this.#settle?.(error);
    const timer = setTimeout(() => end(this.#forgotten ? new BodyTooLarge() : new BodyTimeout()), timeoutMs);
    let seen = this.#arrived;
    const idle = setInterval(() => {
      if (this.#arrived === seen) end(new BodyTimeout());
      seen = this.#arrived;
    }, idleMs);
    const resuming = setInterval(() => {
      this.#response.pause();
      this.#response.resume();
    }, RESUME_EVERY_MS);
    this.#stop = () => {
      clearTimeout(timer);
      clearInterval(idle);
      clearInterval(resuming);
    };
  }
}

/** What watches the bodies of this round of the event loop, if they are late. */
let watching: (() => void)[] = [];

/** Most bodies come with their heads, in one round of the event loop, and need no timers: what is left is watched after it. */
function watchWhenLate(watch: () => void): void {
  if (watching.length === 0) {
    setImmediate(() => {
      const late = watching;
      watching = [];
      for (const begin of late) begin();
    });
  }
  watching.push(watch);
}
