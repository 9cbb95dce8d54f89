import type { ServerResponse } from "node:http";
import type { LiveConnection, LiveHandler } from "../wire/live-answer.js";
import { type LiveTransportAnswer, SOCKET_BUFFER_BYTES } from "./transport.js";

/** The open live responses of a transport. */
export type LiveResponses = Set<NodeLive>;

/** Sends a live response, whose headers are already written. Returns when it is open. */
export function openLive(response: ServerResponse, { open }: LiveTransportAnswer, all: LiveResponses): void {
  response.flushHeaders();
  const live = new NodeLive(response);
  all.add(live);
  live.start(open);
  response.once("close", () => {
    all.delete(live);
    live.closed();
  });
}

/** Maximum number of bytes that the connection gets before it has sent some of them. */
const PIECE_BYTES = 64 * 1024;

/**
 * One live response of `node:http`. It queues its bytes itself and writes them in pieces, because Node reports only
 * whole writes as sent, and may join all waiting bytes into one.
 */
export class NodeLive implements LiveConnection {
  readonly #response: ServerResponse;
  #handler: LiveHandler | null = null;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Number of bytes that the connection has and has not sent yet. */
  #heldBytes = 0;
  #isEnding = false;
  /** Whether the connection has sent a piece since the last {@link beat}. */
  #hasSent = true;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  start(open: LiveTransportAnswer["open"]): void {
    this.#handler = open(this);
  }

  send(text: string | Uint8Array): void {
    if (this.#isEnding || this.#response.destroyed || text.length === 0) return;
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      this.#queue.push(bytes.subarray(from, from + PIECE_BYTES));
    }
    this.#queuedBytes += bytes.length;
    if (this.bufferedBytes > SOCKET_BUFFER_BYTES) this.#response.destroy();
    else this.#flush();
  }

  get bufferedBytes(): number {
    return this.#response.destroyed ? 0 : this.#queuedBytes + this.#heldBytes;
  }

  end(): void {
    this.#isEnding = true;
    this.#endWhenWritten();
  }

  /** Closes the connection at once. Unsent bytes are lost. */
  cut(): void {
    this.#response.destroy();
  }

  closed(): void {
    this.#queue = [];
    this.#handler?.closed();
  }

  /** Cuts the connection if bytes wait, and it has sent none since the previous call. */
  beat(): void {
    if (this.bufferedBytes > 0 && !this.#hasSent) this.#response.destroy();
    this.#hasSent = this.bufferedBytes === 0;
  }

  /** Writes pieces until the connection has enough of them. */
  #flush(): void {
    let written = 0;
    for (const piece of this.#queue) {
      if (this.#heldBytes >= PIECE_BYTES) break;
      written += 1;
      this.#queuedBytes -= piece.length;
      this.#heldBytes += piece.length;
      this.#response.write(piece, () => this.#written(piece.length));
    }
    this.#queue = written === this.#queue.length ? [] : this.#queue.slice(written);
  }

  #written(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#hasSent = true;
    if (this.#response.destroyed) return;
    this.#flush();
    if (this.#isEnding) this.#endWhenWritten();
    else if (this.bufferedBytes === 0) this.#handler?.drained();
  }

  #endWhenWritten(): void {
    if (this.#queuedBytes === 0 && !this.#response.writableEnded) this.#response.end();
  }
}
