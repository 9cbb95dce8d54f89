import { z } from "zod";
import { expression } from "../expressions/schemas.js";
import type { FieldError } from "../refusal.js";
import { distinct, slug } from "../resources/fields.js";
import { named } from "./request.js";

const text = (most: number) => z.string().max(most, `must be at most ${most} characters`);

/** An address of the host. RFC 6749 (3.1, 3.2) allows no fragment; credentials would end up in logs. */
const endpoint = text(2_000).refine(isEndpoint, "must be an https:// address without a fragment and credentials");
const optionalEndpoint = endpoint.nullable().default(null);

/** Parameters of the authorization request that the service sets itself. */
const OWN_PARAMETERS: readonly string[] = [
  ...["response_type", "response_mode", "client_id", "client_secret", "redirect_uri", "scope", "state"],
  ...["code_challenge", "code_challenge_method", "request", "request_uri"],
];

/** How accounts are linked: the host as an OAuth 2.0 authorization server, and the service as its client. */
export const oauth2Schema = z.strictObject({
  /** The host's issuer (RFC 8414, RFC 9207). Endpoints that are not given are discovered from it. */
  issuer: endpoint
    .refine((issuer) => !issuer.includes("?"), "must hold no query")
    .nullable()
    .default(null),
  authorizeUrl: optionalEndpoint,
  tokenUrl: optionalEndpoint,
  /** Where tokens are revoked (RFC 7009) when an account is disconnected. */
  revokeUrl: optionalEndpoint,
  clientId: text(255).min(1, "must not be empty"),
  /** Name of the secret that holds the client secret; a public client has none. */
  clientSecret: slug.nullable().default(null),
  /** How the client authenticates: with HTTP Basic credentials, or in the body. */
  clientAuth: z.enum(["basic", "body"], "must be basic or body").default("basic"),
  scopes: distinct(text(255).regex(/^[!-~]+$/, "must be one word"), "must name each scope once")
    .max(100, "must be at most 100 scopes")
    .default([]),
  /** Additional parameters of the authorization request, such as `access_type`. */
  parameters: named(text(64).min(1, "must not be empty"), text(1_000)),
  /** The request that identifies the account with the new token; without it the token's own answer is read. */
  identityUrl: optionalEndpoint,
  /** Reads the name of the connected account from that answer. */
  identity: expression.nullable().default(null),
});

export type OAuth2 = z.output<typeof oauth2Schema>;

/** The contradictions in how accounts are linked. */
export function checkOAuth2(oauth2: OAuth2): readonly FieldError[] {
  const { issuer, parameters } = oauth2;
  const missing =
    issuer !== null ? [] : (["authorizeUrl", "tokenUrl"] as const).filter((name) => oauth2[name] === null);
  return [
    ...missing.map((name) => ({ path: `connection.oauth2.${name}`, message: "is required without an issuer" })),
    ...OWN_PARAMETERS.filter((name) => Object.hasOwn(parameters, name)).map((name) => ({
      path: `connection.oauth2.parameters.${name}`,
      message: "is set by the service",
    })),
  ];
}

function isEndpoint(address: string): boolean {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === "" && password === "" && !address.includes("#") && !/\s/.test(address);
}
