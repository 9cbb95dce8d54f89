import { createPublicKey } from "node:crypto";
import { base64url, CompactEncrypt, CompactSign, importJWK, type JWK } from "jose";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import t from "tap";
import { type Claims, type IssuerKey, makeKeys, startIssuer } from "../../support/issuer.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { type Reply, startTestService } from "../../support/service.js";

const published = await makeKeys(["ES256", "RS256", "ES384", "PS256", "ES256", "PS512", "ES512", "EdDSA"]);
const foreign = await makeKeys(["ES256", "RS256"]);
const [es256, rs256, es384, ps256, otherEs256, ps512, es512, edDsa] = published as Eight;
const [foreignEs256, foreignRs256] = foreign as [IssuerKey, IssuerKey];
type Eight = [IssuerKey, IssuerKey, IssuerKey, IssuerKey, IssuerKey, IssuerKey, IssuerKey, IssuerKey];

type Header = Readonly<Record<string, unknown>>;

const now = Math.floor(Date.now() / 1_000);
const text = (value: unknown) => base64url.encode(typeof value === "string" ? value : JSON.stringify(value));

/** Signs a payload with a key, under a header that need not match the key. */
async function sign(payload: unknown, key: JWK, header: Header): Promise<string> {
  const made = await importJWK({ ...key }, String(key.alg));
  const body = new TextEncoder().encode(typeof payload === "string" ? payload : JSON.stringify(payload));
  const signed = await new CompactSign(body).setProtectedHeader({ ...header, alg: String(key.alg) }).sign(made);
  if (header.alg === undefined || header.alg === key.alg) return signed;
  const [, inner, signature] = signed.split(".");
  return [text(header), inner, signature].join(".");
}

/** Signs with HMAC, using each form of the public key that a verifier could mistake for the secret. */
async function confused(payload: unknown, key: IssuerKey): Promise<string[]> {
  const { kty, n, e, crv, x, y, kid } = key;
  const jwk = kty === "RSA" ? { kty, n, e } : { kty, crv, x, y };
  const spki = createPublicKey({ key: jwk, format: "jwk" });
  const pem = spki.export({ type: "spki", format: "pem" }).toString();
  const secrets = [
    pem,
    pem.trim(),
    spki.export({ type: "spki", format: "der" }),
    JSON.stringify(jwk),
    n ?? x ?? "",
    "",
  ];
  const tokens: string[] = [];
  for (const alg of ["HS256", "HS384", "HS512"]) {
    for (const secret of secrets) {
      const bytes = Buffer.concat([Buffer.from(secret), Buffer.alloc(Math.max(0, 64 - secret.length))]);
      const body = new TextEncoder().encode(JSON.stringify(payload));
      tokens.push(await new CompactSign(body).setProtectedHeader({ alg, kid }).sign(bytes));
    }
  }
  return tokens;
}

t.test("forged and ill-fitting tokens are all refused with the same bytes, and none fails the service", async (t) => {
  const issuer = await startIssuer(t, published);
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: issuer.url } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const terms = { issuer: issuer.url, subject: "repo:acme/app:*", scopes: ["read"], claims: { environment: "prod" } };
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, { key: "ci", ...terms });
  await ada.create(`/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "fast" });
  const runnerTrust = await ada.create(`/api/resources/workspaces/${workspaceId}/runner-trusts`, {
    key: "ci",
    issuer: issuer.url,
    subject: "repo:acme/app:*",
    pools: ["fast"],
  });
  const good: Claims = {
    iss: issuer.url,
    sub: "repo:acme/app:ref:refs/heads/main",
    aud: "service",
    environment: "prod",
    iat: now,
    nbf: now,
    exp: now + 600,
  };
  const withKid = (key: IssuerKey, more: Header = {}) => ({ kid: key.kid, ...more });
  const valid = await sign(good, es256, withKid(es256));
  const [head = "", body = "", signature = ""] = valid.split(".");
  const tokens: string[] = [];

  // Wrong algorithms: none, HMAC with the public key, published algorithms that the service does not accept, and
  // algorithms that do not fit the key.
  for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0, ["ES256"], { a: 1 }, "es256", "ES256 "]) {
    for (const last of ["", signature]) tokens.push([text({ alg, kid: es256.kid }), body, last].join("."));
  }
  tokens.push([text({ kid: es256.kid }), body, signature].join("."));
  for (const key of [es256, rs256]) tokens.push(...(await confused(good, key)));
  for (const key of [ps512, es512, edDsa]) tokens.push(await sign(good, key, withKid(key)));
  for (const alg of ["RS256", "PS256", "RS512", "ES384"]) tokens.push(await sign(good, es256, { kid: es256.kid, alg }));
  for (const alg of ["PS256", "RS384", "RS512", "ES256"]) tokens.push(await sign(good, rs256, { kid: rs256.kid, alg }));

  // Wrong keys: a foreign key under the issuer's key id, another key of the issuer, unknown and odd key ids, no key id,
  // and a key in the header.
  for (const [key, kid] of [
    ...[
      [foreignEs256, es256.kid],
      [foreignRs256, rs256.kid],
      [otherEs256, es256.kid],
      [es256, otherEs256.kid],
    ],
    ...[
      [es256, rs256.kid],
      [rs256, ps256.kid],
      [es384, es256.kid],
      [foreignEs256, foreignEs256.kid],
    ],
    ...[
      [es256, "unknown"],
      [es256, ""],
      [es256, "x".repeat(5_000)],
      [es256, "../keys"],
      [es256, "__proto__"],
    ],
  ] as [IssuerKey, string][]) {
    tokens.push(await sign(good, key, { kid }));
  }
  // Without a `kid`, the service tries each key that fits the algorithm. This token's key is the key of a foreign
  // issuer, so no key of the service matches.
  tokens.push(await sign(good, foreignEs256, {}));
  const { d: _secret, ...open } = foreignEs256;
  for (const brought of [
    ...[{ jwk: open }, { jku: "https://evil.example/keys" }, { x5u: "https://evil.example/keys" }, { x5c: ["MIIB"] }],
    ...[
      { jwk: open, kid: es256.kid },
      { jwk: open, kid: open.kid },
    ],
  ]) {
    tokens.push(await sign(good, foreignEs256, brought));
  }
  for (const crit of [["exp"], ["unknown"], [], "exp"]) {
    tokens.push([text({ alg: "ES256", kid: es256.kid, crit, unknown: 1 }), body, signature].join("."));
  }

  // Wrong claims with a valid signature.
  const wrong: readonly Claims[] = [
    ...[undefined, null, "", 7, [], {}, ["repo:acme/app:x"], "repo:acme/apple:x", "repo:*", "Repo:acme/app:x"].map(
      (sub) => ({ sub }),
    ),
    ...[undefined, null, "", 7, [], {}, "Service", "service ", ["other"], [["service"]], { service: 1 }].map((aud) => ({
      aud,
    })),
    ...[undefined, null, "", `${issuer.url}/`, issuer.url.toUpperCase(), [issuer.url], "https://ci.example.com"].map(
      (iss) => ({ iss }),
    ),
    ...[undefined, null, "", String(now + 600), 0, -1, now - 31, now - 86_400, [], {}].map((exp) => ({ exp })),
    ...[null, "", String(now), now + 60, now + 86_400, [], {}, 1e300].map((nbf) => ({ nbf })),
    ...[null, String(now), now + 60, now + 86_400, {}].map((iat) => ({ iat })),
    ...[undefined, null, "", 7, true, ["prod"], {}, "Prod", "prod ", "production"].map((environment) => ({
      environment,
    })),
  ];
  for (const claims of wrong) tokens.push(await sign({ ...good, ...claims }, es256, withKid(es256)));
  for (const payload of ["[]", '"text"', "7", "null", "{", "", `[${JSON.stringify(good)}]`]) {
    tokens.push(await sign(payload, es256, withKid(es256)));
  }

  // Malformed tokens.
  tokens.push(
    ...[
      "",
      ".",
      "..",
      "...",
      "a.b.c",
      "null",
      "{}",
      "\0",
      "é.é.é",
      `${valid}.`,
      `.${valid}`,
      `${head}.${body}`,
      `${head}.${body}.`,
    ],
    ...[
      `${valid}.${valid}`,
      `${head}..${signature}`,
      `.${body}.${signature}`,
      `${body}.${head}.${signature}`,
      "x".repeat(100_000),
    ],
    ...[
      `${head}.${text({ ...good, sub: "repo:acme/app:other" })}.${signature}`,
      `Bearer ${valid}`,
      `${text("not json")}.${body}.${signature}`,
    ],
    ...[`${text("[]")}.${body}.${signature}`, `${text('"ES256"')}.${body}.${signature}`, `${valid.slice(0, -20)}`],
    await sign({ ...good, padding: "x".repeat(20_000) }, es256, withKid(es256)),
    await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(good)))
      .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM" })
      .encrypt(createPublicKey({ key: { kty: "RSA", n: rs256.n, e: rs256.e }, format: "jwk" })),
  );
  const chance = xoroshiro128plus(7);
  const below = (most: number) => (chance.next() >>> 0) % most;
  for (let count = 0; count < 60; count++) {
    // The test does not change the last character of a part, because this character can contain unused bits.
    const part = below(3);
    const parts = [head, body, signature];
    const at = below((parts[part]?.length ?? 0) - 1);
    parts[part] =
      parts[part]?.replace(/./g, (one, index: number) => (index === at ? (one === "A" ? "B" : "A") : one)) ?? "";
    const mutant = parts.join(".");
    if (mutant !== valid) tokens.push(mutant);
  }

  // Ids that name no token trust; one of them names a runner trust. Each is sent with a valid token.
  const trusts = [
    "",
    "x",
    "\0",
    "__proto__",
    "trust_",
    workspaceId,
    runnerTrust.id,
    "x".repeat(10_000),
    "trust_00000000000000000000000000",
  ];
  const requests = [
    ...tokens.map((token) => ({ trust: trust.id, token })),
    ...trusts.map((id) => ({ trust: id, token: valid })),
  ];
  t.ok(requests.length >= 250, `${requests.length} of them`);

  const exchange = (request: object) => service.anonymous.request("POST", "/api/workspace-tokens/exchange", request);
  t.equal((await exchange({ trust: trust.id, token: valid })).status, 200, "the token that they are made from is good");
  const replies: Reply[] = [];
  const tookMs: number[] = [];
  const waiting = [...requests];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const begun = performance.now();
      const reply = await exchange(next);
      tookMs.push(performance.now() - begun);
      if (reply.status !== 401) t.fail(`${reply.status} for ${next.trust.slice(0, 40)} ${next.token.slice(0, 300)}`);
      replies.push(reply);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  t.equal(replies.length, requests.length);
  t.same([...new Set(replies.map(({ text }) => text))], [replies[0]?.text], "the same bytes, whatever the cause");
  const headers = replies.map(({ headers: { date: _date, "x-request-id": _id, ...rest } }) => JSON.stringify(rest));
  t.same(new Set(headers).size, 1, "and the same headers");
  t.ok(Math.min(...tookMs) > 95, "none is told so soon that the time would tell why");
  t.equal((await exchange({ trust: trust.id, token: valid })).status, 200, "and it is good still");
  t.notOk(service.logLines.some((line) => line.includes(signature) || line.includes(body)));
});
