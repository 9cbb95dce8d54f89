import type { Refusal } from "../../actors/refusal.js";
import type { Socket, SocketHandler, SocketRequest } from "../wire/socket.js";

/** Asked before a body holds `bytes` in memory, in all; whether it may. */
export type HoldBytes = (bytes: number) => boolean;

/** A request as it was received. */
export interface TransportRequest {
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** The part after `?`, or "". */
  readonly query: string;
  /** A header by its lower-case name; repeated ones are joined by ", ". */
  header(name: string): string | undefined;
  /** All headers, in the same form. */
  headers(): ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  /**
   * The whole body, copied once as it arrives. Rejects with {@link BodyTooLarge} as soon as it is known to exceed
   * `limitBytes`, {@link BodyCrowded} as soon as `holdBytes` refuses, {@link BodyTimeout} when it did not arrive in time,
   * or {@link ClientGone}.
   */
  body(limitBytes: number, timeoutMs: number, holdBytes: HoldBytes): Promise<Uint8Array>;
  /** Whether the client still sends its body, and nobody reads it. */
  readonly isSending: boolean;
  /**
   * Reads the rest of the body and drops it. Resolves when all of it has arrived, the client is gone, no byte has arrived
   * for `idleMs`, or after {@link DROP_MS} or {@link DROP_BYTES}. Never rejects. To be called before an answer while
   * `isSending`: a connection that is closed with unread bytes is reset, and the client may never see the answer (RFC 9112,
   * section 9.6).
   */
  dropBody(idleMs?: number): Promise<void>;
  /** Whether the client has gone away. */
  readonly isGone: boolean;
  /** Aborted with {@link ClientGone} when the client goes away. */
  readonly signal: AbortSignal;
}

/** The head of an answer. No header's value holds the end of a line. */
interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** With it the headers go that every answer has (`wire/headers.ts`); without it there are only its own. */
  readonly requestId?: string;
}

/** An answer whose body is held in memory. */
export interface WholeAnswer extends AnswerHead {
  /** Not sent for HEAD, 204 and 304. The transport sets `content-length`. */
  readonly body: string | Uint8Array;
}

/** How the sending of a body ended. */
export interface StreamEnd {
  /** Whether all of it was sent, or none was wanted (HEAD); otherwise the connection ended before. */
  readonly isWhole: boolean;
  /** The error that the iteration of its pieces threw. */
  readonly error?: unknown;
}

/**
 * A body that is produced while it is sent. A transport
 * - reads a piece when the client has taken the previous one, and lets other work run in between;
 * - closes the connection, so that nobody takes a truncated body for the whole, when a piece throws, when the pieces
 * are
 *   not `length` bytes, or when the client takes longer than `idleMs` for 64 KiB or `wholeMs` for everything;
 * - reads no more when the client is gone;
 * - calls `close` once at the end, however it ends, also if no piece was read.
 */
export interface StreamedBody {
  /** The length of all pieces together, in bytes. */
  readonly length: number;
  readonly pieces: Iterable<string | Uint8Array>;
  readonly idleMs: number;
  readonly wholeMs: number;
  /** Never throws. */
  close(end: StreamEnd): void;
}

/** An answer whose body is produced while it is sent. */
export interface StreamedAnswer extends AnswerHead {
  readonly stream: StreamedBody;
}

export type TransportAnswer = WholeAnswer | StreamedAnswer;

/** The outcome of a WebSocket request: refused with an answer, or opened. */
export type UpgradeAnswer =
  | { readonly refused: WholeAnswer }
  | {
      readonly maxMessageBytes: number;
      readonly open: (socket: Socket) => SocketHandler;
      /** Headers of the 101 answer besides those of the protocol. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** Sends an answer. */
export type SendAnswer = (answer: TransportAnswer) => void;

/** What a transport calls. No function throws or rejects. */
export interface TransportHandlers {
  /** Calls `send` once, before it returns or later; also for a client that is gone. */
  request(request: TransportRequest, send: SendAnswer): void;
  upgrade(request: SocketRequest): Promise<UpgradeAnswer>;
  /** The answer to bytes that are no HTTP request; the connection is closed after it. */
  malformed(problem: Extract<Refusal, { refused: "bad-request" }>, status: number): WholeAnswer;
}

/**
 * A server of HTTP/1.1 and WebSocket, with two implementations: uWebSockets.js, and node:http with ws.
 *
 * Pipelined requests, which a client sends before it has the previous answer, are answered in order by node:http;
 * uWebSockets.js closes such a connection. Neither answers out of order.
 */
export interface Transport {
  readonly name: "uws" | "node";
  /**
   * Starts to listen; resolves with the port. Rejects with a message that names an address that is taken or not ours.
   */
  listen(host: string, port: number): Promise<number>;
  /**
   * Stops accepting, closes sockets with 1001, lets running requests finish for at most `graceMs`, then closes all
   * connections.
   */
  close(graceMs: number): Promise<void>;
}

/** Most bytes of a request's headers; beyond it the answer is 431. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Time without a byte after which the rest of an unread body is no longer waited for, in milliseconds. */
export const DROP_IDLE_MS = 2_000;
/** The same of the whole wait, in milliseconds. */
export const DROP_MS = 30_000;
/** Most bytes of an unread body that are dropped before its answer. */
export const DROP_BYTES = 64 * 1024 * 1024;
/** Idle time after which a WebSocket peer that does not answer pings is closed, in seconds. */
export const SOCKET_IDLE_SECONDS = 60;
/** Most buffered bytes of a socket; beyond it the transport closes it with 1013. Streams stay far below. */
export const SOCKET_BUFFER_BYTES = 64 * 1024 * 1024;

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}
export class BodyCrowded extends Error {
  override readonly name = "BodyCrowded";
}
export class BodyTimeout extends Error {
  override readonly name = "BodyTimeout";
}
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}
