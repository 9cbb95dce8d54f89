import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { readJson, writeJson } from "../../exact-json.js";
import { type IssuerKeys, KeysUnavailable } from "../../outbound/oauth/oidc-discovery.js";
import { cutText } from "../../well-formed.js";
import { matchesPattern } from "../trusts/trust-pattern.js";
import type { TrustTerms } from "../trusts/trust-terms.js";
import { MAX_SHOWN_LENGTH, MAX_TOKEN_LENGTH, TOLERANCE_SECONDS, WORKLOAD_ALGORITHMS } from "./workload-rules.js";

/**
 * Why a workload's token was refused. Only the log and the users who manage the trust show it, never the response to
 * the sender.
 */
export interface WorkloadFault {
  /** The failed check: `alg`, `keys`, `signature`, `iss`, `aud`, `sub`, `exp`, `claims.<name>`, ... */
  readonly check: string;
  readonly wanted: string;
  /** The actual value, truncated; never the token itself. */
  readonly came: string;
  /** Whether the token's signature was verified; if not, anyone may have written the value. */
  readonly verified: boolean;
}

export type TokenVerdict =
  | { readonly admits: true; readonly subject: string }
  | ({ readonly admits: false } & WorkloadFault);

/** Verifies the OIDC tokens of workloads and hosts. */
export interface WorkloadVerifier {
  /**
   * Returns whether a token meets the terms of a workspace's trust now. The content of a token never makes the promise
   * reject.
   */
  verify(token: string, terms: TrustTerms, workspaceId: string): Promise<TokenVerdict>;
}

/** Creates a verifier that uses the issuers' published keys. */
export function createWorkloadVerifier(options: {
  readonly keys: IssuerKeys;
  readonly now: () => number;
}): WorkloadVerifier {
  return {
    async verify(token, terms, workspaceId) {
      const early = faultBeforeKeys(token, terms);
      if (early !== null) return { admits: false, ...early };
      try {
        const checks: JWTVerifyOptions = {
          algorithms: [...WORKLOAD_ALGORITHMS],
          issuer: terms.issuer,
          audience: terms.audience,
          requiredClaims: ["sub", "exp"],
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(options.now()),
        };
        const verifyNow = () => verifyWithEach(token, options.keys.toKey(terms.issuer, workspaceId), checks);
        await verifyNow().catch(async (error: unknown) => {
          const isRenewed = mayBeReplaced(error, token) && (await options.keys.renew(terms.issuer, workspaceId));
          if (!isRenewed) throw error;
          return verifyNow();
        });
        return toTokenVerdict(toClaims(token), terms, options.now());
      } catch (error) {
        return { admits: false, ...toFault(error, { token, terms, nowMs: options.now() }) };
      }
    },
  };
}

/**
 * Verifies a token with each of the matching keys, and returns its claims. A key set may have several keys with the
 * same `kid`, or keys without a `kid`. Throws if no key verifies the token.
 */
async function verifyWithEach(token: string, keys: JWTVerifyGetKey, checks: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, checks)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const payload = await jwtVerify(token, key, checks).then(
        (verified) => verified.payload,
        (fault: unknown) => {
          if (fault instanceof errors.JOSEError && !(fault instanceof errors.JWSSignatureVerificationFailed))
            throw fault;
          // Try the next key: another key may have signed the token, or this key cannot verify any token.
          return null;
        },
      );
      if (payload !== null) return payload;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/**
 * Returns whether the issuer may have newer keys that verify the token. True if no known key verifies the token's
 * signature and the token has no `kid`.
 */
function mayBeReplaced(error: unknown, token: string): boolean {
  return error instanceof errors.JWSSignatureVerificationFailed && decodeProtectedHeader(token).kid === undefined;
}

/**
 * Returns a fault of the token that the service can find without the issuer's keys; null if there is none. After such a
 * fault the service does not request the keys.
 */
function faultBeforeKeys(token: string, terms: TrustTerms): WorkloadFault | null {
  if (token.length > MAX_TOKEN_LENGTH) {
    return fault("token", `at most ${MAX_TOKEN_LENGTH} characters`, token.length);
  }
  try {
    const { alg } = decodeProtectedHeader(token);
    if (alg === undefined || !WORKLOAD_ALGORITHMS.includes(alg))
      return fault("alg", WORKLOAD_ALGORITHMS.join(", "), alg);
    const { iss } = decodeJwt(token);
    return iss === terms.issuer ? null : fault("iss", terms.issuer, iss);
  } catch {
    return fault("token", "a signed JSON Web Token", "something else");
  }
}

/**
 * Returns the claims of a verified token. Integers stay exact, because users see the values of claims that do not
 * match.
 */
function toClaims(token: string): JWTPayload {
  const [, payload = ""] = token.split(".");
  return readJson(Buffer.from(payload, "base64url").toString("utf8")) as JWTPayload;
}

/** Compares the claims of a verified token with the terms of the trust. */
function toTokenVerdict(payload: JWTPayload, terms: TrustTerms, nowMs: number): TokenVerdict {
  const { sub, iat } = payload;
  const refuse = (check: string, wanted: string, came: unknown): TokenVerdict => ({
    admits: false,
    ...fault(check, wanted, came),
    verified: true,
  });
  if (iat !== undefined && iat > nowMs / 1_000 + TOLERANCE_SECONDS) {
    return refuse("iat", `at most ${toTime(nowMs / 1_000)}`, toTime(iat));
  }
  if (typeof sub !== "string" || !matchesPattern(terms.subject, sub)) return refuse("sub", terms.subject, sub);
  for (const [name, pattern] of Object.entries(terms.claims)) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (typeof value !== "string" || !matchesPattern(pattern, value)) return refuse(`claims.${name}`, pattern, value);
  }
  return { admits: true, subject: sub };
}

/** Converts an error of the verification to a fault. An unknown error counts as a fault of the token. */
function toFault(
  error: unknown,
  of: { readonly token: string; readonly terms: TrustTerms; readonly nowMs: number },
): WorkloadFault {
  if (error instanceof KeysUnavailable) return fault("keys", `the keys of ${of.terms.issuer}`, error.message);
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    return { ...claimFault(claim, payload[claim], of), verified: true };
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return fault("kid", "a key of the issuer's key set", decodeProtectedHeader(of.token).kid);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return fault("signature", "the signature of a key of the issuer", "another");
  }
  return fault("token", "a signed JSON Web Token", error instanceof errors.JOSEError ? error.code : "an unusable key");
}

function claimFault(
  claim: string,
  came: unknown,
  { terms, nowMs }: { readonly terms: TrustTerms; readonly nowMs: number },
): WorkloadFault {
  const now = toTime(nowMs / 1_000);
  const wanted: Readonly<Record<string, string>> = {
    iss: terms.issuer,
    aud: terms.audience,
    sub: terms.subject,
    exp: `after ${now}`,
    nbf: `at most ${now}`,
  };
  const isTime = claim === "exp" || claim === "nbf" || claim === "iat";
  return fault(claim, wanted[claim] ?? "another", isTime ? toTime(came) : came);
}

function fault(check: string, wanted: string, came: unknown): WorkloadFault {
  const text = came === undefined ? "nothing" : typeof came === "string" ? came : (writeJson(came) ?? "nothing");
  return { check, wanted, came: cutText(text, MAX_SHOWN_LENGTH), verified: false };
}

function toTime(seconds: unknown): unknown {
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : seconds;
}
