import type { Answered, Delivered } from "../runtime/turns/turn.js";
import type { Permission } from "./permission.js";

/** One error in a request. `path` has the format of the API reference (Errors). */
export interface FieldError {
  /** `field`, `list[0].field`, `map["odd key"].field`; empty for the whole resource. */
  readonly path: string;
  readonly message: string;
}

/**
 * An expected rejection. `refused` is the slug of a problem in the API reference. Only the edge maps slugs to HTTP
 * statuses. A bug is not a refusal: it throws an error.
 */
export type Refusal =
  | { readonly refused: "bad-request"; readonly detail: string }
  | { readonly refused: "idempotency-key-required"; readonly detail: string }
  | { readonly refused: "malformed-if-match"; readonly detail: string }
  | { readonly refused: "unsupported-api-version"; readonly detail: string }
  /**
   * `title` is set if the credentials are valid but of the wrong kind. `basicRealm` is set if the resource accepts HTTP
   * Basic (RFC 7617), and is its realm. If absent, the resource accepts a bearer token.
   */
  | {
      readonly refused: "unauthenticated";
      readonly detail: string;
      readonly title?: string;
      readonly basicRealm?: string;
    }
  | { readonly refused: "forbidden"; readonly title: string; readonly detail: string; readonly permission?: Permission }
  /** `hint` helps to correct the request. */
  | { readonly refused: "not-found"; readonly detail?: string; readonly hint?: string }
  | { readonly refused: "already-exists"; readonly detail: string }
  | { readonly refused: "moved-on"; readonly detail: string; readonly currentVersion: number }
  | { readonly refused: "in-use"; readonly detail: string }
  | { readonly refused: "conflict"; readonly detail: string }
  /** The service no longer stores the body that the caller asked to process again. */
  | { readonly refused: "body-gone"; readonly detail: string }
  /** A replay check was requested for a change that does not affect how runs work. */
  | { readonly refused: "nothing-to-replay"; readonly detail: string }
  /** `hint` says how to correct the request. */
  | { readonly refused: "invalid"; readonly errors: readonly FieldError[]; readonly hint?: string }
  | { readonly refused: "idempotency-key-reused"; readonly detail: string }
  | { readonly refused: "precondition-required"; readonly detail: string }
  | { readonly refused: "too-many-requests"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly refused: "refused-upstream"; readonly detail: string };

type Slug = Refusal["refused"];
type FieldsBySlug = {
  readonly [Each in Slug]: Readonly<
    Record<Exclude<keyof Extract<Refusal, { readonly refused: Each }>, "refused">, true>
  >;
};

/** The fields of each refusal besides `refused`. */
const fieldsBySlug: FieldsBySlug = {
  "bad-request": { detail: true },
  "idempotency-key-required": { detail: true },
  "malformed-if-match": { detail: true },
  "unsupported-api-version": { detail: true },
  unauthenticated: { detail: true, title: true, basicRealm: true },
  forbidden: { title: true, detail: true, permission: true },
  "not-found": { detail: true, hint: true },
  "already-exists": { detail: true },
  "moved-on": { detail: true, currentVersion: true },
  "in-use": { detail: true },
  conflict: { detail: true },
  "body-gone": { detail: true },
  "nothing-to-replay": { detail: true },
  invalid: { errors: true, hint: true },
  "idempotency-key-reused": { detail: true },
  "precondition-required": { detail: true },
  "too-many-requests": { detail: true, retryAfterSeconds: true },
  "refused-upstream": { detail: true },
};

/**
 * Returns whether an answer is a refusal: `refused` is a known slug, and the refusal with this slug has all other
 * fields of the answer. Rows and messages may also have a field `refused`, but together with fields that no refusal
 * has.
 */
export function isRefusal(answer: unknown): answer is Refusal {
  if (typeof answer !== "object" || answer === null || !("refused" in answer)) return false;
  const { refused } = answer;
  if (typeof refused !== "string" || !isSlug(refused)) return false;
  return Object.keys(answer).every((field) => field === "refused" || field in fieldsBySlug[refused]);
}

function isSlug(text: string): text is Slug {
  return Object.hasOwn(fieldsBySlug, text);
}

/** The event of a refused message. A machine answers this event with {@link answerRefusal}. */
export interface Refused<Type extends string> extends Answered<Refusal> {
  readonly type: Type;
  readonly refusal: Refusal;
}

/** Classifies a message as refused. */
export function toRefused<Type extends string>(type: Type, refusal: Refusal): Refused<Type> {
  return { type, refusal };
}

/** Answers a refused message with its refusal. */
export function answerRefusal({ turn, refusal }: Delivered<Refused<string>>): void {
  turn.reply(refusal);
}

/** Creates a refusal with one field error. */
export function invalid(path: string, message: string): Refusal {
  return { refused: "invalid", errors: [{ path, message }] };
}

/**
 * Formats a path as in the API reference: `field`, `list[0].field`, `map["odd key"].field`; "" for the whole resource.
 */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = String(part);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}
