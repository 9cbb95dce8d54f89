import type { Refusal } from "../../actors/refusal.js";

/** The request that asks for a WebSocket. */
export interface SocketRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** An open WebSocket. Nothing throws; sends after a close are dropped. */
export interface Socket {
  /** Sends a text, or its bytes in UTF-8, which may not change any more. */
  send(text: string | Uint8Array): void;
  /** Bytes accepted by `send` that the peer has not taken yet. Senders of much data watch it and wait for `drained`. */
  readonly bufferedBytes: number;
  /** Starts the closing handshake with a code of RFC 6455 and a short reason. */
  close(code: number, reason: string): void;
  /** Sends a ping. The transport closes a peer that does not answer within the idle time. */
  ping(): void;
}

/** Handles the events of an open socket, in order; never called after `closed`. */
export interface SocketHandler {
  message(text: string): void;
  /** The send buffer has become empty again. */
  drained(): void;
  closed(): void;
}

/** A socket that was admitted. */
export interface Admitted {
  /** The id of the person, token or pool whose socket it is; limits count by it. */
  readonly holder: string;
  open(socket: Socket): SocketHandler;
}

/** A WebSocket endpoint. */
export interface SocketRoute {
  readonly path: string;
  readonly summary: string;
  /** What the peers send each other, for the documentation. */
  readonly description?: string;
  /** The accepted credentials, for the documentation. */
  readonly credentials: readonly ("session" | "token" | "pool")[];
  /** Whether a service that was started with `--read-only` serves it. */
  readonly isServedReadOnly: boolean;
  /** Longest accepted message, in bytes; a longer one closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /** Decides before the upgrade: admits the socket, or refuses with a problem. */
  open(request: SocketRequest): Promise<Refusal | Admitted>;
}
