import type { FieldError, Refusal } from "../../actors/refusal.js";

/** Refusals that only the HTTP layer creates. */
export type EdgeRefusal =
  | { readonly refused: "method-not-allowed"; readonly detail: string; readonly allow: string }
  | { readonly refused: "request-timeout"; readonly detail: string }
  | { readonly refused: "too-large"; readonly detail: string }
  | { readonly refused: "unsupported-media-type"; readonly detail: string }
  | { readonly refused: "upgrade-required"; readonly detail: string }
  | { readonly refused: "damaged"; readonly detail: string }
  | { readonly refused: "read-only"; readonly detail: string }
  | { readonly refused: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly refused: "internal"; readonly detail: string };

type AnyRefusal = Refusal | EdgeRefusal;

/** The slug of a problem: its type without the prefix `urn:service:problem:`. */
export type ProblemSlug = AnyRefusal["refused"];

/**
 * Status and title of each problem (see "Errors" in the configuration API document). Only this table maps problems to
 * statuses.
 */
export const problems: Readonly<Record<ProblemSlug, readonly [status: number, title: string]>> = {
  "bad-request": [400, "The request is malformed"],
  "idempotency-key-required": [400, "An Idempotency-Key is required"],
  "malformed-if-match": [400, "If-Match is not one entity tag"],
  "unsupported-api-version": [400, "The API version is not supported"],
  unauthenticated: [401, "No valid credentials"],
  forbidden: [403, "Not allowed"],
  "not-found": [404, "Not found"],
  "already-exists": [409, "The address is already taken"],
  "moved-on": [409, "The resource has moved on"],
  "in-use": [409, "Still in use"],
  conflict: [409, "Conflict with the current state"],
  "body-gone": [409, "The body has been removed"],
  "nothing-to-replay": [409, "Nothing to replay"],
  invalid: [422, "One or more fields are wrong"],
  "idempotency-key-reused": [422, "The Idempotency-Key was used for another request"],
  "precondition-required": [428, "If-Match is required"],
  "too-many-requests": [429, "Too many requests"],
  "refused-upstream": [502, "An upstream service refused"],
  "method-not-allowed": [405, "Method not allowed"],
  "request-timeout": [408, "The request did not arrive in time"],
  "too-large": [413, "The body is too large"],
  "unsupported-media-type": [415, "The content type is not supported"],
  "upgrade-required": [426, "This endpoint requires a WebSocket"],
  damaged: [503, "Stored data is damaged"],
  "read-only": [503, "The service is read-only"],
  unavailable: [503, "Not available right now"],
  internal: [500, "Internal error"],
};

/** An encoded problem. */
export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Encodes a refusal as a problem (RFC 9457). `status` overrides the usual status, for malformed requests. */
export function problemAnswer(refusal: AnyRefusal, status?: number): ProblemAnswer {
  const [usualStatus, usualTitle] = problems[refusal.refused];
  const sent = status ?? usualStatus;
  const body: Record<string, unknown> = {
    type: `urn:service:problem:${refusal.refused}`,
    title: "title" in refusal ? refusal.title : usualTitle,
    status: sent,
    detail: toDetail(refusal),
  };
  if (refusal.refused === "invalid") {
    body.errors = refusal.errors.map((error) => ({ ...error, severity: "error" }));
  }
  if (refusal.refused === "moved-on") body.currentVersion = refusal.currentVersion;
  if (refusal.refused === "not-found" && refusal.hint !== undefined) body.hint = refusal.hint;
  if (refusal.refused === "forbidden" && refusal.permission !== undefined) body.permission = refusal.permission;
  return {
    status: sent,
    headers: { "content-type": "application/problem+json", ...toHeaders(refusal) },
    body: JSON.stringify(body),
  };
}

/** Returns the detail of a refusal, as a problem has it: one line for each invalid field. */
export function toDetail(refusal: AnyRefusal): string {
  if (refusal.refused === "invalid") return [...refusal.errors.map(errorLine), refusal.hint ?? []].flat().join("\n");
  if (refusal.refused === "not-found")
    return refusal.detail ?? "This resource does not exist, or you do not have access to it.";
  return refusal.detail;
}

function errorLine(error: FieldError): string {
  return error.path === "" ? error.message : `${error.path}: ${error.message}`;
}

/** Returns the `WWW-Authenticate` challenge of a 401 (RFC 9110, 11.6.1). */
function toChallenge(basicRealm: string | undefined): string {
  return basicRealm === undefined ? "Bearer" : `Basic realm="${basicRealm}", charset="UTF-8"`;
}

function toHeaders(refusal: AnyRefusal): Record<string, string> {
  if (refusal.refused === "method-not-allowed") return { allow: refusal.allow };
  if (refusal.refused === "too-many-requests" || refusal.refused === "unavailable") {
    return { "retry-after": String(refusal.retryAfterSeconds) };
  }
  if (refusal.refused === "unauthenticated") return { "www-authenticate": toChallenge(refusal.basicRealm) };
  return {};
}
