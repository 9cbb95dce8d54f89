/**
 * Verifies a delivery by a credential that the sender and the service share: a token in a header, or HTTP Basic (RFC
 * 7617).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { DeliveryHeaders } from "./received-delivery.js";

type Ways = Pick<NonNullable<NonNullable<IntegrationFields["webhook"]>["verify"]>, "token" | "basic">;

/** The faults of a shared credential, a subset of `deliveryFaults`. */
type CredentialFault = "no-credential" | "no-secret" | "unreadable-credential" | "wrong-credential";

const ABSENT = Buffer.alloc(0);

/** A credential that the sender transmits, as opposed to a signature. */
export interface SharedCredential {
  /** The received header; empty if absent. */
  readonly header: string;
  /** The possible byte encodings of the received credential; empty if the header is absent or unreadable. */
  readonly given: readonly Buffer[];
  /** Returns the possible byte encodings of the credential that a secret's value defines. */
  readonly expected: (secret: string) => readonly Buffer[];
}

/** Reads the token or password of a delivery. Returns null if the definition verifies deliveries by neither. */
export function readSharedCredential({ token, basic }: Ways, headers: DeliveryHeaders): SharedCredential | null {
  if (token !== null) {
    const header = headers.get(token.header.toLowerCase()) ?? "";
    const text = withoutPrefix(header, token.prefix);
    // Trim the secret, because it may end with a pasted line break, and a header value cannot start or end with
    // whitespace.
    return {
      header,
      given: text === "" ? [] : listEncodings(text),
      expected: (secret) => listEncodings(secret.trim()),
    };
  }
  if (basic === null) return null;
  const header = headers.get("authorization") ?? "";
  // RFC 7617: the scheme in any case, then the base64 form of `user:password`.
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header.trim())?.[1];
  const given = encoded === undefined ? [] : [Buffer.from(encoded, "base64")];
  return { header, given, expected: (secret) => listEncodings(`${basic.username}:${secret}`) };
}

/**
 * Returns the trimmed text after the prefix; empty if the header does not start with the prefix. The comparison ignores
 * case: `bearer` matches `Bearer`.
 */
function withoutPrefix(header: string, prefix: string): string {
  const text = header.trimStart();
  const isPrefixed = text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return isPrefixed ? text.slice(prefix.length).trim() : "";
}

/** Returns the text as UTF-8, and as Latin-1 if possible, because senders use either encoding. */
function listEncodings(text: string): readonly Buffer[] {
  const isLatin1 = !/[\u0100-\uffff]/.test(text);
  return [Buffer.from(text), Buffer.from(text, isLatin1 ? "latin1" : "utf8")];
}

/**
 * Returns the credential's fault; null if it is valid. `secret` is null if the secret does not exist. Compares SHA-256
 * digests, which have equal length, and always makes at least one comparison.
 */
export function findCredentialFault(
  { header, given, expected }: SharedCredential,
  secret: string | null,
): CredentialFault | null {
  const digests = expected(secret ?? "").map(sha256);
  let isEqual = false;
  for (const bytes of given.length === 0 ? [ABSENT] : given) {
    const digest = sha256(bytes);
    for (const wanted of digests) isEqual = timingSafeEqual(digest, wanted) || isEqual;
  }
  if (isEqual && given.length > 0 && secret !== null) return null;
  if (header.trim() === "") return "no-credential";
  if (secret === null) return "no-secret";
  return given.length === 0 ? "unreadable-credential" : "wrong-credential";
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
