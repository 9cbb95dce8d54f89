import { z } from "zod";
import type { Caller, PersonCaller, TokenCaller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import type { LiveAnswer } from "./live-answer.js";
import type { EdgeRefusal, ProblemSlug } from "./problem.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call a route. `public` needs no credential, so `caller` may be null. `person` needs a session. `any` needs a
 * session or a workspace token. The handler checks the caller's permissions through `actors/access`.
 */
export type RouteAccess = "public" | "person" | "any";

type CallerOf<Access extends RouteAccess> = Access extends "public"
  ? Caller | null
  : Access extends "person"
    ? PersonCaller
    : PersonCaller | TokenCaller;

/** The part after the underscore of every example id. */
export const EXAMPLE_ULID = "01KAHX5E8GJMPQS1T3V5X7Z9AB";

/** A request after authentication, rate limits and parsing. */
export interface RouteRequest<Access extends RouteAccess = RouteAccess, Body = unknown, Query = unknown> {
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: CallerOf<Access>;
  /** Returns a request header by its lower-case name; undefined if absent. */
  header(name: string): string | undefined;
  /** Returns all request headers by their lower-case names. */
  headers(): ReadonlyMap<string, string>;
  /** The `Service-Client` header in the form used in change records; `unknown` if it is missing or not recognized. */
  readonly client: string | null;
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Lets other work run during a long response. Resolves when this client has its next turn. */
  readonly pause: () => Promise<void>;
  /**
   * Call this between two short pieces of work. If it returns null, the next piece may run at once. Otherwise wait for
   * the returned promise, which resolves when this client has its next turn.
   */
  readonly goOn: () => Promise<void> | null;
  /**
   * Aborts when the client disconnects or the request times out. A handler may throw the abort reason; the service does
   * not count it as a failure.
   */
  readonly signal: AbortSignal;
}

/** A request without a valid credential to a route that needs one. */
export interface UnknownRequest extends Pick<RouteRequest, "params" | "headers"> {
  /** The request's method: GET or HEAD. */
  readonly method: string;
  /** The part of the URL after `?`, or "". */
  readonly query: string;
}

/** A response that the handler produces while the service sends it. */
export interface AnswerStream {
  /** The content type of a text; JSON by default. */
  readonly type?: string;
  /** The length in bytes. */
  readonly length: number;
  /** The pieces of the text. Other work runs between two pieces; an empty piece is only a pause. */
  readonly pieces: Iterable<string | Uint8Array>;
  /** Called once at the end, whether the response succeeded or not, and even if no piece was read. Does not throw. */
  close(): void;
}

export interface Answer {
  readonly status: number;
  /** The JSON body. Absent if the response has `json`, `text`, `stream`, `live` or no body. */
  readonly body?: unknown;
  /** A body that is too large for memory. */
  readonly stream?: AnswerStream;
  /** A body that the service sends until the client disconnects. */
  readonly live?: LiveAnswer;
  /** The JSON body as encoded text. `body` may then be absent. */
  readonly json?: string | Uint8Array;
  readonly text?: { readonly type: string; readonly content: string | Uint8Array };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A declared success response with more than a body schema. */
export interface Success {
  /** The schema of the JSON body; null for no body or a text body. */
  readonly body: z.ZodType | null;
  /** The media type of a text body. If `body` has a schema too, the route answers in either form. */
  readonly text?: string;
  /** Descriptions of additional headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An example body for the documentation. The documentation fills in missing fields from the schema. */
  readonly example?: unknown;
}

/** Success responses by status: the body schema, null for no body, or a {@link Success}. */
export type Answers = Readonly<Record<number, z.ZodType | null | Success>>;

/** The result of a request: a success response, or a refusal that becomes a problem. */
export type Outcome = Answer | Refusal | EdgeRefusal;

/** Request headers that a route can declare. */
export type RequestHeader = "idempotency-key" | "if-match" | "service-cause";

/**
 * The declaration of one endpoint. The router, the documentation and the tests use the same table. Path parameters are
 * in braces: `/api/teams/{teamId}/tasks`.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** A one-line summary for the documentation. */
  readonly summary: string;
  /** The operation id. The default is derived from method and path. */
  readonly operation?: string;
  /** The documentation tag: the part of the API that the route belongs to. */
  readonly tag?: string;
  /** More documentation: who may call the route, and its side effects. */
  readonly description?: string;
  /** The path that lists the created objects, if it differs from this path. */
  readonly listedAt?: string;
  readonly access: RouteAccess;
  /**
   * Whether a service with `--read-only` serves the route. The default is true for GET. Set it to false for a GET that
   * sends requests to other hosts, and to true for a POST that changes nothing.
   */
  readonly isServedReadOnly?: boolean;
  /** Whether the route is exempt from rate limits and turns, for example because a supervisor calls it. */
  readonly isAlwaysAdmitted?: boolean;
  /** The kind of bearer token that this route needs although it is public: its handler checks the token. */
  readonly credential?: "callback" | "metrics" | "pool";
  readonly body?: z.ZodType;
  /**
   * If this is set, `body` is the raw bytes of the request body, and this is their maximum number. `takes` documents
   * their content.
   */
  readonly rawBodyBytes?: number;
  /** The media type of the raw bytes, for the documentation. The default is JSON. */
  readonly rawBodyType?: string;
  /** The body schema for the documentation, if `body` accepts anything and the handler parses it later. */
  readonly takes?: z.ZodType;
  /** Dotted paths in `takes` to fields that responses never include. */
  readonly writeOnly?: readonly string[];
  /** An example body, like `Success.example`. */
  readonly example?: unknown;
  readonly query?: z.ZodType;
  readonly headers?: Readonly<Partial<Record<RequestHeader, "required" | "optional">>>;
  /** The success responses. Use a function if they are expensive to create: only the documentation needs them. */
  readonly answers: Answers | (() => Answers);
  /** Problems besides those that the declaration implies (see `openapi/operation.ts`). */
  readonly problems?: readonly ProblemSlug[];
  /**
   * The page to redirect a browser to (303) when it opens this address as a document, with or without a credential.
   * Programs and page scripts get the route's own response.
   */
  page?(params: RouteRequest["params"]): string;
  /**
   * Returns the workspace that a request without a credential is for. It selects a share of the rate limit of the
   * sender's address (`sender-shares.ts`). Define it for routes where the same senders serve many workspaces. Returns
   * null if there is no such workspace; null is also the default.
   */
  audience?(params: RouteRequest["params"]): string | null;
  /**
   * Returns the response to a GET or HEAD request without a valid credential, whatever its query; null to refuse the
   * request. For an address that both people and other systems open.
   */
  answersAnyone?(request: UnknownRequest): Answer | null;
  /**
   * Returns a refusal, or null if the caller may call this route. Called before the body is checked by its schema;
   * `handle` does further checks.
   */
  admits?(request: Pick<RouteRequest<RouteAccess>, "caller" | "params">): Refusal | null;
  handle(request: RouteRequest<RouteAccess, unknown, unknown>): Promise<Outcome> | Outcome;
}

/** A route with the types of its schemas. */
export interface TypedRoute<Access extends RouteAccess, Body extends z.ZodType, Query extends z.ZodType>
  extends Omit<Route, "access" | "body" | "query" | "admits" | "handle"> {
  readonly access: Access;
  readonly body?: Body;
  readonly query?: Query;
  admits?(request: Pick<RouteRequest<Access>, "caller" | "params">): Refusal | null;
  handle(request: RouteRequest<Access, z.output<Body>, z.output<Query>>): Promise<Outcome> | Outcome;
}

/** Declares a route with typed schemas. The HTTP layer calls `handle` only with values that these schemas returned. */
export function route<
  Access extends RouteAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(definition: TypedRoute<Access, Body, Query>): Route {
  return definition as Route;
}

/** Whether a service with `--read-only` serves the route. */
export function isServedReadOnly({ method, isServedReadOnly: isServed = method === "GET" }: Route): boolean {
  return isServed;
}

/** Returns the declared success responses of a route. */
export function toAnswers({ answers }: Pick<Route, "answers">): Answers {
  return typeof answers === "function" ? answers() : answers;
}

/** Converts a declared success response into a {@link Success}. */
export function toSuccess(declared: z.ZodType | null | Success): Success {
  return declared === null || declared instanceof z.ZodType ? { body: declared } : declared;
}
