import type { HttpResponse } from "uWebSockets.js";
import type { BodyBytes } from "./body-bytes.js";
import { BodyTimeout, BodyTooLarge, ClientGone, DROP_BYTES, DROP_MS } from "./transport.js";

/**
 * Maximum number of bytes of a body that are buffered before the body is read. Beyond it, reading from the client is
 * paused.
 */
const EARLY_BYTES = 64 * 1024;
/**
 * Interval at which to resume reading, in milliseconds. The library closes a connection that received less than 160 KiB
 * of a body in ten seconds, unless reading was resumed in that time.
 */
const RESUME_EVERY_MS = 4_000;

/** Notifies listeners when a client disconnects. */
interface Leaving {
  onGone(listener: () => void): void;
}

/** Maximum waits for a body, in milliseconds: `timeoutMs` for the whole body, `idleMs` without a received byte. */
interface WaitTimes {
  readonly timeoutMs: number;
  readonly idleMs: number;
}

/** A body that is arriving. Beyond {@link EARLY_BYTES} the client is paused until the body is read. */
export class IncomingBody {
  complete = false;
  /** Whether bytes were still arriving when {@link drop} gave up. */
  isFlooding = false;
  readonly #response: HttpResponse;
  /** The bytes that arrived before the body was read. */
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;
  #bytes: BodyBytes | null = null;
  /** The number of bytes received so far. Below it, the number of bytes at which {@link drop} stops. */
  #arrived = 0;
  #droppedUpTo = Number.POSITIVE_INFINITY;
  #paused = false;
  #settle: ((error: unknown) => void) | null = null;
  /** Stops the timers of the body. Null for a body that arrived together with its headers, which needs no timers. */
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

  /** Drops the bytes that have arrived, and the bytes that follow. */
  forget(): void {
    this.#forgotten = true;
    this.#early.length = 0;
    this.#bytes = null;
  }

  /**
   * Reads the body into the buffer that `allocate` creates. Rejects with {@link BodyTimeout}, {@link ClientGone}, or an
   * error that the buffer throws.
   */
  read(allocate: () => BodyBytes, timeoutMs: number): Promise<Uint8Array> {
    try {
      const bytes = allocate();
      for (const chunk of this.#early.splice(0)) bytes.add(chunk);
      this.#bytes = bytes;
      return this.#over({ timeoutMs, idleMs: timeoutMs }, () => bytes.whole());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Drops the rest of the body, within the limits of `TransportRequest.dropBody`. */
  async drop(idleMs: number): Promise<void> {
    this.forget();
    this.#droppedUpTo = this.#arrived + DROP_BYTES;
    const gaveUp = await this.#over({ timeoutMs: DROP_MS, idleMs }, () => null).catch((error: unknown) => error);
    this.isFlooding = gaveUp instanceof BodyTooLarge;
  }

  /** Handles a chunk. Does not keep the chunk itself, because the library reuses its memory. */
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

  /** Resolves with `result()` when the body has arrived. Rejects if it does not arrive. */
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

  /**
   * Enforces the time limits of the body. Also resumes reading regularly, so that the library does not close the
   * connection before these limits.
   */
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

/**
 * Callbacks that start the timers of incomplete bodies. They run after this round of the event loop, and do nothing for
 * a body that is complete by then.
 */
let watching: (() => void)[] = [];

/**
 * Calls `watch` after this round of the event loop. Most bodies arrive with their headers, in one round, and need no
 * timers.
 */
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
