import { z } from "zod";
import { expression } from "../expressions/schemas.js";
import type { FieldError } from "../refusal.js";
import { distinct, slug } from "../resources/fields.js";
import { named } from "./request.js";

const text = (maxLength: number) => z.string().max(maxLength, `must be at most ${maxLength} characters`);

/**
 * An address of the host. RFC 6749 (3.1, 3.2) allows no fragment in it. Credentials are not allowed, because logs would
 * contain them.
 */
const endpoint = text(2_000).refine(isEndpoint, "must be an https:// address without a fragment and credentials");
const optionalEndpoint = endpoint.nullable().default(null);

/** Parameters of the authorization request that the service sets itself. */
const OWN_PARAMETERS: readonly string[] = [
  ...["response_type", "response_mode", "client_id", "client_secret", "redirect_uri", "scope", "state"],
  ...["code_challenge", "code_challenge_method", "request", "request_uri"],
];

/** How accounts are linked. The host is the OAuth 2.0 authorization server, and the service is its client. */
export const oauth2Schema = z.strictObject({
  issuer: endpoint
    .refine((issuer) => !issuer.includes("?"), "must not have a query")
    .nullable()
    .default(null)
    .describe("The host's issuer (RFC 8414, RFC 9207); addresses that are not set are discovered from it."),
  authorizeUrl: optionalEndpoint.describe("The address where people sign in and grant access."),
  tokenUrl: optionalEndpoint.describe("The address that issues tokens."),
  revokeUrl: optionalEndpoint.describe("The address that revokes tokens (RFC 7009) when an account is disconnected."),
  clientId: text(255).min(1, "must not be empty").describe("The client id that the host issued to the service."),
  clientSecret: slug
    .nullable()
    .default(null)
    .describe("Name of the secret that holds the client's secret; a public client has none."),
  clientAuth: z
    .enum(["basic", "body"], "must be basic or body")
    .default("basic")
    .describe("How the client authenticates: with HTTP Basic credentials, or in the body."),
  scopes: distinct(text(255).regex(/^[!-~]+$/, "must be one word"), "must name each scope once")
    .max(100, "must be at most 100 scopes")
    .default([])
    .describe("The scopes that the service requests."),
  parameters: named(text(64).min(1, "must not be empty"), text(1_000)).describe(
    "Additional parameters of the sign-in address, such as `access_type`.",
  ),
  identityUrl: optionalEndpoint.describe(
    "The request, with the new token, that returns the account's name; if null, the token's answer is used.",
  ),
  identity: expression.nullable().default(null).describe("Reads the account's name from that answer."),
});

export type OAuth2 = z.output<typeof oauth2Schema>;

/** Returns an error for each contradiction in the account link settings. */
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
