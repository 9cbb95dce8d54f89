import { z } from "zod";
import { listPublishedKeys } from "../../actors/hooks/delivery/signing-keys.machine.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Route, route } from "../wire/route.js";

const key = z.strictObject({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
  alg: z.literal("ES256"),
  use: z.literal("sig"),
});

/**
 * How long a receiver may cache the discovery documents, in seconds. This is shorter than the time that a replaced key
 * stays published.
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
      access: "public",
      answers: {
        200: {
          body: z.strictObject({
            issuer: z.string(),
            jwks_uri: z.string(),
            response_types_supported: z.array(z.string()),
            subject_types_supported: z.array(z.string()),
            id_token_signing_alg_values_supported: z.array(z.string()),
            claims_supported: z.array(z.string()),
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
      access: "public",
      answers: { 200: { body: z.strictObject({ keys: z.array(key) }), headers: keeping } },
      handle: () => ({
        status: 200,
        headers,
        body: { keys: listPublishedKeys(runtime.reading, runtime.clock.now()) },
      }),
    }),
  ];
}
