import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import { readText } from "./answer-text.js";
import { listCodings } from "./content-coding.js";

/** Statuses below this are interim: another answer to the same request follows (RFC 9110, section 15.2). */
const FIRST_FINAL_STATUS = 200;
/**
 * Matches zlib's error codes for gzip and deflate, brotli, and zstd. Any other error comes from the connection or its
 * framing.
 */
const CODING_ERROR = /^(Z_|ERR__?(ERROR|BROTLI|PADDING)|BROTLI|ZSTD)/;
const DECODED_TOO_LARGE = "UND_ERR_RES_EXCEEDED_MAX_SIZE";

export interface ExchangeLimits {
  /**
   * Maximum size of the decoded response body, in bytes; the rest is not read. The encoded body may be twice as large,
   * plus {@link CODING_OVERHEAD}.
   */
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  /** Cancels the request. */
  readonly signal: RunSignal;
}

type Controller = Dispatcher.DispatchController;

/**
 * One HTTP request in progress, which collects the answer. The class handles undici's events directly, to avoid the
 * cost of the streams in undici's `request`.
 *
 * 1. The exchange settles once. Before the answer's head arrives, it rejects with the connection's error, or with a
 *   `TimeoutError` after the timeout. If the signal aborts, it rejects with the signal's reason, even after the head
 *   has arrived. Timeout and signal take effect immediately, even before there is a connection.
 * 2. After the head has arrived, all other failures resolve with an answer whose `unread` says why the body is
 *   incomplete.
 * 3. If the answer is not read to its end, the connection is closed.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<BytesAnswer>;
  readonly #limits: ExchangeLimits;
  readonly #timer: NodeJS.Timeout;
  readonly #aborted = () => {
    const { reason } = this.#limits.signal;
    this.#cut(reason instanceof Error ? reason : new DOMException("the request was aborted", "AbortError"));
  };
  readonly #chunks: Buffer[] = [];
  #resolve: (answer: BytesAnswer) => void = () => undefined;
  #reject: (reason: Error) => void = () => undefined;
  #controller: Controller | null = null;
  /** The reason for the abort; null if the request was not aborted. */
  #reason: Error | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #length = 0;
  #codedLength = 0;
  #isSettled = false;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    const { timeoutMs, signal } = limits;
    this.#timer = setTimeout(() => this.#late(), timeoutMs);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener("abort", this.#aborted);
    if (signal.aborted) this.#aborted();
  }

  /**
   * Returns a handler for the encoded answer, as it arrives over the connection. The handler passes the answer to
   * `decoding`, which decodes the answer and passes it to this exchange.
   */
  before(decoding: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller, context) => decoding.onRequestStart?.(controller, context),
      onResponseStart: (controller, status, headers, statusMessage) => {
        if (status < FIRST_FINAL_STATUS) return;
        this.#status = status;
        this.#headers = headers;
        const { codings, unsupported } = listCodings(headers);
        if (unsupported !== null) {
          this.#stop(controller, {
            kind: "coding",
            reason: `its content coding ${toName(unsupported)} is not supported`,
          });
          return;
        }
        const known = { ...headers, "content-encoding": codings.join(",") };
        decoding.onResponseStart?.(controller, status, known, statusMessage);
      },
      onResponseData: (controller, chunk) => {
        if (this.#isSettled) return;
        this.#codedLength += chunk.length;
        // Limit the encoded bytes too: bytes that decode to nothing would never reach the limit for decoded bytes.
        if (this.#codedLength > 2 * this.#limits.maxBodyBytes + CODING_OVERHEAD) this.#stopLarge(controller);
        else decoding.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => {
        // An empty body is complete, whatever coding the header names.
        if (this.#codedLength === 0) this.#settle(null);
        decoding.onResponseEnd?.(controller, trailers);
      },
      onResponseError: (controller, error) => decoding.onResponseError?.(controller, error),
    };
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#reason !== null) controller.abort(this.#reason);
  }

  onResponseStart(): void {
    // Status and headers were already taken from the connection, in `before`.
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#limits.maxBodyBytes) this.#stopLarge(controller);
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#status !== 0 && this.#reason === null) this.#settle(toUnread(error, this.#limits));
    else this.#fail(error);
  }

  #late(): void {
    const reason = new DOMException("the time limit was reached", "TimeoutError");
    if (this.#status !== 0) this.#settle({ kind: "time", reason: "it did not end within the time limit" });
    this.#cut(reason);
  }

  #cut(reason: Error): void {
    this.#reason = reason;
    this.#fail(reason);
    this.#controller?.abort(reason);
  }

  #stopLarge(controller: Controller): void {
    this.#stop(controller, tooLarge(this.#limits));
  }

  #stop(controller: Controller, unread: Unread): void {
    this.#settle(unread);
    controller.abort(new Error("the rest of the answer is not read"));
  }

  #end(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#limits.signal.removeEventListener("abort", this.#aborted);
  }

  #fail(reason: Error): void {
    this.#end();
    this.#reject(reason);
  }

  #settle(unread: Unread | null): void {
    if (this.#isSettled) return;
    this.#end();
    const bytes = Buffer.concat(this.#chunks).subarray(0, this.#limits.maxBodyBytes);
    this.#resolve({ status: this.#status, headers: this.#headers, bytes, ...(unread === null ? {} : { unread }) });
  }
}

/** Maximum overhead of a coding for a small body, in bytes. */
const CODING_OVERHEAD = 64 * 1024;

function toUnread(error: Error, limits: ExchangeLimits): Unread {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === DECODED_TOO_LARGE) return tooLarge(limits);
  if (CODING_ERROR.test(code)) return { kind: "coding", reason: "its content coding cannot be decoded" };
  const named = code === "" ? "" : ` (${code})`;
  return { kind: "broken", reason: `the connection broke before its end${named}` };
}

function tooLarge({ maxBodyBytes }: ExchangeLimits): Unread {
  return { kind: "size", reason: `it is larger than ${inWords(maxBodyBytes)}` };
}

function inWords(bytes: number): string {
  const unit = (
    [
      ["MiB", 1024 ** 2],
      ["KiB", 1024],
    ] as const
  ).find(([, size]) => bytes % size === 0);
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[1]} ${unit[0]}`;
}

/** Makes a name from a header safe for a message. */
function toName(name: string): string {
  return name.replace(/[^\w.+ -]/g, "?").slice(0, 40);
}

/**
 * `size`: the body exceeds the limit; its beginning was read. `coding`: its content coding is not supported, or
 * decoding failed. `broken`: the connection broke. `time`: the request's timeout expired.
 */
export const unreadKinds = ["size", "coding", "broken", "time"] as const;
type UnreadKind = (typeof unreadKinds)[number];

/** Why a body was not read completely. */
export interface Unread {
  readonly kind: UnreadKind;
  /** A clause about the body, without a capital letter and full stop. Contains nothing from the body. */
  readonly reason: string;
}

/** An answer with its decoded body. */
export interface BytesAnswer {
  readonly status: number;
  /** Headers by lower-case name, unchanged. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The body; only its beginning if the body is incomplete. */
  readonly bytes: Buffer;
  /** Why the body is incomplete; absent if it is complete. */
  readonly unread?: Unread;
}

/** An answer with its body as text. */
export interface OutboundAnswer {
  readonly status: number;
  /** The body; only its beginning if the body is incomplete. */
  readonly body: string;
  /** The unchanged `retry-after` header; null if the answer has no such header. */
  readonly retryAfter: string | null;
  /** Why the body is incomplete; absent if it is complete. */
  readonly unread?: Unread;
  /**
   * Why the text may differ from what was sent (`answer-text.ts`); absent if there is no doubt or if the body is
   * incomplete.
   */
  readonly doubt?: string;
}

/** Decodes an answer's body to text. */
export function toTextAnswer({ status, headers, bytes, unread }: BytesAnswer): OutboundAnswer {
  const { text, doubt } = readText(bytes, headers["content-type"]);
  const answer = { status, body: text, retryAfter: headers["retry-after"] ?? null };
  if (unread !== undefined) return { ...answer, unread };
  return doubt === null ? answer : { ...answer, doubt };
}
