import { MAX_FRAME_BYTES, type RunnerFrame, runnerFrameSchema } from "../../actors/runners/protocol.js";
import { NotAccepted } from "../../runtime/runtime.js";
import { AGAIN, BAD_FRAME, type EndConnection } from "./close-codes.js";

/**
 * Frames, and characters of them, that wait until those before them are taken. It is more than a runner keeps
 * unacknowledged, which it sends all at once when it comes again.
 */
const MAX_WAITING = 4_096;
const MAX_WAITING_CHARACTERS = 2 * MAX_FRAME_BYTES;

export interface InboundFramesOptions {
  /** Takes a frame; none after one that it rejects. */
  readonly take: (frame: RunnerFrame) => Promise<void>;
  /** Whether the connection goes on: nothing is taken once it does not. */
  readonly isOpen: () => boolean;
  readonly end: EndConnection;
}

/**
 * What came from a runner and is not taken yet.
 *
 * 1. Every frame is handed on in the order it came, and none after one that was not taken: its sender sends it again,
 *    and a later number taken before it would make it one seen already.
 * 2. What waits is bounded. Past that nothing more is taken; the connection is ended once the rest is, so that its
 *    runner goes on from there when it comes again.
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

  /** Takes a frame after those before it; one that is none ends the connection. */
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

  /** Does this once what is being taken is through, whether that succeeds or not; the connection is closed. */
  closed(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work).catch(() => undefined);
  }

  #inTurn(work: () => Promise<void>): void {
    const { isOpen, end } = this.#options;
    this.#turn = this.#turn
      .then(() => (isOpen() ? work() : undefined))
      .catch((error: unknown) => {
        // A runner that is not taken now comes again; a bug is the runtime's to log.
        end(AGAIN, error instanceof NotAccepted ? "another connection took over" : "try again");
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
