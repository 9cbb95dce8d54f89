import type { z } from "zod";
import type { Caller, PersonCaller, TokenCaller } from "../actors/access/caller.js";
import type { Refusal } from "../actors/refusal.js";

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

export interface Answer {
  readonly status: number;
  /** JSON, unless `text` is given. Absent for an empty body. */
  readonly body?: unknown;
  readonly text?: { readonly type: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * One endpoint, as data: the router, the documents and the tests read the same table. `params` in the path stand in
 * braces: `/api/teams/{teamId}/tasks`.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** One line for the documents. */
  readonly summary: string;
  readonly access: RouteAccess;
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
  /** What a success answers, by status: the body's schema, or null for none. */
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  handle(request: RouteRequest<RouteAccess, unknown, unknown>): Promise<Answer | Refusal> | Answer | Refusal;
}

interface TypedRoute<Access extends RouteAccess, Body extends z.ZodType, Query extends z.ZodType>
  extends Omit<Route, "access" | "body" | "query" | "handle"> {
  readonly access: Access;
  readonly body?: Body;
  readonly query?: Query;
  handle(request: RouteRequest<Access, z.output<Body>, z.output<Query>>): Promise<Answer | Refusal> | Answer | Refusal;
}

/** Declares a route with the types of its schemas; the edge calls `handle` only with what those schemas yielded. */
export function route<
  Access extends RouteAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(definition: TypedRoute<Access, Body, Query>): Route {
  return definition as Route;
}
