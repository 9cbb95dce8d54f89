import type { z } from "zod";
import type { RuntimeLog } from "../../runtime/runtime.js";
import { parseWellFormed } from "../well-formed.js";
import { readText } from "./answer-text.js";
import { type Outbound, RequestRefused } from "./request.js";
import { requestedWaitMs } from "./retry-after.js";

/** The code host refused, or its answer was unusable. The message may be shown: it contains nothing of the answer. */
export class CodeHostRefused extends Error {
  override readonly name = "CodeHostRefused";
  /** The status of its answer; null where there is none. */
  readonly status: number | null;
  /** When it may be asked again, where it takes no more for now, in milliseconds since 1970; else null. */
  readonly retryAtMs: number | null;
  /** The fields of the request that it refused, as far as it names them. */
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
  /** The value of `authorization`; null for none. */
  readonly authorization: string | null;
  /** POST with a body, else GET, unless given. */
  readonly method?: "POST" | "PATCH";
  /** The tag of an earlier answer, to be told whether it would be another now; null or absent for none. */
  readonly etag?: string | null;
  /** Most bytes of the answer; {@link MAX_ANSWER_BYTES} unless given. */
  readonly maxBytes?: number;
  readonly body?: { readonly type: "application/json" | "application/x-www-form-urlencoded"; readonly text: string };
}

export interface CodeHostAnswer {
  readonly status: number;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: unknown;
  /** The tag of this answer; null for none. */
  readonly etag: string | null;
  /** The cursor of the next page, as its links say; null for none. */
  readonly next: string | null;
  /** Whether a redirect was followed: what was asked about has another address by now; absent for no. */
  readonly isMoved?: boolean;
}

/**
 * Asks the code host, and follows redirects within its API with the same method, body and credential; any other redirect
 * is an answer. Rejects with {@link CodeHostRefused} when there is no answer, for 5xx, and where it takes no more for now:
 * 429, or a 403 that says so.
 */
export type AskCodeHost = (request: CodeHostRequest) => Promise<CodeHostAnswer>;

/** Longest answer read, in bytes; a page of repositories is much smaller. */
export const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export interface CodeHostRequestsOptions {
  readonly outbound: Pick<Outbound, "send">;
  /** Base address of the API, without a slash at its end; redirects are followed below it. Without it none is. */
  readonly apiUrl?: string;
  /** Name of the code host in messages. */
  readonly name: string;
  readonly now: () => number;
  /** Logs failed requests; of the answer only the status. */
  readonly log: Pick<RuntimeLog, "warn">;
  /** Time for each request, in milliseconds; 10 seconds unless given. */
  readonly timeoutMs?: number;
}

/** Sends requests to the code host through `outbound`. */
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
      log.warn("the code host refused", { host: name, what, status });
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

/** Throws for 5xx, and where the code host takes no more for now. */
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

/** Statuses of redirects. Renamed and transferred repositories answer with 301 or, for writes, 307. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Most redirects of one request that are followed. */
const MAX_REDIRECTS = 3;

/**
 * The address that a redirect leads to; null where it is not below the API's base address. The credential goes along, so
 * nothing else is followed.
 */
function findRedirect(apiUrl: string, asked: string, location: string | string[] | undefined): string | null {
  const [given] = [location ?? []].flat();
  if (given === undefined || !URL.canParse(given, asked)) return null;
  const to = new URL(given, asked);
  const base = new URL(`${apiUrl}/`);
  const isBelow = to.origin === base.origin && to.pathname.startsWith(base.pathname);
  return isBelow && `${to.username}${to.password}` === "" ? to.href : null;
}

/** The least wait that GitHub asks for where it names no time, in milliseconds. */
const LIMIT_WAIT_MS = 60_000;

/** What GitHub says of limits of its own, at times without a header that does. */
const LIMITED = /\brate limit|\babuse detection/i;
const MAX_REFUSAL_BYTES = 4_096;

/** When the code host may be asked again, where it takes no more for now; else null. */
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
  return isEmpty && resetMs > nowMs ? Math.min(resetMs, nowMs + MAX_LIMIT_WAIT_MS) : nowMs + LIMIT_WAIT_MS;
}

/** A window of GitHub's limits is an hour. */
const MAX_LIMIT_WAIT_MS = 60 * 60 * 1_000;

/** The cursor of the next page by a `link` header (RFC 8288); null for none. */
function nextCursor(link: string | string[] | undefined): string | null {
  const next = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec([link ?? []].flat().join(", "))?.[1];
  const url = next !== undefined && URL.canParse(next) ? new URL(next) : null;
  return url?.searchParams.get("cursor") ?? null;
}

/** The error for an unexpected status; `why` is the code host's own word on it, which may be shown. */
export function isRefusedWith(name: string, status: number, why = "", fields: readonly string[] = []): CodeHostRefused {
  return new CodeHostRefused(`${name} answered with ${status}${why === "" ? "" : ` (${why})`}.`, { status, fields });
}

/** Parses an answer by its schema; throws {@link CodeHostRefused} when it does not match. */
export function readAs<Schema extends z.ZodType>(name: string, schema: Schema, json: unknown): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new CodeHostRefused(`${name} answered with something else than was asked for.`);
  return parsed.data;
}

/** Why there is no answer, by the error's code: the text of an error may contain parts of the answer. */
function whyUnanswered(error: unknown): string {
  if (error instanceof RequestRefused) return `may not be asked: ${error.message}`;
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
