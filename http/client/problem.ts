import type { ProblemSlug } from "./api.js";

/** The body of an error response (RFC 9457). */
export interface Problem {
  /** `urn:service:problem:<slug>`. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The invalid fields of an `invalid` problem. */
  readonly errors?: readonly { readonly path: string; readonly message: string; readonly severity: string }[];
  /** On a `moved-on` problem, the current version of the resource. */
  readonly currentVersion?: number;
  /** On a `not-found` problem, how to find the id of the object. */
  readonly hint?: string;
  /** On a `forbidden` problem, the permission that the caller lacks. */
  readonly permission?: string;
}

/**
 * Thrown when the service or a proxy answers a call with a status other than 2xx. The error message is the problem's
 * detail, its invalid fields and its hint. If the response has no problem, the error message is the status.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The body of the response. */
  readonly text: string;
  /** Null if the body is not a problem, for example from a proxy before the service. */
  readonly problem: Problem | null;
  /** The `x-request-id` of the response, to find the request in the service's log. */
  readonly requestId: string | null;

  constructor(call: string, answer: { readonly status: number; readonly headers: Headers; readonly text: string }) {
    const problem = readProblem(answer.text);
    super(problem === null ? `${call} answered ${answer.status}` : describe(problem));
    this.status = answer.status;
    this.text = answer.text;
    this.problem = problem;
    this.requestId = answer.headers.get("x-request-id");
  }

  /**
   * Whether the same call may succeed later. This is so for the statuses 408, 425, 429, 500, 502, 503 and 504, whether
   * the service or a proxy sent them.
   */
  get isTemporary(): boolean {
    return [408, 425, 429, 500, 502, 503, 504].includes(this.status);
  }

  /** The type of the problem without its prefix, such as `not-found`; null if the response has no problem. */
  get slug(): ProblemSlug | null {
    return (this.problem?.type.split(":").at(-1) as ProblemSlug | undefined) ?? null;
  }
}

/** Thrown when no complete response arrived, or when the service closed the stream for good. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** The client's `baseUrl`. Null if the client has no `baseUrl`, or if the service closed the stream. */
  readonly url: string | null;

  constructor(message: string, { url = null, cause }: { readonly url?: string | null; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.url = url;
  }
}

function readProblem(text: string): Problem | null {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.type === "string" && typeof value.detail === "string" ? (value as Problem) : null;
  } catch {
    return null;
  }
}

function describe({ detail, errors = [], hint }: Problem): string {
  const fields = errors.map(({ path, message }) => `${path}: ${message}`).filter((line) => !detail.includes(line));
  return [detail, ...fields, hint ?? []].flat().join("\n");
}
