import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import t, { type Test } from "tap";
import { createWorkloadVerifier } from "../../../../actors/access/tokens/workload-token.js";
import { parseAllowList, toIssuerAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { createIssuerKeys, MAX_DOCUMENT_BYTES } from "../../../../actors/outbound/oauth/oidc-discovery.js";

const NOW_MS = 1_800_000_000_000;

async function readPair(alg: "ES256" | "RS256") {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, jwk: (await exportJWK(publicKey)) as Readonly<Record<string, unknown>> };
}
type Pair = Awaited<ReturnType<typeof readPair>>;

const [one, other, forger, rsa] = await Promise.all([
  readPair("ES256"),
  readPair("ES256"),
  readPair("ES256"),
  readPair("RS256"),
]);

/**
 * Starts an issuer that publishes these keys. Returns the issuer's state, and a function that signs a token with a key
 * pair and verifies it.
 */
async function arrange(t: Test, published: readonly unknown[]) {
  const state = { keys: published, asked: 0 };
  const server = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    if (isKeys) state.asked += 1;
    response.end(JSON.stringify(isKeys ? { keys: state.keys } : { issuer, jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const allowList = toIssuerAllowList(parseAllowList(issuer));
  const outbound = createOutbound({ allowList, maxBodyBytes: MAX_DOCUMENT_BYTES });
  t.teardown(async () => {
    await outbound.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const now = () => NOW_MS;
  const verifier = createWorkloadVerifier({ keys: createIssuerKeys({ outbound, now }), now });
  const verify = async ({ alg, privateKey }: Pair, kid?: string) => {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
      .setIssuer(issuer)
      .setAudience("service")
      .setSubject("repo:acme/app")
      .setExpirationTime(NOW_MS / 1_000 + 60)
      .sign(privateKey);
    const terms = { issuer, audience: "service", subject: "repo:acme/*", claims: {} };
    const verdict = await verifier.verify(token, terms, "ws_1");
    return verdict.admits ? "admitted" : verdict.check;
  };
  return { state, verify };
}

t.test("each key that fits is tried, and forged tokens stay refused", async (t) => {
  const k = (pair: Pair, more: object = {}) => ({ ...pair.jwk, kid: "k", ...more });
  const sets: Readonly<Record<string, readonly unknown[]>> = {
    "the same key twice": [k(one), k(one)],
    "two keys of one kid": [k(other), k(one)],
    "two keys of one kid, the other way round": [k(one), k(other)],
    "a broken key of the same kid": [k(one, { x: "AA" }), k(one)],
    "null as use, alg and key_ops": [k(one, { use: null, alg: null, key_ops: null })],
    "empty use and alg": [k(one, { use: "", alg: "" })],
    "an operation twice": [k(one, { key_ops: ["verify", "verify"] })],
    "keys of other algorithms": [k(rsa), k(one), { kty: "oct", kid: "k", k: "AA" }],
    "null beside them": [null, k(one)],
    "an RSA key without a modulus": [{ kty: "RSA", kid: "k" }, k(one)],
    "no operations": [k(one, { key_ops: [] })],
    "an operation as a text": [k(one, { key_ops: "verify" })],
  };
  for (const [name, keys] of Object.entries(sets)) {
    const { verify } = await arrange(t, keys);
    t.equal(await verify(one, "k"), "admitted", name);
    t.equal(await verify(forger, "k"), "signature", name);
    t.equal(await verify(one, "of nobody"), "kid", name);
    t.equal(await verify(one), "admitted", `${name}, without a kid`);
    t.equal(await verify(forger), "signature", `${name}, without a kid`);
  }
});

const [good, stranger] = await Promise.all([readPair("RS256"), readPair("RS256")]);
const shortKey = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });

t.test("a key that cannot be used does not hide the good one", async (t) => {
  const broken: Readonly<Record<string, object>> = {
    "a modulus that is no base64": { kty: "RSA", n: "!!", e: "AQAB" },
    "no modulus": { kty: "RSA", e: "AQAB" },
    "an empty modulus": { kty: "RSA", n: "", e: "AQAB" },
    "an exponent of zero": { ...good.jwk, e: "AA" },
    "a key of 1,024 bits": { ...shortKey },
    "a modulus that is a number": { kty: "RSA", n: 5, e: "AQAB" },
  };
  for (const [name, key] of Object.entries(broken)) {
    for (const kid of [undefined, "k"]) {
      const named = (jwk: object) => ({ ...jwk, ...(kid === undefined ? {} : { kid }) });
      const both = await arrange(t, [named(key), named(good.jwk)]);
      t.equal(await both.verify(good, kid), "admitted", `${name}, kid ${kid}`);
      t.equal(await both.verify(stranger, kid), "signature", `${name}, kid ${kid}, forged`);
      const alone = await arrange(t, [named(key)]);
      t.not(await alone.verify(good, kid), "admitted", `${name}, alone`);
    }
  }
});

t.test("a kid that is a number is compared as text", async (t) => {
  const { verify } = await arrange(t, [{ ...one.jwk, kid: 7 }]);
  t.equal(await verify(one, "7"), "admitted");
  t.equal(await verify(one), "admitted");
  t.equal(await verify(one, "8"), "kid");
  t.equal(await verify(forger, "7"), "signature");
});

t.test("a key for something else verifies nothing, whichever others there are", async (t) => {
  const { verify } = await arrange(t, [
    { ...one.jwk, kid: "k", use: "enc" },
    { ...one.jwk, kid: "k", key_ops: ["encrypt"] },
    { ...one.jwk, kid: "k", alg: "ES384" },
    { ...other.jwk, kid: "k" },
  ]);
  t.equal(await verify(one, "k"), "signature");
  t.equal(await verify(one), "signature");
  t.equal(await verify(other, "k"), "admitted");
});

t.test("a token without a kid has new keys fetched, a few times at once", async (t) => {
  const { state, verify } = await arrange(t, [one.jwk]);
  t.equal(await verify(one), "admitted");
  state.keys = [other.jwk];
  t.equal(await verify(other), "admitted", "the issuer replaced its key");
  t.equal(state.asked, 2);
  for (let times = 0; times < 20; times++) t.equal(await verify(forger), "signature");
  t.equal(state.asked, 6, "forged tokens cost the issuer little");
  t.equal(await verify(one), "signature", "a withdrawn key verifies nothing");
});
