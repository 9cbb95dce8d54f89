/** What a request of an integration is asked for with, and what comes of it. */

/** The block of the definition whose request is made. An attachment is fetched as bytes. */
export type RequestBlock =
  | { readonly kind: "action"; readonly name: string }
  | { readonly kind: "poll" }
  | { readonly kind: "lookup" | "attachment"; readonly source: "webhook" | "poll"; readonly event: number };

/** What is evaluated after the answer: a tool's output, or the marks of a binding, by its index in `on`. */
export type AfterRequest =
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "binding"; readonly index: number };

/** Whose account a request uses; the person's only where the integration's connection is its requester's. */
export type ActingAs = { readonly kind: "team" } | { readonly kind: "person"; readonly userId: string };

/**
 * All of it is plain data. The definition, its secrets and the tokens are read when the request is made, so it follows
 * the current definition.
 */
export interface IntegrationRequestInput {
  readonly teamId: string;
  readonly integrationId: string;
  readonly block: RequestBlock;
  /**
   * JSON text of an object: the names that the block's expressions see at its position (`task`, `ask`, `target`,
   * `inputs`, `cursor`, `headers`, `item`, `file`, captures by their own names), but `connection`. At most 1 MiB.
   */
  readonly values: string;
  /** Digest of a text in the workspace's bodies: seen as `raw`, and parsed as `body`, where `values` has neither. */
  readonly bodyDigest?: string | null;
  /** The task that asks a person: `ask.link` of the values becomes its address; of an approval, `ask.body` ends with it. */
  readonly asking?: { readonly taskId: string; readonly isApproval: boolean } | null;
  readonly after: AfterRequest | null;
  readonly actsAs: ActingAs;
  /** How long a request may take once it is on its way, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * After a kill of the process: `after-a-crash` makes a GET again and reports anything else as `interrupted`; `never`
   * reports every request so.
   */
  readonly again: "after-a-crash" | "never";
  /**
   * The method when it was started: after a crash only what was a GET then and still is one is made again. Null where the
   * definition was gone by then, absent where an earlier release wrote it.
   */
  readonly method?: string | null;
  /** Of the action and its request as a person approved them (`request-digest.ts`): any other is not sent. */
  readonly approvedDigest?: string;
  /** `waiting` where somebody waits for the answer. */
  readonly lane: "waiting" | "background";
  /** Sent as `service-message-id`: the same for every attempt of one thing to be told. */
  readonly messageId?: string;
}

/** Why a request did not succeed. Only `interrupted` and codes of an answer or a timeout leave open what it did. */
export type IntegrationRequestCode =
  /** There is no usable connection; nothing was sent. */
  | "not-connected"
  /** The address or a secret may not be used; nothing was sent. */
  | "not-allowed"
  /** An expression of the request has no value that can be sent; nothing was sent. */
  | "unwritable"
  /** The definition no longer has the block; nothing was sent. */
  | "broken"
  /** Nothing responded, or the connection broke. */
  | "unreachable"
  /** No response in the time. */
  | "timeout"
  /** 408, 425 or 429. */
  | "throttled"
  /** 5xx. */
  | "server-error"
  /** Any other status but 2xx. */
  | "rejected"
  /** `expect.success` does not hold of an answer of 2xx. */
  | "unsuccessful"
  /** A process was killed that may have sent it. */
  | "interrupted"
  /** Anything else. */
  | "errored";

/** What came of a request. Nothing in it holds a token or a secret: what an answer says of them reads `***`. */
export interface IntegrationRequestResult {
  readonly at: string;
  readonly tookMs: number;
  readonly method: string | null;
  /** Scheme, host and port of the address; null when it is not known. */
  readonly origin: string | null;
  readonly status: number | null;
  readonly success: boolean;
  /** The answer as JSON text: parsed where it is JSON, else a string; at most 64 KiB, null for none. */
  readonly response: string | null;
  /** JSON text of an object: what the request (of a lookup: the lookup) captures by name; null where it reads as nothing. */
  readonly captures: string;
  /** A tool's output as JSON text, at most 64 KiB; null when it reads as nothing. Only after a tool's success. */
  readonly output?: string | null;
  /** Marks by kind, without those that read as nothing. Only after a binding's success. */
  readonly marks?: Readonly<Record<string, string>>;
  /** Which captures, marks or output of a success have no value, and why; absent for none. */
  readonly unread?: string;
  /** Why the answer was not read whole, as a sentence about it; absent where it was. */
  readonly partly?: string;
  /** What a tool's whole output has as `refuse`, for hooks on before events; absent where it has none. */
  readonly refuses?: string;
  /** The whole answer of a poll, as text; only where the poll succeeded. */
  readonly body?: string;
  /** The headers of a poll's answer without credentials; only where the poll succeeded, and absent in earlier results. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The poll's next cursor; null when it reads as nothing. Only where the poll succeeded. */
  readonly cursor?: string | null;
  /** Why there is no next cursor; absent where there is one, or the poll has no expression for it. */
  readonly cursorProblem?: string;
  /** What an attachment's address answered, only where it succeeded. */
  readonly file?: FetchedFile;
  /** There was no connection: nothing was sent. */
  readonly isUnsent?: true;
  /** Null for a success. */
  readonly code: IntegrationRequestCode | null;
  /** A sentence without a capital and full stop, such as `it responded 404`; null for a success. */
  readonly reason: string | null;
  /** How long the host asks to wait, in milliseconds: an hour at most, a day where it is a poll's. */
  readonly retryAfterMs: number | null;
}

/** An attachment as it came. */
export interface FetchedFile {
  readonly bytes: Uint8Array;
  /** The `content-type` of the answer, or null. */
  readonly type: string | null;
}

/** Largest attachment, in bytes; a larger one is cut off and fails. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Most of an answer that results hold, in bytes of its JSON text; the same for outputs. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Codes after which the same request may succeed later. */
const passing: ReadonlySet<IntegrationRequestCode> = new Set([
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "interrupted",
  "errored",
]);

/** Whether what failed so may succeed later. */
export function mayPass(code: IntegrationRequestCode): boolean {
  return passing.has(code);
}
