import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { OutboundAnswer } from "./request.js";

/** Statuses below this one are followed by another answer to the same request (RFC 9110, section 15.2). */
const FIRST_FINAL_STATUS = 200;

/**
 * One request under way: takes its answer from the connection, up to what is kept of it. It spares the streams that
 * undici's own `request` gives an answer as, since no more than its beginning is wanted, as text.
 *
 * 1. It settles once: with the answer, with the connection's error, or at once with the reason it is cut short for.
 * 2. A connection whose answer is not read to its end is closed.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<OutboundAnswer>;
  readonly #keepBytes: number;
  readonly #chunks: Buffer[] = [];
  #resolve: (answer: OutboundAnswer) => void = () => undefined;
  #reject: (reason: Error) => void = () => undefined;
  #controller: Dispatcher.DispatchController | null = null;
  /** Why it was cut short, or null. */
  #reason: Error | null = null;
  #status = 0;
  #retryAfter: string | null = null;
  #length = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Rejects with the reason, whether a connection is there already or not. */
  cut(reason: Error): void {
    this.#reason = reason;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason !== null) controller.abort(this.#reason);
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < FIRST_FINAL_STATUS) return;
    this.#status = status;
    this.#retryAfter = headers["retry-after"] ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#keepBytes) return;
    this.#settle();
    controller.abort(new Error("the rest of the answer is not read"));
  }

  onResponseEnd(): void {
    this.#settle();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }

  #settle(): void {
    const body = Buffer.concat(this.#chunks).subarray(0, this.#keepBytes).toString("utf8");
    this.#resolve({ status: this.#status, body, retryAfter: this.#retryAfter });
  }
}
