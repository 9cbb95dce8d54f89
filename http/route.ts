import { z } from "zod";
import type { Caller, PersonCaller, TokenCaller } from "../actors/caller.js";
import type { Refusal } from "../actors/refusal.js";
import type { EdgeRefusal, ProblemSlug } from "./problem.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call a route at all: `public` needs no credential (and `caller` is then null), `person` a session,
 * `any` a session or a workspace token. What the caller may do there is the handler's to ask of `actors/access`.
 */
export type RouteAccess = "public" | "person" | "any";

type CallerOf<Access extends RouteAccess> = Access extends "public"
  ? Caller | null
  : Access extends "person"
    ? PersonCaller
    : PersonCaller | TokenCaller;

/** A request once it was authenticated, limited and parsed. */
export interface RouteRequest<Access extends RouteAccess = RouteAccess, Body = unknown, Query = unknown> {
  /** Path parameters, decoded, by the name in braces. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: CallerOf<Access>;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  /** What `Service-Client` says, as change records keep it, or null. */
  readonly client: string | null;
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Aborted when the client goes away or the time is up. */
  readonly signal: AbortSignal;
}

/** A JSON text that is made while it is sent. */
export interface AnswerStream {
  /** Its length in bytes. */
  readonly length: number;
  /** Other work has its turn between two of them; an empty one is but a pause. */
  readonly pieces: Iterable<string>;
  /** Called once, whatever became of it, also where no piece was asked for. Does not throw. */
  close(): void;
}

export interface Answer {
  readonly status: number;
  /** JSON, unless `text` or `stream` is given. Absent for an empty body. */
  readonly body?: unknown;
  /** The JSON text, where it is too much to be held at once. */
  readonly stream?: AnswerStream;
  /** `body` as it is sent, where it was made once and is sent often. */
  readonly json?: string;
  readonly text?: { readonly type: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A success, where the schema of its body does not say it all. */
export interface Success {
  /** Null for none, or for text. */
  readonly body: z.ZodType | null;
  /** The media type of a body that is no JSON. */
  readonly text?: string;
  /** Headers beyond those of every answer, by lower-case name, and what each says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body for the documents; fields that it leaves out are filled in from the schema. */
  readonly example?: unknown;
}

/** What a route ends in: a success, or a problem to be. */
export type Outcome = Answer | Refusal | EdgeRefusal;

/** Headers that a handler asks for itself. */
export type RequestHeader = "idempotency-key" | "if-match" | "service-cause";

/**
 * One endpoint, as data: the router, the documents and the tests read the same table. `params` in the path stand in
 * braces: `/api/teams/{teamId}/tasks`.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** One line for the documents. */
  readonly summary: string;
  /** What it is called in the documents, where its method and path do not say it well. */
  readonly operation?: string;
  /** The part of the API it belongs to, for the documents. */
  readonly tag?: string;
  /** More for the documents, where one line does not say it: who may call it, what else it does. */
  readonly description?: string;
  readonly access: RouteAccess;
  /** Whether it is answered however often it is asked: what a supervisor asks. */
  readonly isAlwaysAdmitted?: boolean;
  /** The bearer that the handler of a public route looks at itself. */
  readonly credential?: "callback" | "metrics";
  readonly body?: z.ZodType;
  /** The body is handed to `body` as the bytes that came, at most so many; `takes` says what they hold. */
  readonly rawBodyBytes?: number;
  /** The body for the documents, where `body` lets all through because the handler parses it once it may be written. */
  readonly takes?: z.ZodType;
  /** Dotted paths in `takes` that are taken and never given back. */
  readonly writeOnly?: readonly string[];
  /** A body for the documents, as `Success.example`. */
  readonly example?: unknown;
  readonly query?: z.ZodType;
  readonly headers?: Readonly<Partial<Record<RequestHeader, "required" | "optional">>>;
  /** What a success answers, by status: the body's schema, null for none, or a {@link Success}. */
  readonly answers: Readonly<Record<number, z.ZodType | null | Success>>;
  /** Problems that do not follow from the rest of this declaration (see `openapi/problems.ts`). */
  readonly problems?: readonly ProblemSlug[];
  /** Why the caller may not do this, or null; told before what is wrong with the body. Of the rest `handle` tells. */
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

/** Declares a route with the types of its schemas; the edge calls `handle` only with what those schemas yielded. */
export function route<
  Access extends RouteAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(definition: TypedRoute<Access, Body, Query>): Route {
  return definition as Route;
}

/** A declared answer in its long form. */
export function successOf(declared: z.ZodType | null | Success): Success {
  return declared === null || declared instanceof z.ZodType ? { body: declared } : declared;
}
