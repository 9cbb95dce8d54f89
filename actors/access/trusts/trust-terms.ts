import { z } from "zod";
import { type AllowList, reachesIssuer } from "../../outbound/http/allow-list.js";
import type { Warning } from "../../resources/kind.js";
import { namesOwner, unmatchedForm } from "./trust-pattern.js";

/** Maximum length of an issuer, audience, subject and claim value, in characters (configuration API, Limits). */
const MAX_LENGTH = 255;
const MAX_CLAIMS = 16;
const tooLong = `must be at most ${MAX_LENGTH} characters`;

/** Claims that the service checks itself, or that identify a single token. */
const reservedClaims = new Set(["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]);

const word = z
  .string()
  .min(1, "must not be empty")
  .max(MAX_LENGTH, tooLong)
  .regex(/^[^\s\p{Cc}]*$/u, "must be one word, without whitespace");

const issuer = z
  .string()
  .max(MAX_LENGTH, tooLong)
  .superRefine((text, context) => {
    const message = issuerFault(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  });

/**
 * Returns why a text is not an issuer, or null. The text is not normalised, because it must equal a token's `iss`
 * exactly.
 */
function issuerFault(text: string): string | null {
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) {
    return "must be an https address, or http for localhost, 127.0.0.1 or [::1]";
  }
  const authority = text.slice(text.indexOf("//") + 2).split(/[/?#]/, 1)[0] ?? "";
  if (authority.includes("@")) return "must not contain credentials";
  if (/[?#]/.test(text)) return "must have no query and no fragment";
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(authority);
  if (text.startsWith("http://") && !isLocal) return "must be https, unless it is localhost, 127.0.0.1 or [::1]";
  return null;
}

const claimName = z
  .string()
  .max(64, "must be a claim's name of at most 64 characters")
  .regex(/^[a-z][a-z0-9_]*$/, "must be a claim's name: lowercase letters, digits and _, starting with a letter")
  .refine(
    (name) => !reservedClaims.has(name),
    "is reserved: iss, sub, aud, exp, nbf, iat and jti have rules of their own",
  );

/** The fields of a trust that decide which workload tokens it accepts. Token trusts and runner trusts share them. */
export const trustTerms = {
  issuer: issuer.describe(
    "Exact `iss` of the workload's OIDC token: an https URL without query, at most 255 characters.",
  ),
  audience: word.default("service").describe("Value that the OIDC token's `aud` must contain; one word."),
  subject: word
    .refine(namesOwner, "must name an owner before any *: the text before it must contain /")
    .describe("Pattern for the OIDC token's `sub`. `*` matches any text; a `/` must precede it."),
  claims: z
    .record(claimName, word)
    .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `must name at most ${MAX_CLAIMS} claims`)
    .default({})
    .describe("Patterns for further claims of the OIDC token, by claim name; at most 16."),
} as const;

/** The conditions for the workload tokens that a trust accepts. */
export interface TrustTerms {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, string>>;
}

/** Returns a warning for each term that may not work. */
export function termWarnings(terms: TrustTerms, allowList: AllowList): readonly Warning[] {
  const form = unmatchedForm(terms.subject);
  const isOutOfReach = !reachesIssuer(allowList, new URL(terms.issuer));
  return [
    ...(isOutOfReach
      ? [warning("issuer", `is not reached from here: OUTBOUND_ALLOW must name ${new URL(terms.issuer).origin}`)]
      : []),
    ...(form === null ? [] : [warning("subject", form)]),
  ];
}

function warning(path: string, message: string): Warning {
  return { path, message, severity: "warning" };
}
