import type { z } from "zod";
import type { RuntimeLog } from "../../../runtime/runtime.js";
import { parseWellFormed } from "../../well-formed.js";
import { readText } from "../http/answer-text.js";
import { toLocation } from "../http/header-text.js";
import { type Outbound, RequestRefused } from "../http/request.js";
import { requestedWaitMs } from "../http/retry-after.js";
import { MAX_WAIT_MS } from "../http/retry-wait.js";

/**
 * The code host rejected a request or did not answer, or its answer is unusable. The message may be shown to people. It
 * contains no part of the answer except the host's error text.
 */
export class CodeHostRefused extends Error {
  override readonly name = "CodeHostRefused";
  /** The status of the answer, if the status is the reason; otherwise null. */
  readonly status: number | null;
  /** When to retry if the code host limits requests, in milliseconds since 1970; null otherwise. */
  readonly retryAtMs: number | null;
  /** The request fields that the code host rejected; empty if the code host names none. */
  readonly fields: readonly string[];

  constructor(
    message: string,
    {
      status = null,
      retryAtMs = null,
      fields = [],
    }: {
      readonly status?: number | null;
      readonly retryAtMs?: number | null;
      readonly fields?: readonly string[];
    } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAtMs = retryAtMs;
    this.fields = fields;
  }
}

/** A request to the code host. */
export interface CodeHostRequest {
  /** The subject of the request, for the log. */
  readonly what: string;
  readonly url: string;
  /** The value of the `authorization` header; null for no header. */
  readonly authorization: string | null;
  /** The default is POST for a request with a body, otherwise GET. */
  readonly method?: "POST" | "PATCH";
  /** The entity tag of an earlier answer, for a conditional request; null or absent for an unconditional request. */
  readonly etag?: string | null;
  /** Maximum size of the answer in bytes; the default is {@link MAX_ANSWER_BYTES}. */
  readonly maxBytes?: number;
  readonly body?: { readonly type: "application/json" | "application/x-www-form-urlencoded"; readonly text: string };
}

export interface CodeHostAnswer {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
  /** The entity tag of this answer; null if it has none. */
  readonly etag: string | null;
  /** The cursor of the next page from the `link` header; null if there is none. */
  readonly next: string | null;
  /** True if a redirect was followed, because the resource has a new address; otherwise absent. */
  readonly isMoved?: boolean;
}

/**
 * Sends a request to the code host. Follows redirects within the code host's API, with the same method, body and
 * credential. Returns any other redirect as the answer. Rejects with {@link CodeHostRefused} in these cases:
 * - There is no answer.
 * - A successful answer cannot be read, for a reason other than its size.
 * - The status is 5xx.
 * - The code host limits requests: status 429, or a 403 that reports a limit.
 */
export type AskCodeHost = (request: CodeHostRequest) => Promise<CodeHostAnswer>;

/** Maximum size of an answer in bytes. A page of repositories is much smaller. */
export const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export interface CodeHostRequestsOptions {
  readonly outbound: Pick<Outbound, "send">;
  /**
   * Base address of the API, without a trailing slash. Only redirects below this address are followed. If the address
   * is absent, no redirect is followed.
   */
  readonly apiUrl?: string;
  /** Name of the code host in messages. */
  readonly name: string;
  readonly now: () => number;
  /** Logs failed requests. From the answer, only the status is logged. */
  readonly log: Pick<RuntimeLog, "warn">;
  /** Timeout of each request in milliseconds; the default is 10 seconds. */
  readonly timeoutMs?: number;
}

/**
 * Creates a function that sends requests to the code host through `outbound`.
 *
 * `@octokit/core` would replace only the headers and the JSON parser. It treats a redirect status as success, and
 * parses JSON only if the type is `application/json`. Its plugins wait in memory by the wall clock instead of in
 * durable wake-ups. `plugin-retry` repeats a POST three times after a 5xx, which may write a comment twice.
 * `plugin-throttling` misses limits with status 429, with a date in `retry-after`, or stated only in the text of a 403.
 */
export function createCodeHostRequests(options: CodeHostRequestsOptions): AskCodeHost {
  const { name, apiUrl, log } = options;
  const ask = async (request: CodeHostRequest, hops: number): Promise<CodeHostAnswer> => {
    const { status, headers, bytes, unread } = await sendRequest(options, request);
    const { what } = request;
    if (REDIRECTS.has(status)) {
      const isFollowed = apiUrl !== undefined && hops < MAX_REDIRECTS;
      const to = isFollowed ? findRedirect(apiUrl, request.url, headers.location) : null;
      if (to !== null) return ask({ ...request, url: to }, hops + 1);
    }
    if (status >= 300 && status !== 404 && status !== 304)
      log.warn("the code host rejected a request", { host: name, what, status });
    refuseLater(options, status, { headers, bytes });
    if (status < 300 && unread !== undefined && unread.kind !== "size")
      throw new CodeHostRefused(`${name} answered with ${status}, and its answer cannot be read: ${unread.reason}.`);
    return {
      status,
      json: parseJson(readText(bytes, headers["content-type"]).text),
      ...(hops > 0 && { isMoved: true }),
      etag: headers.etag ?? null,
      next: nextCursor(headers.link),
    };
  };
  return (request) => ask(request, 0);
}

type Sent = Awaited<ReturnType<Outbound["send"]>>;

async function sendRequest(
  { outbound, name, log, timeoutMs = REQUEST_TIMEOUT_MS }: CodeHostRequestsOptions,
  { what, url, authorization, body, method, etag = null, maxBytes = MAX_ANSWER_BYTES }: CodeHostRequest,
): Promise<Sent> {
  const sent = outbound.send({
    url: new URL(url),
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      accept: "application/vnd.github+json, application/json",
      "user-agent": "Service-Code-Host/1",
      "x-github-api-version": "2022-11-28",
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": body.type }),
      ...(etag === null ? {} : { "if-none-match": etag }),
    },
    body: body?.text ?? null,
    maxBodyBytes: maxBytes,
    timeoutMs,
    signal: new AbortController().signal,
  });
  return sent.catch((error: unknown) => {
    const why = whyUnanswered(error);
    log.warn("the code host did not answer", { host: name, what, why });
    throw new CodeHostRefused(`${name} ${why}.`);
  });
}

/** Throws for 5xx, and if the code host limits requests. */
function refuseLater(
  { name, now }: CodeHostRequestsOptions,
  status: number,
  { headers, bytes }: Pick<Sent, "headers" | "bytes">,
): void {
  const saysLimit = status === 403 && LIMITED.test(bytes.subarray(0, MAX_REFUSAL_BYTES).toString("utf8"));
  const retryAtMs = findRetryTime(status, headers, { nowMs: now(), saysLimit });
  if (retryAtMs !== null) throw new CodeHostRefused(`${name} answered with ${status}.`, { status, retryAtMs });
  if (status >= 500) throw isRefusedWith(name, status);
}

/** Redirect statuses. Renamed and transferred repositories answer with 301 or, for writes, 307. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Maximum number of redirects to follow for one request. */
const MAX_REDIRECTS = 3;

/**
 * Returns the target of a redirect; null if the target is not below the API's base address. The redirected request
 * keeps its credential, so no other redirect may be followed.
 */
function findRedirect(apiUrl: string, asked: string, location: string | string[] | undefined): string | null {
  const [header] = [location ?? []].flat();
  const given = header === undefined ? undefined : toLocation(header);
  if (given === undefined || !URL.canParse(given, asked)) return null;
  const to = new URL(given, asked);
  const base = new URL(`${apiUrl}/`);
  const isBelow = to.origin === base.origin && to.pathname.startsWith(base.pathname);
  return isBelow && `${to.username}${to.password}` === "" ? to.href : null;
}

/** The wait in milliseconds that GitHub recommends if a rate limit gives no time. */
const LIMIT_WAIT_MS = 60_000;

/**
 * Matches GitHub's texts about rate limits. Needed because some answers about a rate limit have no rate-limit header.
 */
const LIMITED = /\brate limit|\babuse detection/i;
const MAX_REFUSAL_BYTES = 4_096;

/** Returns when to retry if the code host limits requests; otherwise null. */
function findRetryTime(
  status: number,
  headers: Sent["headers"],
  { nowMs, saysLimit }: { readonly nowMs: number; readonly saysLimit: boolean },
): number | null {
  const retryAfter = headers["retry-after"] ?? null;
  const isEmpty = headers["x-ratelimit-remaining"] === "0";
  const isLimit = status === 429 || (status === 403 && (retryAfter !== null || isEmpty || saysLimit));
  if (!isLimit) return null;
  const waitMs = requestedWaitMs(retryAfter, nowMs);
  if (waitMs !== null) return nowMs + waitMs;
  const resetMs = Number(headers["x-ratelimit-reset"] ?? Number.NaN) * 1_000;
  return isEmpty && resetMs > nowMs ? Math.min(resetMs, nowMs + MAX_WAIT_MS) : nowMs + LIMIT_WAIT_MS;
}

/** Returns the cursor of the next page from a `link` header (RFC 8288); null if there is none. */
function nextCursor(link: string | string[] | undefined): string | null {
  const next = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec([link ?? []].flat().join(", "))?.[1];
  const url = next !== undefined && URL.canParse(next) ? new URL(next) : null;
  return url?.searchParams.get("cursor") ?? null;
}

/** Creates the error for an unexpected status. `why` is the code host's own text, which may be shown. */
export function isRefusedWith(name: string, status: number, why = "", fields: readonly string[] = []): CodeHostRefused {
  return new CodeHostRefused(`${name} answered with ${status}${why === "" ? "" : ` (${why})`}.`, { status, fields });
}

/** Parses an answer by its schema; throws {@link CodeHostRefused} if the answer does not match the schema. */
export function readAs<Schema extends z.ZodType>(name: string, schema: Schema, json: unknown): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw isOtherAnswer(name);
  return parsed.data;
}

/** Creates the error for an answer that does not have the expected form. */
export function isOtherAnswer(name: string): CodeHostRefused {
  return new CodeHostRefused(`${name} answered with an unexpected response.`);
}

/**
 * Returns why there is no answer. Of a connection's error, uses only the code, because the error's text may contain
 * parts of the answer.
 */
function whyUnanswered(error: unknown): string {
  if (error instanceof RequestRefused) return `is not allowed as a destination: ${error.message}`;
  if (!(error instanceof Error)) return "could not be reached";
  if (error.name === "TimeoutError" || error.name === "AbortError") return "took too long to answer";
  return "code" in error && typeof error.code === "string"
    ? `could not be reached: ${error.code}`
    : "could not be reached";
}

function parseJson(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch {
    return undefined;
  }
}
