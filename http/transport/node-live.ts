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

/** One live response of `node:http`. */
export class NodeLive implements LiveConnection {
  readonly #response: ServerResponse;
  #handler: LiveHandler | null = null;
  #isBuffering = false;
  /** The bytes that the connection had sent at the last {@link beat}. */
  #sentBefore = -1;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  start(open: LiveTransportAnswer["open"]): void {
    this.#handler = open(this);
  }

  send(text: string | Uint8Array): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    this.#response.write(text, () => this.#written());
    this.#isBuffering = this.#isBuffering || this.bufferedBytes > 0;
    if (this.bufferedBytes > SOCKET_BUFFER_BYTES) this.#response.destroy();
  }

  get bufferedBytes(): number {
    return this.#response.destroyed ? 0 : this.#response.writableLength;
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  closed(): void {
    this.#handler?.closed();
  }

  /** Cuts the connection if it has unsent bytes and has sent no byte since the previous call. */
  beat(): void {
    const sent = this.#response.socket?.bytesWritten ?? 0;
    const waiting = this.#response.socket?.writableLength ?? 0;
    if (waiting > 0 && sent === this.#sentBefore) this.#response.destroy();
    this.#sentBefore = sent;
  }

  #written(): void {
    if (!this.#isBuffering || this.bufferedBytes > 0 || this.#response.destroyed) return;
    this.#isBuffering = false;
    this.#handler?.drained();
  }
}
