import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { RunSignal } from "../../runtime/run-signal.js";

/** Statuses below this are interim: another answer to the same request follows (RFC 9110, section 15.2). */
const FIRST_FINAL_STATUS = 200;

export interface ExchangeLimits {
  /** Most bytes of the answer's body; the rest is not read. */
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  /** Cancels the request. */
  readonly signal: RunSignal;
}

/**
 * One request in progress, which collects the beginning of its answer. It handles undici's events directly,
 * without the streams of undici's `request`, whose cost is not needed for that.
 *
 * 1. It settles once: with the answer, the connection's error, a `TimeoutError` when its time is up, or the reason of its
 *    signal. Timeout and signal settle it at once, even before there is a connection.
 * 2. A connection whose answer is not read to its end is closed.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<BytesAnswer>;
  readonly #maxBodyBytes: number;
  readonly #signal: RunSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #aborted = () => {
    const { reason } = this.#signal;
    this.#cut(reason instanceof Error ? reason : new DOMException("the request was aborted", "AbortError"));
  };
  readonly #chunks: Buffer[] = [];
  #resolve: (answer: BytesAnswer) => void = () => undefined;
  #reject: (reason: Error) => void = () => undefined;
  #controller: Dispatcher.DispatchController | null = null;
  /** Why it was aborted, or null. */
  #reason: Error | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #length = 0;

  constructor({ maxBodyBytes, timeoutMs, signal }: ExchangeLimits) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.#cut(new DOMException("the time is up", "TimeoutError")), timeoutMs);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener("abort", this.#aborted);
    if (signal.aborted) this.#aborted();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason !== null) controller.abort(this.#reason);
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < FIRST_FINAL_STATUS) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#maxBodyBytes) return;
    this.#settle(false);
    controller.abort(new Error("the rest of the answer is not read"));
  }

  onResponseEnd(): void {
    this.#settle(true);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end();
    this.#reject(error);
  }

  #cut(reason: Error): void {
    this.#end();
    this.#reason = reason;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#aborted);
  }

  #settle(isWhole: boolean): void {
    this.#end();
    const bytes = Buffer.concat(this.#chunks).subarray(0, this.#maxBodyBytes);
    this.#resolve({ status: this.#status, headers: this.#headers, bytes, isWhole });
  }
}

/** An answer as it came. */
export interface BytesAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The beginning of the body. */
  readonly bytes: Buffer;
  /** Whether that is all of it; a body of exactly the limit counts as cut off. */
  readonly isWhole: boolean;
}

export interface OutboundAnswer {
  readonly status: number;
  /** The beginning of the body. */
  readonly body: string;
  /** The `retry-after` header unchanged, or null. */
  readonly retryAfter: string | null;
}

/** The answer with its body as text. */
export function toTextAnswer({ status, headers, bytes }: BytesAnswer): OutboundAnswer {
  return { status, body: bytes.toString("utf8"), retryAfter: headers["retry-after"] ?? null };
}
