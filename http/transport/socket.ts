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
  send(text: string): void;
  /** Bytes accepted by `send` that the peer has not taken yet. Who sends much watches it and waits for `drained`. */
  readonly bufferedBytes: number;
  /** Starts the closing handshake with a code of RFC 6455 and a short reason. */
  close(code: number, reason: string): void;
  /** Sends a ping; a peer that answers none for the idle time is closed by the transport. */
  ping(): void;
}

/** What hears an open socket; called in order, never after `closed`. */
export interface SocketHandler {
  message(text: string): void;
  /** The buffer has run empty after having held something. */
  drained(): void;
  closed(): void;
}

/** A socket that was admitted. */
export interface Admitted {
  /** Whose it is: a person, a token or a pool. Each may hold so many open. */
  readonly holder: string;
  open(socket: Socket): SocketHandler;
}

/** A WebSocket endpoint. */
export interface SocketRoute {
  readonly path: string;
  readonly summary: string;
  /** What opens it, for the documents. */
  readonly credentials: readonly ("session" | "token" | "pool")[];
  /** Longest message taken, in bytes; a longer one closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /** Admits (and gets the socket when it is open) or refuses with a problem before the upgrade. */
  open(request: SocketRequest): Promise<Refusal | Admitted>;
}
