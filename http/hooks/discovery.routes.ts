import { z } from "zod";
import { listPublishedKeys } from "../../actors/hooks/delivery/signing-keys.machine.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Route, route } from "../wire/route.js";

const key = z.strictObject({
  kty: z.string().describe("The key type of RFC 7517: `EC`."),
  crv: z.string().describe("The elliptic curve of the key: `P-256`."),
  x: z.string().describe("The x coordinate of the public point, in base64url."),
  y: z.string().describe("The y coordinate of the public point, in base64url."),
  kid: z.string().describe("The id of the key, as in the header of tokens that it signs."),
  alg: z.literal("ES256").describe("The algorithm of the signatures: ECDSA with P-256 and SHA-256."),
  use: z.literal("sig").describe("The purpose of the key: signatures."),
});

/**
 * How long a receiver may cache the discovery documents, in seconds. A replaced key stays published for longer, so that
 * no cached document is out of date.
 */
const MAX_AGE_SECONDS = 300;
const keeping = { "cache-control": "How long clients can cache the document." };
const headers = { "cache-control": `public, max-age=${MAX_AGE_SECONDS}` };

/** The routes that receivers use to verify hook tokens: an OpenID Connect discovery document and its keys. */
export function discoveryRoutes({
  runtime,
  baseUrl,
}: {
  readonly runtime: Runtime;
  readonly baseUrl: () => string;
}): Route[] {
  return [
    route({
      method: "GET",
      path: "/api/.well-known/openid-configuration",
      summary: "Read the OIDC discovery document for hook tokens",
      description:
        "Receivers of hooks with `signing.oidc` use it to find the keys that verify the tokens. Needs no " +
        "credential.",
      access: "public",
      answers: {
        200: {
          body: z.strictObject({
            issuer: z.string().describe("The value of `iss` in hook tokens: the service's base URL and `/api`."),
            jwks_uri: z.string().describe("The URL of the public keys that verify hook tokens."),
            response_types_supported: z.array(z.string()).describe("Always `id_token`, as the OIDC standard requires."),
            subject_types_supported: z.array(z.string()).describe("Always `public`: all receivers see the same `sub`."),
            id_token_signing_alg_values_supported: z
              .array(z.string())
              .describe("The algorithms that sign hook tokens: `ES256`."),
            claims_supported: z.array(z.string()).describe("The names of the claims in hook tokens."),
          }),
          headers: keeping,
        },
      },
      handle: () => ({
        status: 200,
        headers,
        body: {
          issuer: `${baseUrl()}/api`,
          jwks_uri: `${baseUrl()}/api/.well-known/jwks.json`,
          response_types_supported: ["id_token"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["ES256"],
          claims_supported: [...["iss", "aud", "sub", "iat", "exp", "jti", "occurrence", "webhook_id", "body_sha256"]],
        },
      }),
    }),
    route({
      method: "GET",
      path: "/api/.well-known/jwks.json",
      summary: "Read the public keys of hook tokens",
      description: "A JSON Web Key Set (RFC 7517). A replaced key stays in the set while receivers may cache it.",
      access: "public",
      answers: {
        200: {
          body: z.strictObject({
            keys: z.array(key).describe("The current key, and replaced keys that may still be needed."),
          }),
          headers: keeping,
        },
      },
      handle: () => ({
        status: 200,
        headers,
        body: { keys: listPublishedKeys(runtime.reading, runtime.clock.now()) },
      }),
    }),
  ];
}
