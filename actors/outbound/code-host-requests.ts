import type { z } from "zod";
import type { RuntimeLog } from "../../runtime/runtime.js";
import { type Outbound, RequestRefused } from "./request.js";

/** The code host refused, or its answer was unusable. The message may be shown: it contains nothing of the answer. */
export class CodeHostRefused extends Error {
  override readonly name = "CodeHostRefused";
}

/** A request to the code host. */
export interface CodeHostRequest {
  /** The subject of the request, for the log. */
  readonly what: string;
  readonly url: string;
  /** The value of `authorization`; null for none. */
  readonly authorization: string | null;
  /** The body of a POST; without a body the request is a GET. */
  readonly body?: { readonly type: "application/json" | "application/x-www-form-urlencoded"; readonly text: string };
}

export interface CodeHostAnswer {
  readonly status: number;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: unknown;
}

/** Asks the code host. Rejects with {@link CodeHostRefused} when there is no answer, and for 429 and 5xx. */
export type AskCodeHost = (request: CodeHostRequest) => Promise<CodeHostAnswer>;

/** Longest answer read, in bytes; a page of repositories is much smaller. */
export const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export interface CodeHostRequestsOptions {
  readonly outbound: Pick<Outbound, "get" | "post">;
  /** Name of the code host in messages. */
  readonly name: string;
  /** Logs failed requests; of the answer only the status. */
  readonly log: Pick<RuntimeLog, "warn">;
  /** Time for each request, in milliseconds; 10 seconds unless given. */
  readonly timeoutMs?: number;
}

/** Sends requests to the code host through `outbound`. */
export function createCodeHostRequests(options: CodeHostRequestsOptions): AskCodeHost {
  const { outbound, name, log, timeoutMs = REQUEST_TIMEOUT_MS } = options;
  return async ({ what, url, authorization, body }) => {
    const request = {
      url: new URL(url),
      headers: {
        accept: "application/vnd.github+json, application/json",
        "user-agent": "Service-Code-Host/1",
        "x-github-api-version": "2022-11-28",
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined ? {} : { "content-type": body.type }),
      },
      timeoutMs,
      signal: new AbortController().signal,
    };
    const sent = body === undefined ? outbound.get(request) : outbound.post({ ...request, body: body.text });
    const answer = await sent.catch((error: unknown) => {
      const why = whyUnanswered(error);
      log.warn("the code host did not answer", { host: name, what, why });
      throw new CodeHostRefused(`${name} ${why}.`);
    });
    const { status } = answer;
    if (status >= 300 && status !== 404) log.warn("the code host refused", { host: name, what, status });
    // GitHub answers 403 with retry-after when a client sends too many requests.
    if (status >= 500 || status === 429 || (status === 403 && answer.retryAfter !== null))
      throw isRefusedWith(name, status);
    return { status, json: parseJson(answer.body) };
  };
}

/** The error for an unexpected status. */
export function isRefusedWith(name: string, status: number): CodeHostRefused {
  return new CodeHostRefused(`${name} answered with ${status}.`);
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
