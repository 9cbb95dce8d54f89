import { MAX_FRAME_BYTES, type RunnerFrame, runnerFrameSchema } from "../../actors/runners/protocol.js";
import { NotAccepted } from "../../runtime/runtime.js";
import { AGAIN, BAD_FRAME, type EndConnection } from "./close-codes.js";

/**
 * Most frames that wait, and characters in them: more than a runner keeps unacknowledged, which it sends all at once
 * after a reconnect.
 */
const MAX_WAITING = 4_096;
const MAX_WAITING_CHARACTERS = 2 * MAX_FRAME_BYTES;

/** Said to a runner whose connection is not the one that its actor takes frames from. */
const NOT_TAKEN = "the lease is over, or another connection took over";

export interface InboundFramesOptions {
  /** Handles a frame. No frame follows one for which it rejects. */
  readonly take: (frame: RunnerFrame) => Promise<void>;
  /** Whether the connection is open: no frame is handled after its end. */
  readonly isOpen: () => boolean;
  readonly end: EndConnection;
}

/**
 * The queue of frames from one runner.
 *
 * 1. Frames are handled in order, and none after one that failed: the runner sends that one again, and it would count
 *    as a duplicate if a later number had been handled before.
 * 2. The queue is bounded. When it is full, no frame is accepted, and the connection is closed after the waiting ones
 *    are handled; the runner reconnects and continues from there.
 */
export class InboundFrames {
  readonly #options: InboundFramesOptions;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingCharacters = 0;
  #isFull = false;

  constructor(options: InboundFramesOptions) {
    this.#options = options;
  }

  /** Queues a frame; text that is no frame ends the connection. */
  add(text: string): void {
    const { isOpen, end, take } = this.#options;
    if (this.#isFull || !isOpen()) return;
    this.#isFull = this.#waiting >= MAX_WAITING || this.#waitingCharacters + text.length > MAX_WAITING_CHARACTERS;
    if (this.#isFull) return this.#inTurn(async () => end(AGAIN, "too much was sent at once: try again"));
    const frame = parseFrame(text);
    if (frame === null) return end(BAD_FRAME, "this is no frame of the runner protocol");
    this.#waiting += 1;
    this.#waitingCharacters += text.length;
    this.#inTurn(async () => {
      this.#waiting -= 1;
      this.#waitingCharacters -= text.length;
      await take(frame);
    });
  }

  /** Runs `work` after the current frame, whether that succeeds or not. Call it when the connection is closed. */
  closed(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work).catch(() => undefined);
  }

  #inTurn(work: () => Promise<void>): void {
    const { isOpen, end } = this.#options;
    this.#turn = this.#turn
      .then(() => (isOpen() ? work() : undefined))
      .catch((error: unknown) => {
        // A runner that is refused now reconnects; the runtime logs bugs.
        end(AGAIN, error instanceof NotAccepted ? NOT_TAKEN : "try again");
      });
  }
}

function parseFrame(text: string): RunnerFrame | null {
  try {
    const parsed = runnerFrameSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
