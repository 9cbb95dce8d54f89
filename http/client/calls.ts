import type { components, paths } from "./api.js";

export type Verb = "get" | "post" | "put" | "patch" | "delete";

/** The paths that have an operation with this method. */
export type PathWith<V extends Verb> = {
  [Path in keyof paths]: paths[Path] extends { readonly [Method in V]: object } ? Path : never;
}[keyof paths];

type Operation<V extends Verb, Path extends keyof paths> = paths[Path] extends { readonly [Method in V]: infer Found }
  ? Found
  : never;

type PathPart<Op> = Op extends { readonly parameters: { readonly path: infer Part } }
  ? { readonly path: Part }
  : unknown;

type QueryPart<Op> = Op extends { readonly parameters: { readonly query: infer Part } }
  ? { readonly query: Part }
  : Op extends { readonly parameters: { readonly query?: infer Part } }
    ? { readonly query?: Part }
    : unknown;

type BodyOf<Content> = Content extends { readonly "application/json": infer Part } ? Part : Uint8Array | string;

type BodyPart<Op> = Op extends { readonly requestBody: { readonly content: infer Content } }
  ? { readonly body: BodyOf<Content> }
  : Op extends { readonly requestBody?: { readonly content: infer Content } }
    ? { readonly body?: BodyOf<Content> }
    : unknown;

/**
 * The option `version`, for operations that require the header `If-Match`. It is the version of the resource that the
 * caller last read.
 */
type VersionPart<Op> = Op extends { readonly parameters: { readonly header: { readonly "If-Match": string } } }
  ? { readonly version: number }
  : unknown;

/** Options that every call takes. */
export interface CallOptions {
  /** Replaces the `signal` of the client's options for this call. With null, no signal aborts the call. */
  readonly signal?: AbortSignal | null;
  /**
   * The `Idempotency-Key` of a POST. Default: a new random key. The client uses one key for all attempts of a call.
   * Pass your own key to repeat a call after the program has restarted.
   */
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The options of a call besides {@link CallOptions}. They include `path`, `query`, `body` and `version` only if the
 * operation has these.
 */
export type Options<V extends Verb, Path extends keyof paths> = CallOptions &
  PathPart<Operation<V, Path>> &
  QueryPart<Operation<V, Path>> &
  BodyPart<Operation<V, Path>> &
  VersionPart<Operation<V, Path>>;

/** The arguments after the path. Options may be omitted when the operation requires none. */
export type OptionsArgument<V extends Verb, Path extends keyof paths> =
  object extends Options<V, Path> ? [options?: Options<V, Path>] : [options: Options<V, Path>];

type Content<Response> = Response extends { readonly content: { readonly "application/json": infer Body } }
  ? Body
  : Response extends { readonly content: infer Media }
    ? [keyof Media] extends [never]
      ? null
      : string
    : null;

/** The body of a successful response: the JSON value, text for another media type, null for no body. */
export type Answer<V extends Verb, Path extends keyof paths> =
  Operation<V, Path> extends { readonly responses: infer Responses } ? Content<Responses[keyof Responses]> : never;

/** The body that an operation takes. */
export type Body<V extends Verb, Path extends keyof paths> =
  BodyPart<Operation<V, Path>> extends { readonly body: infer Part } ? Part : never;

/** A named type of the API, such as `Schema<"Line">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];
