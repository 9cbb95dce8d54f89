/**
 * Verifies the sender of a delivery: by its signature, and its freshness where the definition asks for it, or by a token or
 * password. Nothing is written. The time does not depend on what is wrong with a signature or credential. Freshness is
 * checked after the signature.
 */
import {
  createHmac,
  createPublicKey,
  createSecretKey,
  verify as isSigned,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { evaluateText } from "../expressions/templates.js";
import type { IntegrationFields } from "../integrations/definition.js";
import type { ReceivedDelivery } from "./received-delivery.js";
import { findCredentialFault, readSharedCredential } from "./shared-credential.js";
import { toSignedContent } from "./signed-content.js";

type Verify = NonNullable<NonNullable<IntegrationFields["webhook"]>["verify"]>;
type Hmac = NonNullable<Verify["hmac"]>;
type Asymmetric = NonNullable<Verify["asymmetric"]>;
type Scheme = Hmac | Asymmetric;

/** What a delivery is verified with. */
export interface Verification {
  /** Null refuses every delivery. */
  readonly verify: Verify | null;
  /** The value of the secret that `verify` names; null where there is none. */
  readonly secret: string | null;
  readonly nowMs: number;
}

/** Signatures of one header that are compared: a sender lists several while it changes its key. */
const MAX_SIGNATURES = 16;
const ENCODED = { hex: /^[0-9a-f]+$/i, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ } as const;
const ABSENT = Buffer.alloc(0);

/** Why a delivery is not its sender's: told to who may read it, never to who sent it. */
export const deliveryFaults = [
  "no-verify",
  "no-secret",
  "no-signature",
  // Without the prefix, or in another encoding than the definition says.
  "unreadable-signature",
  "wrong-signature",
  // The same faults of a token or password.
  "no-credential",
  "unreadable-credential",
  "wrong-credential",
  // The signature is right, and `freshness.at` gives no time.
  "unreadable-time",
  "not-fresh",
] as const;
export type DeliveryFault = (typeof deliveryFaults)[number];

/** What is wrong with a delivery; null for one that is its sender's. */
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
  // When it was sent may stand in the body, which is read for a sender that is known alone.
  if (content !== null && isSignatureValid) {
    return scheme.freshness === null ? null : findTimeFault(scheme.freshness, delivery, nowMs);
  }
  if (header.trim() === "") return "no-signature";
  if (verify.hmac !== null && secret === null) return "no-secret";
  return signatures.length === 0 ? "unreadable-signature" : "wrong-signature";
}

/** The name of the header with the signature or credential, in lower case. It is not stored. Null without `verify`. */
export function credentialHeader(verify: Verify | null): string | null {
  if (verify?.basic) return "authorization";
  return (verify?.token?.header ?? verify?.hmac?.header ?? verify?.asymmetric?.header ?? null)?.toLowerCase() ?? null;
}

/**
 * Those of the header with the scheme's prefix, in bytes: of all of it, of its words, or of its parts between commas. Time
 * is linear in its length: whoever sends it is not known yet.
 */
function listSignatures({ prefix, encoding }: Scheme, header: string): readonly Buffer[] {
  const whole = header.trim();
  const parts = /[\s,]/.test(whole) ? partsOf(header) : [whole];
  const signatures: Buffer[] = [];
  for (const part of parts) {
    if (signatures.length === MAX_SIGNATURES) break;
    const text = part.startsWith(prefix) ? part.slice(prefix.length) : "";
    const isWhole = encoding === "base64" || text.length % 2 === 0;
    if (isWhole && ENCODED[encoding].test(text)) signatures.push(Buffer.from(text, encoding));
  }
  return signatures;
}

/** The header's words, and its parts between commas, each once. */
function partsOf(header: string): ReadonlySet<string> {
  const betweenCommas = header.split(",", MAX_SIGNATURES).map((part) => part.trim());
  return new Set([header.trim(), ...header.split(/\s+/, MAX_SIGNATURES), ...betweenCommas]);
}

/** All are compared, and there is always one to compare. */
function isHmacValid(
  { algorithm }: Hmac,
  secret: string | null,
  content: readonly Uint8Array[],
  signatures: readonly Buffer[],
): boolean {
  const hmac = createHmac(algorithm, keyOf(secret ?? ""));
  for (const piece of content) hmac.update(piece);
  // As text first: a digest in a buffer of its own takes half as long as the HMAC of a kilobyte.
  const expected = Buffer.from(hmac.digest("binary"), "binary");
  let isValid = false;
  for (const given of signatures.length === 0 ? [ABSENT] : signatures) {
    const compared = given.length === expected.length ? given : Buffer.alloc(expected.length);
    const isEqual = timingSafeEqual(expected, compared);
    isValid = (isEqual && given.length === expected.length) || isValid;
  }
  return isValid && secret !== null;
}

/** Keys, of secrets and public ones; of each kind the oldest is evicted first. */
const MAX_CACHED_KEYS = 100;
const cachedSecrets = new Map<string, KeyObject>();

/** The key that a secret is: with one that is there an HMAC of a kilobyte takes two thirds of the time. */
function keyOf(secret: string): KeyObject {
  const known = cachedSecrets.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(toKeyBytes(secret));
  cachedSecrets.set(secret, key);
  if (cachedSecrets.size > MAX_CACHED_KEYS) cachedSecrets.delete(cachedSecrets.keys().next().value ?? "");
  return key;
}

/** The bytes of a secret; those of Standard Webhooks (`whsec_…`) are written in base64. */
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
    // An ES256 signature of 64 bytes is the pair of numbers as in JWS; any other is DER.
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

/** Public keys by their PEM. */
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

/** From this number on a time is in milliseconds: seconds reach it in the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** A time as seconds, milliseconds or RFC 3339, as a number or a text; null for anything else. */
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
