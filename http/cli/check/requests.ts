import { readJson } from "../../../actors/exact-json.js";
import { ApiError, createClient } from "../../client/entry.js";
import { CouldNotAsk } from "./could-not-ask.js";

export interface Asked {
  readonly url: string;
  /**
   * The target's name in messages, such as `the token exchange`. Never the address of the request, because it may
   * contain a token.
   */
  readonly what: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  /** The parsed JSON body; null if the body is not JSON. */
  readonly body: unknown;
}

/** Sends requests. Retries if the response is lost or the server is temporarily unavailable. */
export interface Requests {
  /**
   * Throws {@link CouldNotAsk} if no usable response arrives, even after retries. Throws {@link Interrupted} if the
   * command must end.
   */
  send(asked: Asked): Promise<Answered>;
  /** Waits. Throws {@link Interrupted} if the command must end. */
  wait(ms: number): Promise<void>;
  nowMs(): number;
}

/** The command must end, because of a signal or its time limit. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

export interface RequestsOptions {
  readonly nowMs: () => number;
  /** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborts when the command must end. */
  readonly ended: AbortSignal;
  /** Receives a line for each retry. */
  readonly log: (line: string) => void;
}

/** Timeout of one request, in milliseconds. */
const ANSWER_MS = 30_000;
/** Maximum size of a response body, in bytes. A check of 50 tasks with reasons is far smaller. */
const MAX_BYTES = 16 * 1024 ** 2;
/** Maximum `retry-after` to wait for, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** Maximum total wait before the retries of a request, in milliseconds. */
const PATIENCE_MS = 10 * 60_000;

/** Returns {@link Requests} that use the API's client, which follows no redirects. */
export function createRequests({ nowMs, wait, ended, log }: RequestsOptions): Requests {
  const checked = async (ms: number): Promise<void> => {
    await wait(ms, ended);
    if (ended.aborted) throw new Interrupted();
  };
  return {
    nowMs,
    wait: checked,
    async send({ url, what, method, headers, body }) {
      if (ended.aborted) throw new Interrupted();
      let attempts = 1;
      const client = createClient({
        retriesLost: true,
        retryMs: PATIENCE_MS,
        maxRetryAfterMs: LONGEST_RETRY_AFTER_MS,
        timeoutMs: ANSWER_MS,
        maxBytes: MAX_BYTES,
        wait: async (ms) => {
          attempts += 1;
          await checked(ms);
        },
        onRetry: ({ status }) => log(`${what} ${describe(status)}: retrying`),
      });
      const options = { signal: ended, headers, ...(body === undefined ? {} : { body }) };
      try {
        const { status, text } = await client.send(method === "GET" ? "get" : "post", url, options);
        return { status, body: parsed(text) };
      } catch (error) {
        if (ended.aborted) throw new Interrupted();
        if (error instanceof ApiError && !error.isTemporary) return { status: error.status, body: parsed(error.text) };
        // Do not report the cause, because it may quote the address.
        const why = describe(error instanceof ApiError ? error.status : null);
        throw new CouldNotAsk(`${capitalised(what)} ${why}, and ${attempts} attempts failed.`);
      }
    },
  };
}

function describe(status: number | null): string {
  return status === null ? "does not respond" : `answered ${status}`;
}

function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
