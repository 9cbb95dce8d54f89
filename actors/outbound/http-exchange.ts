import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { RunSignal } from "../../runtime/run-signal.js";
import { readText } from "./answer-text.js";
import { listCodings } from "./content-coding.js";

/** Statuses below this are interim: another answer to the same request follows (RFC 9110, section 15.2). */
const FIRST_FINAL_STATUS = 200;
/** Codes of zlib's errors: of gzip and deflate, of brotli, of zstd. Any other error is of the connection or its framing. */
const CODING_ERROR = /^(Z_|ERR__?(ERROR|BROTLI|PADDING)|BROTLI|ZSTD)/;
const DECODED_TOO_LARGE = "UND_ERR_RES_EXCEEDED_MAX_SIZE";

export interface ExchangeLimits {
  /** Most bytes of the answer's body once it is decoded, and of the coded body too; the rest is not read. */
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  /** Cancels the request. */
  readonly signal: RunSignal;
}

type Controller = Dispatcher.DispatchController;

/**
 * One request in progress, which collects its answer. It handles undici's events directly, without the streams of
 * undici's `request`, whose cost is not needed for that.
 *
 * 1. It settles once. Before the answer's head has arrived it rejects: with the connection's error, or with a
 *    `TimeoutError` when its time is up. The reason of its signal rejects it at any time. Timeout and signal settle it at
 *    once, even before there is a connection.
 * 2. Once the head has arrived there is an answer, and `unread` says why its body is not whole.
 * 3. A connection whose answer is not read to its end is closed.
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
  /** Why it was aborted, or null. */
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

  /** What handles the answer as it comes over the connection, before `decoding` decodes it for this exchange. */
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
        // Coded bytes that decode to nothing would never reach the limit of what they decode to.
        if (this.#codedLength > 2 * this.#limits.maxBodyBytes + CODING_OVERHEAD) this.#stopLarge(controller);
        else decoding.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => {
        // An empty body is one, whatever coding it names.
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
    // Status and headers are those that came over the connection.
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
    const reason = new DOMException("the time is up", "TimeoutError");
    if (this.#status !== 0) this.#settle({ kind: "time", reason: "it did not end in the time left" });
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

/** What a coding adds at most to a small body, in bytes. */
const CODING_OVERHEAD = 64 * 1024;

function toUnread(error: Error, limits: ExchangeLimits): Unread {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === DECODED_TOO_LARGE) return tooLarge(limits);
  if (CODING_ERROR.test(code)) return { kind: "coding", reason: "it does not decode by its content coding" };
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

/** A name from a header as a reason shows it. */
function toName(name: string): string {
  return name.replace(/[^\w.+ -]/g, "?").slice(0, 40);
}

/**
 * `size`: over the limit; the beginning was read. `coding`: its content coding is not supported, or it does not decode.
 * `broken`: the connection broke. `time`: it did not end in the time of the request.
 */
export const unreadKinds = ["size", "coding", "broken", "time"] as const;
type UnreadKind = (typeof unreadKinds)[number];

/** Why a body was not read whole. */
export interface Unread {
  readonly kind: UnreadKind;
  /** A sentence about the body, without a capital and full stop. Nothing of the body is in it. */
  readonly reason: string;
}

/** An answer with its body decoded. */
export interface BytesAnswer {
  readonly status: number;
  /** By lower-case name, as they came. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The body, or the beginning of one that was not read whole. */
  readonly bytes: Buffer;
  /** Why that is not the whole body; absent when it is. */
  readonly unread?: Unread;
}

/** An answer with its body as text. */
export interface OutboundAnswer {
  readonly status: number;
  /** The body, or the beginning of one that was not read whole. */
  readonly body: string;
  /** The `retry-after` header unchanged, or null. */
  readonly retryAfter: string | null;
  /** Why that is not the whole body; absent when it is. */
  readonly unread?: Unread;
  /** Why the text may not be what was sent (`answer-text.ts`); absent when nothing is in doubt. A cut body has none. */
  readonly doubt?: string;
}

/** The answer with its body as text. */
export function toTextAnswer({ status, headers, bytes, unread }: BytesAnswer): OutboundAnswer {
  const { text, doubt } = readText(bytes, headers["content-type"]);
  const answer = { status, body: text, retryAfter: headers["retry-after"] ?? null };
  if (unread !== undefined) return { ...answer, unread };
  return doubt === null ? answer : { ...answer, doubt };
}
