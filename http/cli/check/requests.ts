import { readJson } from "../../../actors/exact-json.js";
import { CouldNotAsk } from "./could-not-ask.js";

/** One request. */
export interface Asked {
  readonly url: string;
  /** What messages call it: `the checks of https://…`. Never the address itself, which may hold a token. */
  readonly what: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  /** The JSON of the body; null where it is none. */
  readonly body: unknown;
}

/** Sends requests, again and again while their answers are lost or the other side has no room. */
export interface Requests {
  /** Throws {@link CouldNotAsk} when nothing answers for long, and {@link Interrupted} when it is told to end. */
  send(asked: Asked): Promise<Answered>;
  /** Waits; throws {@link Interrupted} when it is told to end. */
  wait(ms: number): Promise<void>;
  nowMs(): number;
}

/** The command was told to end: by a signal, or because its time is up. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

export interface RequestsOptions {
  readonly nowMs: () => number;
  /** Resolves after that time, or as soon as the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborted when the command is told to end. */
  readonly ended: AbortSignal;
  /** Is told of each request that is sent again. */
  readonly log: (line: string) => void;
}

/** How long one request may take, in milliseconds. */
const ANSWER_MS = 30_000;
/** The longest body that is read, in bytes: a check of 50 tasks with reasons has far less. */
const MOST_BYTES = 16 * 1024 ** 2;
/** The first wait before a request is sent again doubles up to the longest, in milliseconds. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** The longest `retry-after` that is waited for, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** For how long a request is sent again, in milliseconds. */
const PATIENCE_MS = 10 * 60_000;

/** Answers that say that another may come: of the service, and of proxies before it. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Requests by Node's own `fetch`. A redirect is followed nowhere: a token must not be sent to another host. */
export function createRequests({ nowMs, wait, ended, log }: RequestsOptions): Requests {
  const checked = async (ms: number): Promise<void> => {
    await wait(ms, ended);
    if (ended.aborted) throw new Interrupted();
  };
  return {
    nowMs,
    wait: checked,
    async send(asked) {
      const begun = nowMs();
      for (let times = 0; ; times++) {
        if (ended.aborted) throw new Interrupted();
        const tried = await attempt(asked, ended);
        if (tried.answer !== null && !passing.has(tried.answer.status)) return tried.answer;
        const why = tried.answer === null ? "does not answer" : `answered ${tried.answer.status}`;
        const waitMs = Math.max(tried.retryAfterMs ?? 0, Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS));
        const isLong = waitMs > LONGEST_RETRY_AFTER_MS || nowMs() + waitMs - begun > PATIENCE_MS;
        if (isLong) throw new CouldNotAsk(`${capitalised(asked.what)} ${why}, and ${times + 1} tries were in vain.`);
        log(`${asked.what} ${why}: it is asked again`);
        await checked(waitMs);
      }
    },
  };
}

interface Tried {
  /** Null where it was lost. */
  readonly answer: Answered | null;
  /** What the answer asks to wait for at least, in milliseconds; null where it says nothing. */
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
    return { answer: { status: answer.status, body: parsed(await textOf(answer)) }, retryAfterMs };
  } catch {
    // Refused, cut or too slow; the causes of `fetch` may quote the address.
    return { answer: null, retryAfterMs: null };
  }
}

/** The body, up to its longest; what is longer reads as no JSON. */
async function textOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MOST_BYTES) return "";
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
