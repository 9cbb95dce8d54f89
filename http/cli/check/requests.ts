import { readJson } from "../../../actors/exact-json.js";
import { CouldNotAsk } from "./could-not-ask.js";

/** A request to send. */
export interface Asked {
  readonly url: string;
  /**
   * The target's name in messages: `the checks of https://…`. Never the address itself, because it may contain a token.
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

/** Sends requests, and retries if the response is lost or the other side is temporarily unavailable. */
export interface Requests {
  /**
   * Throws {@link CouldNotAsk} if the retries take too long without success, and {@link Interrupted} if the command
   * must end.
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
/** The wait before the first retry, and the maximum to which it doubles, in milliseconds. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Maximum `retry-after` to wait for, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** How long to retry a request, in milliseconds. */
const PATIENCE_MS = 10 * 60_000;

/** Response statuses to retry. They may come from the service or from a proxy in front of it. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Creates requests on Node's own `fetch`. They follow no redirects, because a token must not be sent to another host.
 */
export function createRequests({ nowMs, wait, ended, log }: RequestsOptions): Requests {
  const checked = async (ms: number): Promise<void> => {
    await wait(ms, ended);
    if (ended.aborted) throw new Interrupted();
  };
  return {
    nowMs,
    wait: checked,
    async send(asked) {
      const started = nowMs();
      for (let times = 0; ; times++) {
        if (ended.aborted) throw new Interrupted();
        const tried = await attempt(asked, ended);
        if (tried.answer !== null && !passing.has(tried.answer.status)) return tried.answer;
        const why = tried.answer === null ? "does not respond" : `answered ${tried.answer.status}`;
        const waitMs = Math.max(tried.retryAfterMs ?? 0, Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS));
        const isLong = waitMs > LONGEST_RETRY_AFTER_MS || nowMs() + waitMs - started > PATIENCE_MS;
        if (isLong) throw new CouldNotAsk(`${capitalised(asked.what)} ${why}, and ${times + 1} attempts failed.`);
        log(`${asked.what} ${why}: retrying`);
        await checked(waitMs);
      }
    },
  };
}

interface Tried {
  /** Null if the response was lost. */
  readonly answer: Answered | null;
  /** The minimum wait that the response demands, in milliseconds; null if it demands none. */
  readonly retryAfterMs: number | null;
}

async function attempt({ url, method, headers, body }: Asked, ended: AbortSignal): Promise<Tried> {
  try {
    const answer = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS), ended]),
      ...(body === undefined ? {} : { body }),
    });
    const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
    return { answer: { status: answer.status, body: parsed(await readText(answer)) }, retryAfterMs };
  } catch {
    // The connection was refused or cut, or the response was too slow. Do not report the cause, because `fetch` may
    // quote the address.
    return { answer: null, retryAfterMs: null };
  }
}

/**
 * Reads the body up to the maximum size. Returns an empty text for a longer body, which then counts as invalid JSON.
 */
async function readText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) return "";
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
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
