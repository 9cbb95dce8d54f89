/** The input and result of an integration request. */

/** The block of the definition that contains the request. An attachment is fetched as bytes. */
export type RequestBlock =
  | { readonly kind: "action"; readonly name: string }
  | { readonly kind: "poll" }
  | { readonly kind: "lookup" | "attachment"; readonly source: "webhook" | "poll"; readonly event: number };

/**
 * What is evaluated after the response: a tool's output, or a binding's marks. `index` is the binding's index in `on`.
 */
export type AfterRequest =
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "binding"; readonly index: number };

/**
 * The account that a request uses: the team's, or a person's. A person's account is possible only if the connection's
 * holder is the requester.
 */
export type ActingAs = { readonly kind: "team" } | { readonly kind: "person"; readonly userId: string };

/**
 * The input of an integration request, as plain data. The effect reads the definition, secrets and tokens when it makes
 * the request, so the request uses the current definition.
 */
export interface IntegrationRequestInput {
  readonly teamId: string;
  readonly integrationId: string;
  readonly block: RequestBlock;
  /**
   * JSON text of an object with the names that the block's expressions see (`task`, `ask`, `target`, `inputs`,
   * `cursor`, `headers`, `item`, `file`, captures by name), except `connection`. At most 1 MiB.
   */
  readonly values: string;
  /**
   * Digest of a text among the workspace's blobs. Expressions see the text as `raw`, and the parsed text as `body`,
   * unless `values` has these names.
   */
  readonly bodyDigest?: string | null;
  /**
   * The task whose question the request shows; null or absent if there is none. `ask.link` becomes the task's address.
   * For an approval, the address is also appended to `ask.body`.
   */
  readonly asking?: { readonly taskId: string; readonly isApproval: boolean } | null;
  readonly after: AfterRequest | null;
  readonly actsAs: ActingAs;
  /** Timeout of the request from the time it is sent, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * What to do after a process kill: `after-a-crash` repeats a GET and reports any other method as `interrupted`;
   * `never` reports every request as `interrupted`.
   */
  readonly again: "after-a-crash" | "never";
  /**
   * The method in the definition when the effect was started. After a crash, a request is repeated only if this method
   * and the current method are GET. Null if the definition was already removed; absent in inputs of earlier releases.
   */
  readonly method?: string | null;
  /**
   * Digest of the action and request that a user approved (`request-digest.ts`). The effect sends no other request.
   * Absent if no approval was needed.
   */
  readonly approvedDigest?: string;
  /** `waiting` if a caller waits for the response. */
  readonly lane: "waiting" | "background";
  /** The value of the header `service-message-id`. All attempts to send the same message have the same value. */
  readonly messageId?: string;
}

/** Why a request did not succeed. A request that was sent may have had an effect. */
export type IntegrationRequestCode =
  /** There is no usable connection. Nothing was sent. */
  | "not-connected"
  /** The address or a secret may not be used. Nothing was sent. */
  | "not-allowed"
  /**
   * An expression of the request has no value that can be sent, or the values for the expressions are too large.
   * Nothing was sent.
   */
  | "unwritable"
  /** The definition no longer has the block. Nothing was sent. */
  | "broken"
  /** No host responded, or the connection broke. */
  | "unreachable"
  /** No response arrived within the timeout. */
  | "timeout"
  /** Status 408, 425 or 429. */
  | "throttled"
  /** Status 5xx. */
  | "server-error"
  /** Any other status except 2xx. */
  | "rejected"
  /** The status is 2xx, but `expect.success` is not true. */
  | "unsuccessful"
  /** A process was killed that may have sent the request. */
  | "interrupted"
  /** Any other error. */
  | "errored";

/**
 * The result of a request. It contains no token or secret: if the response repeats a token or secret, the result has
 * `***` instead.
 */
export interface IntegrationRequestResult {
  readonly at: string;
  readonly tookMs: number;
  readonly method: string | null;
  /** Scheme, host and port of the address; null if unknown. */
  readonly origin: string | null;
  readonly status: number | null;
  readonly success: boolean;
  /**
   * The response as JSON text. A response that is not JSON becomes a JSON string. At most 64 KiB; null if there is no
   * response or its value is null.
   */
  readonly response: string | null;
  /** JSON text of an object with the captures of the request, or of the lookup. A capture without a value is null. */
  readonly captures: string;
  /** A tool's output as JSON text, at most 64 KiB; null if it has no value. Set only after a tool's success. */
  readonly output?: string | null;
  /** The marks to set, by kind. Marks without a value are left out. Set only after a binding's success. */
  readonly marks?: Readonly<Record<string, string>>;
  /**
   * Why parts of a success are missing: a capture, mark or output without a value, or a response that was read only
   * partly.
   */
  readonly unread?: string;
  /** Why only part of the response was read, as a clause; absent if all of it was read. */
  readonly partly?: string;
  /**
   * The `refuse` member of a tool's complete output, for hooks on events with `before` timing; absent if there is none.
   */
  readonly refuses?: string;
  /** The complete response of a poll as text. Set only if the poll succeeded. */
  readonly body?: string;
  /**
   * The headers of a poll's response, without credentials. Absent if the poll failed, and in results of earlier
   * releases.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The poll's next cursor; null if it has no value. Set only if the poll succeeded. */
  readonly cursor?: string | null;
  /**
   * Why the poll has no next cursor. Absent if it has one, if the cursor's value is null, or if the poll has no cursor
   * expression.
   */
  readonly cursorProblem?: string;
  /** The file that an attachment request fetched. Set only if the request succeeded. */
  readonly file?: FetchedFile;
  /** Present if no connection was opened, so that nothing was sent. */
  readonly isUnsent?: true;
  /** The code of the failure; null for a success. */
  readonly code: IntegrationRequestCode | null;
  /** A clause without a capital and full stop, such as `it responded 404`; null for a success. */
  readonly reason: string | null;
  /** How long the host asks to wait, in milliseconds: at most one hour, for a poll at most one day. */
  readonly retryAfterMs: number | null;
}

/** A fetched attachment. */
export interface FetchedFile {
  readonly bytes: Uint8Array;
  /** The `content-type` of the response; null if the response has none. */
  readonly type: string | null;
}

/** Maximum size of an attachment, in bytes. A request for a larger attachment fails. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Maximum size of a response or output in a result, in bytes of its JSON text. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Codes after which a retry may succeed. */
const passing: ReadonlySet<IntegrationRequestCode> = new Set([
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "interrupted",
  "errored",
]);

/** Returns whether a retry may succeed after this failure. */
export function mayPass(code: IntegrationRequestCode): boolean {
  return passing.has(code);
}
