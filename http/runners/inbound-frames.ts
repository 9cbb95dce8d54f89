import { MAX_FRAME_BYTES, type RunnerFrame, runnerFrameSchema } from "../../actors/runners/protocol.js";
import { parseWellFormed } from "../../actors/well-formed.js";
import { NotAccepted } from "../../runtime/runtime.js";
import { Queue } from "../../runtime/schedule/queue.js";
import { AGAIN, BAD_FRAME, type EndConnection } from "./close-codes.js";

/**
 * Maximum number of waiting frames, and maximum number of characters in all of them. A runner never has so many
 * unacknowledged frames that it exceeds these limits when it resends them at once after a reconnect.
 */
const MAX_WAITING = 4_096;
const MAX_WAITING_CHARACTERS = 2 * MAX_FRAME_BYTES;

/**
 * Maximum number of frames that are handled at the same time, and maximum number of characters in all of them. A frame
 * of any length is accepted if no other frame is being handled.
 */
const MAX_UNDER_WAY = 64;
const MAX_CHARACTERS_UNDER_WAY = 1024 * 1024;

/** The close reason if the runner's actor no longer accepts frames from this connection. */
const NOT_TAKEN = "the lease expired, or another connection took over";

export interface InboundFramesOptions {
  /**
   * Handles a frame. The queue calls this function in the order of the frames. After the hello, it does not wait for
   * earlier calls to end. The function must pass on the frames' messages in the same order. After a message that
   * failed, it must pass on no later message.
   */
  readonly take: (frame: RunnerFrame) => Promise<void>;
  /** Whether the connection is open. After the connection has ended, no frame is handled. */
  readonly isOpen: () => boolean;
  readonly end: EndConnection;
}

/** An entry of the queue: a frame to handle, or other work that must run in order with the frames. */
interface Work {
  readonly begin: () => Promise<void>;
  /** Whether this work runs alone: it waits for all earlier work, and all later work waits for it. */
  readonly isAlone: boolean;
  readonly characters: number;
}

/**
 * The queue of frames from one runner.
 *
 * 1. Frames are handled in order. After a frame failed, no later frame is started, and the runner resends the failed
 *    frame. Messages that were already in progress at that time name their predecessor: a message is not accepted if
 *    its predecessor failed.
 * 2. Frames after the hello do not wait for each other, so that messages that arrive together are stored together.
 * 3. The queue is bounded. When it is full, it accepts no more frames and closes the connection after the waiting
 *    frames are handled. The runner reconnects and resends the frames that were not accepted.
 */
export class InboundFrames {
  readonly #options: InboundFramesOptions;
  readonly #waiting = new Queue<Work>();
  #waitingCharacters = 0;
  #underWay = 0;
  #underWayCharacters = 0;
  /** Whether all later work waits for the work in progress. */
  #isAlone = false;
  #isFull = false;

  constructor(options: InboundFramesOptions) {
    this.#options = options;
  }

  /** Queues a frame. Text that is not a valid frame closes the connection. */
  add(text: string): void {
    const { isOpen, end, take } = this.#options;
    if (this.#isFull || !isOpen()) return;
    const characters = text.length;
    this.#isFull =
      this.#waiting.length + this.#underWay > MAX_WAITING ||
      this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS;
    if (this.#isFull) return this.#alone(async () => end(AGAIN, "too much was sent at once: try again"));
    const frame = parseFrame(text);
    if (frame === null) return end(BAD_FRAME, "this is not a frame of the runner protocol");
    const begin = async () => {
      if (isOpen()) await take(frame);
    };
    this.#push({ begin, characters, isAlone: frame.frame === "hello" });
  }

  /** Runs `work` after all earlier frames, whether they succeed or not. Call it when the connection is closed. */
  closed(work: () => Promise<void>): void {
    this.#push({ begin: () => work().catch(() => undefined), characters: 0, isAlone: true });
  }

  #alone(work: () => Promise<void>): void {
    const { isOpen } = this.#options;
    const begin = async () => {
      if (isOpen()) await work();
    };
    this.#push({ begin, characters: 0, isAlone: true });
  }

  #push(work: Work): void {
    this.#waitingCharacters += work.characters;
    this.#waiting.push(work);
    this.#beginNext();
  }

  #beginNext(): void {
    for (let next = this.#waiting.first(); next !== undefined && this.#mayBegin(next); next = this.#waiting.first()) {
      this.#waiting.take();
      this.#waitingCharacters -= next.characters;
      this.#begin(next);
    }
  }

  #mayBegin({ isAlone, characters }: Work): boolean {
    if (this.#underWay === 0) return true;
    if (isAlone || this.#isAlone) return false;
    return this.#underWay < MAX_UNDER_WAY && this.#underWayCharacters + characters <= MAX_CHARACTERS_UNDER_WAY;
  }

  #begin({ begin, isAlone, characters }: Work): void {
    this.#underWay += 1;
    this.#underWayCharacters += characters;
    this.#isAlone = isAlone;
    begin()
      .catch((error: unknown) => {
        const { isOpen, end } = this.#options;
        // Close the connection, so that the runner reconnects and sends the frame again. The runtime logs bugs.
        if (isOpen()) end(AGAIN, error instanceof NotAccepted ? NOT_TAKEN : "try again");
      })
      .finally(() => {
        this.#underWay -= 1;
        this.#underWayCharacters -= characters;
        this.#isAlone = false;
        this.#beginNext();
      });
  }
}

function parseFrame(text: string): RunnerFrame | null {
  try {
    const parsed = runnerFrameSchema.safeParse(parseWellFormed(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
