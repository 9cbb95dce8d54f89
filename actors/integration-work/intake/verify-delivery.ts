/**
 * Verifies the sender of a delivery, by a signature or by a token or password. If the definition requires freshness,
 * checks the time of sending after a valid signature. The verification time does not depend on which part of a
 * signature or credential is wrong. Writes nothing.
 */
import {
  createHmac,
  createPublicKey,
  createSecretKey,
  verify as isSigned,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { evaluateText } from "../../expressions/templates.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { ReceivedDelivery } from "./received-delivery.js";
import { findCredentialFault, readSharedCredential } from "./shared-credential.js";
import { toSignedContent } from "./signed-content.js";

type Verify = NonNullable<NonNullable<IntegrationFields["webhook"]>["verify"]>;
type Hmac = NonNullable<Verify["hmac"]>;
type Asymmetric = NonNullable<Verify["asymmetric"]>;
type Scheme = Hmac | Asymmetric;

/** The input of a verification. */
export interface Verification {
  /** How the definition verifies senders. If null, every delivery is rejected. */
  readonly verify: Verify | null;
  /** The value of the secret that `verify` names; null if it does not exist. */
  readonly secret: string | null;
  readonly nowMs: number;
}

/** Maximum number of signatures to compare per header. A sender lists several signatures while it rotates its key. */
const MAX_SIGNATURES = 16;
const ENCODED = { hex: /^[0-9a-f]+$/i, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ } as const;
const ABSENT = Buffer.alloc(0);

/** Why a delivery's sender is not verified. Team members can see the reason; the sender cannot. */
export const deliveryFaults = [
  "no-verify",
  "no-secret",
  "no-signature",
  // The signature lacks the prefix, or does not have the definition's encoding.
  "unreadable-signature",
  "wrong-signature",
  // The faults of a missing, unreadable or wrong token or password.
  "no-credential",
  "unreadable-credential",
  "wrong-credential",
  // The signature is valid, but `freshness.at` gives no time.
  "unreadable-time",
  "not-fresh",
] as const;
export type DeliveryFault = (typeof deliveryFaults)[number];

/** Returns the delivery's fault; null if the sender is verified. */
export function findFault(delivery: ReceivedDelivery, { verify, secret, nowMs }: Verification): DeliveryFault | null {
  const shared = verify === null ? null : readSharedCredential(verify, delivery.headers);
  if (shared !== null) return findCredentialFault(shared, secret);
  const scheme = verify?.hmac ?? verify?.asymmetric ?? null;
  if (verify === null || scheme === null) return "no-verify";
  const content = toSignedContent(scheme.signed, delivery.bytes, () => delivery.namesFor(scheme.signed ?? ""));
  const header = delivery.headers.get(scheme.header.toLowerCase()) ?? "";
  const signatures = listSignatures(scheme, header);
  const isSignatureValid =
    verify.hmac !== null
      ? isHmacValid(verify.hmac, secret, content ?? [ABSENT], signatures)
      : isKeySigned(scheme as Asymmetric, delivery, content ?? [ABSENT], signatures);
  // Read the time of sending only for a verified sender, because the time may be in the body.
  if (content !== null && isSignatureValid) {
    return scheme.freshness === null ? null : findTimeFault(scheme.freshness, delivery, nowMs);
  }
  if (header.trim() === "") return "no-signature";
  if (verify.hmac !== null && secret === null) return "no-secret";
  return signatures.length === 0 ? "unreadable-signature" : "wrong-signature";
}

/**
 * Returns the lower-case name of the header with the signature or credential; null if `verify` is null. This header is
 * not stored.
 */
export function credentialHeader(verify: Verify | null): string | null {
  if (verify?.basic) return "authorization";
  return (verify?.token?.header ?? verify?.hmac?.header ?? verify?.asymmetric?.header ?? null)?.toLowerCase() ?? null;
}

/**
 * Returns the decoded signatures in the header that have the scheme's prefix. Candidates are the whole header, its
 * words, and its comma-separated parts. The time is linear in the header's length, because the sender is not verified
 * yet.
 */
function listSignatures({ prefix, encoding }: Scheme, header: string): readonly Buffer[] {
  const whole = header.trim();
  const parts = /[\s,]/.test(whole) ? listParts(header) : [whole];
  const signatures: Buffer[] = [];
  for (const part of parts) {
    if (signatures.length === MAX_SIGNATURES) break;
    const text = part.startsWith(prefix) ? part.slice(prefix.length) : "";
    const isWhole = encoding === "base64" || text.length % 2 === 0;
    if (isWhole && ENCODED[encoding].test(text)) signatures.push(Buffer.from(text, encoding));
  }
  return signatures;
}

/** Returns the header, its words and its comma-separated parts, without duplicates. */
function listParts(header: string): ReadonlySet<string> {
  const betweenCommas = header.split(",", MAX_SIGNATURES).map((part) => part.trim());
  return new Set([header.trim(), ...header.split(/\s+/, MAX_SIGNATURES), ...betweenCommas]);
}

/** Returns whether one of the signatures is valid. Always compares all of them, and makes at least one comparison. */
function isHmacValid(
  { algorithm }: Hmac,
  secret: string | null,
  content: readonly Uint8Array[],
  signatures: readonly Buffer[],
): boolean {
  const hmac = createHmac(algorithm, toKey(secret ?? ""));
  for (const piece of content) hmac.update(piece);
  // Convert through a string, because the buffer that `digest()` allocates costs half as much time as the HMAC of a
  // kilobyte.
  const expected = Buffer.from(hmac.digest("binary"), "binary");
  let isValid = false;
  for (const given of signatures.length === 0 ? [ABSENT] : signatures) {
    const compared = given.length === expected.length ? given : Buffer.alloc(expected.length);
    const isEqual = timingSafeEqual(expected, compared);
    isValid = (isEqual && given.length === expected.length) || isValid;
  }
  return isValid && secret !== null;
}

/** Maximum number of cached keys, for secrets and public keys separately; the oldest is evicted first. */
const MAX_CACHED_KEYS = 100;
const cachedSecrets = new Map<string, KeyObject>();

/** Returns the key object of a secret. With a cached key, the HMAC of a kilobyte takes two thirds of the time. */
function toKey(secret: string): KeyObject {
  const known = cachedSecrets.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(toKeyBytes(secret));
  cachedSecrets.set(secret, key);
  if (cachedSecrets.size > MAX_CACHED_KEYS) cachedSecrets.delete(cachedSecrets.keys().next().value ?? "");
  return key;
}

/** Returns the bytes of a secret. Secrets of Standard Webhooks (`whsec_…`) are base64. */
function toKeyBytes(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
}

function isKeySigned(
  { key: field, algorithm }: Asymmetric,
  delivery: ReceivedDelivery,
  content: readonly Uint8Array[],
  signatures: readonly Buffer[],
): boolean {
  const outcome = evaluateText(field, delivery.namesFor(field));
  const key = "error" in outcome || typeof outcome.value !== "string" ? null : findPublicKey(outcome.value);
  if (key === null || !fits(key, algorithm)) return false;
  const bytes = content.length === 1 ? (content[0] ?? ABSENT) : Buffer.concat(content);
  const digest = algorithm === "ed25519" ? null : "sha256";
  let isValid = false;
  for (const given of signatures) {
    // A 64-byte ES256 signature is a pair of numbers, as in JWS. A signature of any other length is DER.
    const dsaEncoding = given.length === 64 ? "ieee-p1363" : "der";
    isValid = isSigned(digest, bytes, { key, dsaEncoding }, given) || isValid;
  }
  return isValid;
}

const keyTypes: Readonly<Record<Asymmetric["algorithm"], string>> = { ed25519: "ed25519", es256: "ec", rs256: "rsa" };

function fits(key: KeyObject, algorithm: Asymmetric["algorithm"]): boolean {
  if (key.asymmetricKeyType !== keyTypes[algorithm]) return false;
  return algorithm !== "es256" || key.asymmetricKeyDetails?.namedCurve === "prime256v1";
}

/** Cached public keys by their PEM text; null for an invalid key. */
const cachedKeys = new Map<string, KeyObject | null>();

function findPublicKey(pem: string): KeyObject | null {
  const known = cachedKeys.get(pem);
  if (known !== undefined) return known;
  const key = readPublicKey(pem);
  cachedKeys.set(pem, key);
  if (cachedKeys.size > MAX_CACHED_KEYS) cachedKeys.delete(cachedKeys.keys().next().value ?? "");
  return key;
}

function readPublicKey(pem: string): KeyObject | null {
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}

type Freshness = NonNullable<Scheme["freshness"]>;

function findTimeFault({ at, withinSeconds }: Freshness, delivery: ReceivedDelivery, nowMs: number) {
  const outcome = evaluateText(at, delivery.namesFor(at));
  const atMs = "error" in outcome ? null : toTimeMs(outcome.value);
  if (atMs === null) return "unreadable-time";
  return Math.abs(nowMs - atMs) <= withinSeconds * 1_000 ? null : "not-fresh";
}

/** Numbers above this limit are times in milliseconds. Times in seconds reach the limit in the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Parses a time in seconds, milliseconds or RFC 3339, from a number or a string; null for anything else. */
export function toTimeMs(value: unknown): number | null {
  if (typeof value === "string" && RFC_3339.test(value.trim())) {
    const atMs = Date.parse(value.trim());
    return Number.isNaN(atMs) ? null : atMs;
  }
  const isNumeric =
    typeof value === "number" ||
    typeof value === "bigint" ||
    (typeof value === "string" && /^\s*\d{1,16}(\.\d+)?\s*$/.test(value));
  if (!isNumeric) return null;
  const number = Number(value);
  return number > FIRST_MILLISECONDS ? number : number * 1_000;
}
