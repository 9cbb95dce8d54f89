/** Verifies a delivery by a credential that both sides share: a token in a header, or HTTP Basic (RFC 7617). */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IntegrationFields } from "../integrations/definition.js";
import type { DeliveryHeaders } from "./received-delivery.js";

type Ways = Pick<NonNullable<NonNullable<IntegrationFields["webhook"]>["verify"]>, "token" | "basic">;

/** The faults of a shared credential, as `deliveryFaults` lists them. */
type CredentialFault = "no-credential" | "no-secret" | "unreadable-credential" | "wrong-credential";

const ABSENT = Buffer.alloc(0);

/** A credential that the sender shows, as opposed to a signature. */
export interface SharedCredential {
  /** The header as it came; empty for none. */
  readonly header: string;
  /** The bytes that the header may stand for; empty where it is unreadable. */
  readonly given: readonly Buffer[];
  /** The bytes that match, for the value of the secret. */
  readonly expected: (secret: string) => readonly Buffer[];
}

/** Reads the token or password of a delivery; null where deliveries are signed. */
export function readSharedCredential({ token, basic }: Ways, headers: DeliveryHeaders): SharedCredential | null {
  if (token !== null) {
    const header = headers.get(token.header.toLowerCase()) ?? "";
    const text = withoutPrefix(header, token.prefix);
    // A header cannot carry the blanks around a secret, such as the line end of a pasted one.
    return { header, given: text === "" ? [] : encodingsOf(text), expected: (secret) => encodingsOf(secret.trim()) };
  }
  if (basic === null) return null;
  const header = headers.get("authorization") ?? "";
  // RFC 7617: the scheme in any case, then the base64 form of `user:password`.
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header.trim())?.[1];
  const given = encoded === undefined ? [] : [Buffer.from(encoded, "base64")];
  return { header, given, expected: (secret) => encodingsOf(`${basic.username}:${secret}`) };
}

/** The trimmed text after the prefix; empty where the header does not begin with it. Case is ignored: `bearer`, `Bearer`. */
function withoutPrefix(header: string, prefix: string): string {
  const text = header.trimStart();
  const isPrefixed = text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return isPrefixed ? text.slice(prefix.length).trim() : "";
}

/** The text as UTF-8, and as Latin-1 where it can be written so: no RFC says which of the two a sender uses. */
function encodingsOf(text: string): readonly Buffer[] {
  const isLatin1 = !/[\u0100-\uffff]/.test(text);
  return [Buffer.from(text), Buffer.from(text, isLatin1 ? "latin1" : "utf8")];
}

/**
 * What is wrong with the credential; null where it is right. `secret` is null where there is none. Compares SHA-256 digests,
 * which have one length, and always compares something.
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
