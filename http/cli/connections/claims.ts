import { decodeProtectedHeader } from "jose";
import {
  MAX_SHOWN_LENGTH,
  MAX_TOKEN_LENGTH,
  TOLERANCE_SECONDS,
  WORKLOAD_ALGORITHMS,
} from "../../../actors/access/tokens/workload-rules.js";
import { matchesPattern } from "../../../actors/access/trusts/trust-pattern.js";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import { CommandError } from "../command/exit-codes.js";

/** The conditions of a token trust or a runner trust. */
export interface Terms {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, string>>;
}

/** The content of a token. Integers are exact. */
export interface Content {
  readonly alg: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The result for one claim, or for the algorithm (`alg`). */
export interface ClaimResult {
  readonly claim: string;
  /** Null if the trust does not check the claim. */
  readonly matches: boolean | null;
  /** The pattern or rule; null if the claim is not checked. */
  readonly wanted: string | null;
  /** The token's value, shortened if it is long; null if the token has none. */
  readonly came: string | null;
}

/** Reads a token without verifying its signature. Errors do not repeat the token. */
export function readToken(token: string): Content {
  if (token.length > MAX_TOKEN_LENGTH) {
    throw new CommandError(`the token has ${token.length} characters: the service accepts ${MAX_TOKEN_LENGTH}`);
  }
  try {
    const { alg } = decodeProtectedHeader(token);
    const [, payload = "", signature] = token.split(".");
    const claims = readJson(Buffer.from(payload, "base64url").toString("utf8"));
    if (signature !== undefined && typeof claims === "object" && claims !== null && !Array.isArray(claims)) {
      return { alg, claims: claims as Readonly<Record<string, unknown>> };
    }
  } catch {
    // Drop the parser's error, because it may repeat a part of the token.
  }
  throw new CommandError("this is not a signed JSON Web Token, as a CI platform issues");
}

/**
 * Compares a token with a trust by the rules of the token exchange, but does not verify the signature. Compares the
 * algorithm, the claims that the trust names, and the times. The results for claims that the trust does not check come
 * last.
 */
export function compareClaims({ alg, claims }: Content, terms: Terms, nowMs: number): readonly ClaimResult[] {
  const has = (name: string) => (Object.hasOwn(claims, name) ? claims[name] : undefined);
  const check = (claim: string, wanted: string, matches: (value: unknown) => boolean): ClaimResult => ({
    claim,
    wanted,
    matches: matches(has(claim)),
    came: toShown(has(claim)),
  });
  const pattern = (claim: string, wanted: string) =>
    check(claim, wanted, (value) => typeof value === "string" && matchesPattern(wanted, value));
  const checked = [
    { ...check("alg", WORKLOAD_ALGORITHMS.join(", "), () => isAlgorithm(alg)), came: toShown(alg) },
    check("iss", terms.issuer, (value) => value === terms.issuer),
    check("aud", terms.audience, (value) => [value].flat().includes(terms.audience)),
    pattern("sub", terms.subject),
    ...Object.entries(terms.claims).map(([name, wanted]) => pattern(name, wanted)),
    ...compareTimes(claims, nowMs),
  ];
  const names = new Set(checked.map(({ claim }) => claim));
  const others = Object.keys(claims).filter((name) => !names.has(name));
  return [...checked, ...others.map((claim) => ({ claim, matches: null, wanted: null, came: toShown(has(claim)) }))];
}

/**
 * Checks the times of a token: `exp` is required, `nbf` and `iat` are not. Allows the clocks to differ by some seconds.
 */
function compareTimes(claims: Content["claims"], nowMs: number): readonly ClaimResult[] {
  const now = Math.floor(nowMs / 1_000);
  const compare = (claim: string, rule: string, fits: (seconds: number) => boolean): ClaimResult => {
    const value = claims[claim];
    const seconds = typeof value === "number" ? value : null;
    const came = seconds !== null && Math.abs(seconds) < 8.64e12 ? toTime(seconds) : toShown(value);
    return { claim, wanted: `${rule} ${toTime(now)}`, matches: seconds !== null && fits(seconds), came };
  };
  const early = (seconds: number) => seconds <= now + TOLERANCE_SECONDS;
  return [
    compare("exp", "after", (seconds) => seconds > now - TOLERANCE_SECONDS),
    ...["nbf", "iat"].filter((name) => claims[name] !== undefined).map((name) => compare(name, "at most", early)),
  ];
}

function isAlgorithm(alg: unknown): boolean {
  return typeof alg === "string" && WORKLOAD_ALGORITHMS.includes(alg);
}

function toShown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : (writeJson(value) ?? "");
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

function toTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace(/\.000Z$/, "Z");
}
