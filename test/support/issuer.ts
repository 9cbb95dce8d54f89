import type { JWK } from "jose";
import { OAuth2Server } from "oauth2-mock-server";
import type { Cleaning } from "./service.js";

/** Claims of a workload's token; undefined claims are omitted. */
export type Claims = Readonly<Record<string, unknown>>;

/** An OIDC token issuer on the loopback interface, with discovery and keys like those of a CI platform. */
export interface TestIssuer {
  readonly url: string;
  /** The issuer's private keys, in the order in which they were added. */
  readonly keys: readonly IssuerKey[];
  /**
   * Creates a token with these claims, signed with the key of `alg`. If the claims lack `iss`, `aud`, `sub` or a time,
   * adds them. The times are around `nowMs`.
   */
  token(claims?: Claims, options?: { readonly alg?: string; readonly nowMs?: number }): Promise<string>;
  /** Publishes another key. */
  add(key: IssuerKey): Promise<void>;
}

export type IssuerKey = JWK & { readonly kid: string; readonly alg: string };

/** Generates private keys. RSA keys take long, so call this function once per test file. */
export async function makeKeys(algorithms: readonly string[]): Promise<IssuerKey[]> {
  const server = new OAuth2Server();
  const keys: IssuerKey[] = [];
  for (const alg of algorithms) keys.push(await server.issuer.keys.generate(alg));
  return keys;
}

/** Starts an issuer that publishes the keys. At the end of the test, the issuer stops. */
export async function startIssuer(t: Cleaning, keys: readonly IssuerKey[]): Promise<TestIssuer> {
  const server = new OAuth2Server();
  for (const key of keys) await server.issuer.keys.add({ ...key });
  await server.start(0, "localhost");
  t.teardown(() => server.stop());
  const url = server.issuer.url ?? "";
  return {
    url,
    keys,
    token: (claims = {}, { alg = keys[0]?.alg, nowMs = Date.now() } = {}) =>
      server.issuer.buildToken({
        kid: server.issuer.keys.toJSON().find((key) => key.alg === alg)?.kid,
        scopesOrTransform: (_header, payload) => {
          const now = Math.floor(nowMs / 1_000);
          Object.assign(payload, { sub: "repo:acme/app:ref:refs/heads/main", aud: "service" });
          Object.assign(payload, { iat: now, nbf: now - 10, exp: now + 300 }, claims);
        },
      }),
    add: async (key) => {
      await server.issuer.keys.add({ ...key });
    },
  };
}
