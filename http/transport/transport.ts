import type { Refusal } from "../../actors/refusal.js";
import type { Socket, SocketHandler, SocketRequest } from "./socket.js";

/** A request as it came over the wire, before anything was decided about it. */
export interface TransportRequest {
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** What follows the `?`, or "". */
  readonly query: string;
  /** A header by its lower-case name; several of one name are joined by ", ". */
  header(name: string): string | undefined;
  readonly remoteAddress: string;
  /**
   * The whole body. Rejects with {@link BodyTooLarge} as soon as it is known to be longer than `limitBytes`, with
   * {@link BodyTimeout} when it did not arrive in time, and with {@link ClientGone}.
   */
  body(limitBytes: number, timeoutMs: number): Promise<Uint8Array>;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

/** An answer, whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Never sent for HEAD, 204 and 304; `content-length` is the transport's to write. */
  readonly body: string | Uint8Array;
}

/** How the sending of a body ended. */
export interface StreamEnd {
  /** Whether all of it was handed over, or none was wanted (HEAD); else the connection was broken off. */
  readonly isWhole: boolean;
  /** What the making of its pieces threw. */
  readonly error?: unknown;
}

/**
 * A body that is made while it is sent. A transport
 * - asks for a piece once the client has taken the one before, and lets other work have its turn in between;
 * - breaks the connection off, so that nobody takes what came for the whole, when making a piece throws, when the
 *   pieces are not `length` bytes, when the client takes longer than `idleMs` over 64 KiB, or `wholeMs` over all;
 * - asks for no more once the client is gone;
 * - calls `close` once, whatever became of it, also where no piece was asked for.
 */
export interface StreamedBody {
  /** Bytes of all pieces together. */
  readonly length: number;
  readonly pieces: Iterable<string | Uint8Array>;
  readonly idleMs: number;
  readonly wholeMs: number;
  /** Never throws. */
  close(end: StreamEnd): void;
}

/** An answer whose body is made while it is sent. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: StreamedBody;
}

export type TransportAnswer = WholeAnswer | StreamedAnswer;

/** What a WebSocket request ends in: refused with an answer, or opened. */
export type UpgradeAnswer =
  | { readonly refused: WholeAnswer }
  | {
      readonly maxMessageBytes: number;
      readonly open: (socket: Socket) => SocketHandler;
      /** Of the 101 that opens it, beside those of the protocol. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** What a transport hands everything to. Neither function throws or rejects. */
export interface TransportHandlers {
  request(request: TransportRequest): Promise<TransportAnswer>;
  upgrade(request: SocketRequest): Promise<UpgradeAnswer>;
  /** The answer to bytes that are no HTTP request; the connection ends with it. */
  malformed(problem: Extract<Refusal, { refused: "bad-request" }>, status: number): WholeAnswer;
}

/**
 * A server of HTTP/1.1 and WebSocket. Two stand behind this: uWebSockets.js, and node:http with ws.
 *
 * Requests that a client sends without waiting for the answer before (pipelining) are answered in their order by
 * node:http; uWebSockets.js ends such a connection. Neither ever answers out of order.
 */
export interface Transport {
  readonly name: "uws" | "node";
  /** Listens and gives the port. Rejects with a message that names the address when it is taken or not ours. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Stops accepting, closes sockets with 1001, lets requests under way finish for at most `graceMs`, then cuts what
   * is left.
   */
  close(graceMs: number): Promise<void>;
}

/** Longest headers of a request, all together, in bytes; longer ones are answered with 431. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Idle time after which a WebSocket peer that answers no ping is closed, in seconds. */
export const SOCKET_IDLE_SECONDS = 60;
/** Bytes a socket may hold back before the transport closes it with 1013; streams stay far below. */
export const SOCKET_BUFFER_BYTES = 64 * 1024 * 1024;

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}
export class BodyTimeout extends Error {
  override readonly name = "BodyTimeout";
}
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}
