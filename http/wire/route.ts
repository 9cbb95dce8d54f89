import { z } from "zod";
import type { Caller, PersonCaller, TokenCaller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import type { EdgeRefusal, ProblemSlug } from "./problem.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call a route: `public` needs no credential (`caller` may then be null), `person` a session, `any` a session
 * or a workspace token. The handler checks the caller's permissions through `actors/access`.
 */
export type RouteAccess = "public" | "person" | "any";

type CallerOf<Access extends RouteAccess> = Access extends "public"
  ? Caller | null
  : Access extends "person"
    ? PersonCaller
    : PersonCaller | TokenCaller;

/** The part of example ids after the underscore. */
export const EXAMPLE_ULID = "01KAHX5E8GJMPQS1T3V5X7Z9AB";

/** An authenticated, admitted and parsed request. */
export interface RouteRequest<Access extends RouteAccess = RouteAccess, Body = unknown, Query = unknown> {
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: CallerOf<Access>;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  /** All request headers by their lower-case names. */
  headers(): ReadonlyMap<string, string>;
  /** The header `Service-Client` in the form for change records, or null. */
  readonly client: string | null;
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Lets other work run in the middle of a long answer; resolves when it is this caller's turn again. */
  readonly pause: () => Promise<void>;
  /** Between two short pieces of work: null while there is time for the next at once, else as {@link pause}. */
  readonly goOn: () => Promise<void> | null;
  /** Aborted when the client goes away or the time is up; what it is aborted with may be thrown, and is no failure. */
  readonly signal: AbortSignal;
}

/** A request without a valid credential to a route that needs one. */
export interface UnknownRequest extends Pick<RouteRequest, "params" | "headers"> {
  /** GET or HEAD, as it came. */
  readonly method: string;
  /** The part after `?`, or "". */
  readonly query: string;
}

/** A JSON text that is produced while it is sent. */
export interface AnswerStream {
  /** Its length in bytes. */
  readonly length: number;
  /** Other work runs between two pieces; an empty piece is only a pause. */
  readonly pieces: Iterable<string>;
  /** Called once at the end, however it ends, also if no piece was read. Does not throw. */
  close(): void;
}

export interface Answer {
  readonly status: number;
  /** The JSON body; absent for `json`, `text`, `stream` or an empty body. */
  readonly body?: unknown;
  /** A JSON body that is too large to be held in memory. */
  readonly stream?: AnswerStream;
  /** The JSON body as text, if it was encoded before; `body` may be absent then. */
  readonly json?: string | Uint8Array;
  readonly text?: { readonly type: string; readonly content: string | Uint8Array };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A declared success that is more than a body schema. */
export interface Success {
  /** The schema of the JSON body; null for none, or for text. */
  readonly body: z.ZodType | null;
  /** The media type of a text body; beside a schema, some answers are such a text. */
  readonly text?: string;
  /** Descriptions of additional headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An example body for the documentation; missing fields are filled in from the schema. */
  readonly example?: unknown;
}

/** Successes by status: the body's schema, null for no body, or a {@link Success}. */
export type Answers = Readonly<Record<number, z.ZodType | null | Success>>;

/** The outcome of a request: a success, or a refusal, which becomes a problem. */
export type Outcome = Answer | Refusal | EdgeRefusal;

/** Headers that handlers read. */
export type RequestHeader = "idempotency-key" | "if-match" | "service-cause";

/**
 * One endpoint, as data: the router, the documentation and the tests read the same table. Path parameters are in
 * braces: `/api/teams/{teamId}/tasks`.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** One line for the documentation. */
  readonly summary: string;
  /** The operation id; by default made from method and path. */
  readonly operation?: string;
  /** The part of the API that it belongs to, for the documentation. */
  readonly tag?: string;
  /** Further documentation: who may call it, what else it does. */
  readonly description?: string;
  /** The path under which what it creates is listed, where that is another. */
  readonly listedAt?: string;
  readonly access: RouteAccess;
  /**
   * Whether a service that was started with `--read-only` serves it; by default, if it is a GET. A GET that makes requests
   * to other hosts is not one of these, and a POST that changes nothing is.
   */
  readonly isServedReadOnly?: boolean;
  /** Whether it is exempt from rate limits, as a supervisor needs. */
  readonly isAlwaysAdmitted?: boolean;
  /** The bearer token that the handler of a public route checks itself. */
  readonly credential?: "callback" | "metrics" | "pool";
  readonly body?: z.ZodType;
  /** `body` gets the raw bytes, at most this many; `takes` documents their contents. */
  readonly rawBodyBytes?: number;
  /** The media type of raw bytes, for the documentation; JSON by default. */
  readonly rawBodyType?: string;
  /** The body's schema for the documentation, when `body` accepts anything and the handler parses it later. */
  readonly takes?: z.ZodType;
  /** Dotted paths in `takes` that are never returned. */
  readonly writeOnly?: readonly string[];
  /** An example body, like `Success.example`. */
  readonly example?: unknown;
  readonly query?: z.ZodType;
  readonly headers?: Readonly<Partial<Record<RequestHeader, "required" | "optional">>>;
  /** Given as a function where making them takes long: they document the route, and no request is served by them. */
  readonly answers: Answers | (() => Answers);
  /** Problems besides those that follow from the declaration (see `openapi/problems.ts`). */
  readonly problems?: readonly ProblemSlug[];
  /**
   * The page that a browser is sent to (303) when it opens the address as a document, with or without a credential.
   * Programs, the scripts of pages among them, get the route's own answer.
   */
  page?(params: RouteRequest["params"]): string;
  /**
   * The workspace that a request without a credential is for, where many have the same senders: it counts for another
   * share of its address than those for most others. Null, as without this, where that is nobody's.
   */
  audience?(params: RouteRequest["params"]): string | null;
  /**
   * Answers a GET or HEAD without a valid credential, whatever its query is, or null: then it is refused. For others'
   * requests to an address that people read too.
   */
  answersAnyone?(request: UnknownRequest): Answer | null;
  /** Why the caller may not do this, or null. Called before the body is parsed; further checks are in `handle`. */
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

/** Declares a route with the types of its schemas; the edge calls `handle` only with results of those schemas. */
export function route<
  Access extends RouteAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(definition: TypedRoute<Access, Body, Query>): Route {
  return definition as Route;
}

/** Whether a read-only service serves the route. */
export function isServedReadOnly({ method, isServedReadOnly: isServed = method === "GET" }: Route): boolean {
  return isServed;
}

/** The declared answers of a route. */
export function answersOf({ answers }: Pick<Route, "answers">): Answers {
  return typeof answers === "function" ? answers() : answers;
}

/** A declared answer as a {@link Success}. */
export function successOf(declared: z.ZodType | null | Success): Success {
  return declared === null || declared instanceof z.ZodType ? { body: declared } : declared;
}
