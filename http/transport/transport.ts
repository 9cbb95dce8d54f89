import type { Refusal } from "../../actors/refusal.js";
import type { LiveConnection, LiveHandler } from "../wire/live-answer.js";
import type { Socket, SocketHandler, SocketRequest } from "../wire/socket.js";

/** Called before a body uses `bytes` of memory in total. Returns whether the body may use them. */
export type HoldBytes = (bytes: number) => boolean;

/** A request as the transport received it. */
export interface TransportRequest {
  readonly method: string;
  /** The path as sent: percent-encoded, without the query. */
  readonly path: string;
  /** The part after `?`, or "". */
  readonly query: string;
  /**
   * Returns a header by its lower-case name; undefined if absent. Repeated headers are joined with ", ", cookies with
   * "; ".
   */
  header(name: string): string | undefined;
  /** Returns all headers by lower-case name. Repeated headers are joined. */
  headers(): ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  /**
   * Receives the whole body. Rejects with:
   *
   * - {@link BodyTooLarge} as soon as the size is known to exceed `limitBytes`
   * - {@link BodyCrowded} as soon as `holdBytes` returns false
   * - {@link BodyTimeout} if the body does not arrive in time
   * - {@link ClientGone} if the client disconnects
   */
  body(limitBytes: number, timeoutMs: number, holdBytes: HoldBytes): Promise<Uint8Array>;
  /** Whether the client is still sending a body that the service does not read. */
  readonly isSending: boolean;
  /**
   * Reads and drops the rest of the body. Never rejects. Resolves in these cases:
   *
   * - The body is complete.
   * - The client has disconnected.
   * - No byte arrived for `idleMs`.
   * - {@link DROP_MS} or {@link DROP_BYTES} is reached.
   *
   * Call it before a response while `isSending` is true. Closing a connection with unread bytes resets it, and the
   * client may never see the response (RFC 9112, section 9.6).
   */
  dropBody(idleMs?: number): Promise<void>;
  /** Whether the client has disconnected. */
  readonly isGone: boolean;
  /** Aborts with {@link ClientGone} when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Status and headers of a response. No header value contains a line break. */
interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * If set, the transport adds the headers that every response has (`wire/headers.ts`). Otherwise it sends only
   * `headers`.
   */
  readonly requestId?: string;
}

/** A response with its whole body in memory. */
export interface WholeAnswer extends AnswerHead {
  /** Not sent for HEAD, 204 and 304. The transport sets `content-length`. */
  readonly body: string | Uint8Array;
}

/** The state of a streamed response at its end. */
export interface StreamEnd {
  /** Whether all of the body was sent, or none was needed (HEAD). False if the connection closed before. */
  readonly isWhole: boolean;
  /**
   * The error that was thrown while a piece was read, or an error that says that the pieces do not have `length` bytes
   * in total.
   */
  readonly error?: unknown;
}

/**
 * A body that the handler produces while the transport sends it. The transport does the following:
 *
 * - It reads a piece when the client has received the previous piece, and lets other work run in between.
 * - It closes the connection if a piece throws, or if the pieces do not add up to `length` bytes. So no client takes
 *   a truncated body for a complete one.
 * - It also closes the connection if the client takes longer than `idleMs` for 64 KiB, or longer than `wholeMs` for
 *   everything.
 * - It stops reading when the client has disconnected.
 * - It calls `close` once at the end, whether the response succeeded or not, and even if no piece was read.
 */
export interface StreamedBody {
  /** The total length of all pieces, in bytes. */
  readonly length: number;
  readonly pieces: Iterable<string | Uint8Array>;
  readonly idleMs: number;
  readonly wholeMs: number;
  /** Never throws. */
  close(end: StreamEnd): void;
}

/** A response with a streamed body. */
export interface StreamedAnswer extends AnswerHead {
  readonly stream: StreamedBody;
}

/**
 * A response that stays open until the handler ends it or the client disconnects. A transport:
 * - calls `open` at once, and sends the headers with the first bytes, so the handler sends some bytes in `open`;
 * - does not call `open` for HEAD, or if the client has disconnected;
 * - keeps an idle connection open;
 * - cuts a connection whose client receives none of its buffered bytes for {@link SOCKET_IDLE_SECONDS}, or has more
 *   than {@link SOCKET_BUFFER_BYTES} of them;
 * - ends the response when the transport closes.
 */
export interface LiveTransportAnswer extends AnswerHead {
  readonly open: (connection: LiveConnection) => LiveHandler;
}

export type TransportAnswer = WholeAnswer | StreamedAnswer | LiveTransportAnswer;

/** The result of a WebSocket request: a refusal, or a function that opens the socket. */
export type UpgradeAnswer =
  | { readonly refused: WholeAnswer }
  | {
      readonly maxMessageBytes: number;
      readonly open: (socket: Socket) => SocketHandler;
      /** Headers of the 101 response besides those of the protocol. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** Sends the response to a request. */
export type SendAnswer = (answer: TransportAnswer) => void;

/** The functions that a transport calls. None of them throws or rejects. */
export interface TransportHandlers {
  /** Handles a request. Calls `send` once, before or after it returns, even if the client has disconnected. */
  request(request: TransportRequest, send: SendAnswer): void;
  upgrade(request: SocketRequest): Promise<UpgradeAnswer>;
  /**
   * Creates the response to a malformed request, or to bytes that are not an HTTP request. The transport closes the
   * connection after it.
   */
  malformed(problem: Extract<Refusal, { refused: "bad-request" }>, status: number): WholeAnswer;
}

/**
 * An HTTP/1.1 and WebSocket server, with two implementations: uWebSockets.js, and `node:http` with `ws`.
 *
 * A client may pipeline requests, that is, send a request before the previous response arrives. Neither implementation
 * responds out of order:
 *
 * - `node:http` answers pipelined requests in order.
 * - uWebSockets.js answers them in order only if each response is sent in the first tick of its request. Most reads are
 *   answered in that tick. If a request arrives while the previous request still waits, the library closes the
 *   connection and responds to neither request. Completed effects of both requests persist. Responses to earlier
 *   requests in the same packet may be lost.
 *
 * The service cannot prevent this: uWebSockets.js parses all requests of a packet together, and pausing reads would
 * hide a disconnect. Clients retry on a closed connection (RFC 9112, section 9.3.2).
 */
export interface Transport {
  readonly name: "uws" | "node";
  /**
   * Starts to listen and resolves with the port. If the address is in use or does not belong to this machine, rejects
   * with an error that names it.
   */
  listen(host: string, port: number): Promise<number>;
  /**
   * Stops accepting requests, closes sockets with 1001, ends live responses, gives in-flight requests at most `graceMs`
   * to finish, then closes all connections. Live responses get at most {@link LIVE_END_MS}.
   */
  close(graceMs: number): Promise<void>;
}

/** Maximum size of a request's headers, in bytes. Beyond it the response is 431. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum time without a byte while waiting for the rest of an unread body, in milliseconds. */
export const DROP_IDLE_MS = 2_000;
/** Maximum total time to wait for the rest of an unread body, in milliseconds. */
export const DROP_MS = 30_000;
/** Maximum number of bytes of an unread body to drop before the response. */
export const DROP_BYTES = 64 * 1024 * 1024;
/**
 * Maximum time for the clients of live responses to receive the rest when the transport closes, in milliseconds. A client
 * that stopped reading would otherwise delay every restart.
 */
export const LIVE_END_MS = 1_000;
/** Idle time after which the transport closes a WebSocket whose peer does not answer pings, in seconds. */
export const SOCKET_IDLE_SECONDS = 60;
/**
 * Maximum number of buffered bytes of a socket. Beyond it the transport closes the socket with 1013. Streams stay far
 * below it.
 */
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
