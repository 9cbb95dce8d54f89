import type { HttpResponse } from "uWebSockets.js";
import type { LiveConnection, LiveHandler } from "../wire/live-answer.js";
import { type LiveTransportAnswer, SOCKET_BUFFER_BYTES, SOCKET_IDLE_SECONDS } from "./transport.js";
import { type Writing, writeHead } from "./uws-answer.js";
import type { Client } from "./uws-request.js";

/** Maximum size of the pieces that the library gets, in bytes. It buffers a piece that the connection does not take. */
const PIECE_BYTES = 64 * 1024;
/**
 * Interval between two calls of {@link UwsLive.beat}, in milliseconds. The library closes a connection that was idle
 * for ten seconds, unless reading was resumed in that time.
 */
export const LIVE_BEAT_MS = 4_000;
const MAX_IDLE_BEATS = (SOCKET_IDLE_SECONDS * 1_000) / LIVE_BEAT_MS;

/** The open live responses of a transport. */
export type LiveResponses = Set<UwsLive>;

/** Sends a live response. Resolves when it has ended or the client is gone. */
export async function writeLive(
  response: HttpResponse,
  { open, ...answer }: LiveTransportAnswer,
  { client, isHead, closes, all }: Writing & { readonly client: Client; readonly all: LiveResponses },
): Promise<void> {
  if (client.isGone) return;
  response.cork(() => {
    writeHead(response, answer, closes);
    if (isHead) response.endWithoutBody();
  });
  if (isHead) return;
  const live = new UwsLive(response, client);
  all.add(live);
  const closed = live.start(open);
  await closed;
  all.delete(live);
}

/**
 * One live response. It has its own queue of unsent bytes, because the library does not say how many bytes the library
 * buffers. It passes pieces to the library until the library has to buffer a piece. It passes the next piece when the
 * connection accepts bytes again.
 */
export class UwsLive implements LiveConnection {
  readonly #response: HttpResponse;
  readonly #client: Client;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Length of the piece that the library buffers; 0 if it buffers none. */
  #heldBytes = 0;
  /** Number of consecutive beats during which bytes waited and the connection accepted none. */
  #idleBeats = 0;
  #isEnding = false;
  #isClosed = false;
  #handler: LiveHandler | null = null;
  #settle: () => void = () => undefined;

  constructor(response: HttpResponse, client: Client) {
    this.#response = response;
    this.#client = client;
  }

  /** Opens the response. Resolves when it is closed. */
  start(open: LiveTransportAnswer["open"]): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    this.#client.onGone(() => this.#close());
    this.#response.onWritable(() => this.#writable());
    this.#handler = open(this);
    // It may end or lose the client while it opens, before its handler is known.
    if (this.#isClosed) this.#handler.closed();
    return closed;
  }

  send(text: string | Uint8Array): void {
    if (this.#isEnding || this.#isClosed || text.length === 0) return;
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      this.#queue.push(bytes.subarray(from, from + PIECE_BYTES));
    }
    this.#queuedBytes += bytes.length;
    if (this.bufferedBytes > SOCKET_BUFFER_BYTES) this.#response.close();
    else if (this.#heldBytes === 0) this.#flush();
  }

  get bufferedBytes(): number {
    return this.#queuedBytes + this.#heldBytes;
  }

  end(): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    if (this.bufferedBytes === 0) this.#finish();
  }

  /** Closes the connection at once. Unsent bytes are lost. */
  cut(): void {
    if (!this.#isClosed) this.#response.close();
  }

  /** Keeps the connection open. Cuts it if bytes wait, and the client has received none for too long. */
  beat(): void {
    if (this.#isClosed) return;
    this.#idleBeats = this.bufferedBytes === 0 ? 0 : this.#idleBeats + 1;
    if (this.#idleBeats > MAX_IDLE_BEATS) this.#response.close();
    else {
      this.#response.pause();
      this.#response.resume();
    }
  }

  /** Called when the connection accepts bytes again; sends more pieces. Returns whether the library buffers none. */
  #writable(): boolean {
    if (this.#isClosed) return true;
    const wasWaiting = this.bufferedBytes > 0;
    this.#idleBeats = 0;
    this.#heldBytes = 0;
    this.#flush();
    // The library may lose bytes that are sent inside this callback. So notify the handler, or end the response, after
    // it.
    if (wasWaiting && this.bufferedBytes === 0) setImmediate(() => this.#caughtUp());
    return this.#heldBytes === 0;
  }

  #caughtUp(): void {
    if (this.#isClosed || this.bufferedBytes > 0) return;
    if (this.#isEnding) this.#finish();
    else this.#handler?.drained();
  }

  /**
   * Gives the library pieces until the library has to buffer a piece. Even an empty cork makes the library send its
   * buffered bytes.
   */
  #flush(): void {
    this.#response.cork(() => {
      let sent = 0;
      for (const piece of this.#queue) {
        sent += 1;
        this.#queuedBytes -= piece.length;
        if (this.#response.write(piece)) continue;
        this.#heldBytes = piece.length;
        break;
      }
      this.#queue = sent === this.#queue.length ? [] : this.#queue.slice(sent);
    });
  }

  #finish(): void {
    this.#response.cork(() => this.#response.end());
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#heldBytes = 0;
    this.#handler?.closed();
    this.#settle();
  }
}
