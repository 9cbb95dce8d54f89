import type { Refusal } from "../../actors/refusal.js";

/** The HTTP request that asks for a WebSocket. */
export interface SocketRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Returns a request header by its lower-case name; undefined if absent. */
  header(name: string): string | undefined;
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** An open WebSocket. Its methods never throw. After a close, `send` drops its messages. */
export interface Socket {
  /** Sends a text, as a string or as UTF-8 bytes. Do not change the bytes afterwards. */
  send(text: string | Uint8Array): void;
  /**
   * Bytes that `send` accepted and the peer has not received yet. If you send much data, check this value and wait for
   * `drained`.
   */
  readonly bufferedBytes: number;
  /** Starts the closing handshake with an RFC 6455 code and a short reason. */
  close(code: number, reason: string): void;
  /** Sends a ping. The transport closes the socket if the peer does not answer within the idle timeout. */
  ping(): void;
}

/** Handles the events of an open socket, in order. No event follows `closed`. */
export interface SocketHandler {
  message(text: string): void;
  /** Called when the send buffer is empty again. */
  drained(): void;
  closed(): void;
}

/** An admitted WebSocket request. */
export interface Admitted {
  /** The id of the person, token or pool that opens the socket. Limits count sockets by this id. */
  readonly holder: string;
  open(socket: Socket): SocketHandler;
}

/** A WebSocket endpoint. */
export interface SocketRoute {
  readonly path: string;
  readonly summary: string;
  /** The messages in both directions, for the documentation. */
  readonly description?: string;
  /** The credentials that the endpoint accepts, for the documentation. */
  readonly credentials: readonly ("session" | "token" | "pool")[];
  /** Whether a service with `--read-only` serves the endpoint. */
  readonly isServedReadOnly: boolean;
  /** Maximum message size, in bytes. A longer message closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /** Called before the upgrade. Admits the socket, or refuses it with a problem. */
  open(request: SocketRequest): Promise<Refusal | Admitted>;
}
