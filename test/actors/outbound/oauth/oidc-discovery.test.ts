import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exportJWK, generateKeyPair, type JWK, jwtVerify, SignJWT } from "jose";
import t, { type Test } from "tap";
import { parseAllowList, toIssuerAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import {
  createIssuerKeys,
  KeysUnavailable,
  MAX_DOCUMENT_BYTES,
} from "../../../../actors/outbound/oauth/oidc-discovery.js";
import { until } from "../../../support/until.js";

interface Pair {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

type CryptoKey = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

async function readPair(kid: string): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

const [first, second] = await Promise.all([readPair("one"), readPair("two")]);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Platform {
  readonly url: string;
  /** The requested paths. */
  readonly asked: string[];
  /** The answers to the next requests, by path; other paths get a 404. */
  readonly answers: Map<string, Answer>;
  /** Publishes keys, with valid discovery. */
  publish(keys: readonly JWK[]): void;
  /** Verifies a token signed with the pair's key. Returns the error; null if the token is valid. */
  verify(
    pair: Pair,
    as?: { readonly kid?: string; readonly issuer?: string; readonly client?: string },
  ): Promise<unknown>;
  advance(ms: number): void;
}

const json =
  (body: unknown): Answer =>
  (_request, response) => {
    response.setHeader("content-type", "application/json").end(typeof body === "string" ? body : JSON.stringify(body));
  };
const DISCOVERY = "/.well-known/openid-configuration";

/** Starts an issuer on the loopback interface, and a client of the issuer. The test sets the issuer's answers. */
async function startPlatform(
  t: Test,
  options: { readonly allow?: (url: string) => string; readonly timeoutMs?: number } = {},
): Promise<Platform> {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = answers.get(request.url ?? "");
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const allowList = toIssuerAllowList(parseAllowList((options.allow ?? ((own) => own))(url)));
  const outbound = createOutbound({ allowList, maxBodyBytes: MAX_DOCUMENT_BYTES });
  let nowMs = 1_000_000_000_000;
  const keys = createIssuerKeys({ outbound, now: () => nowMs, timeoutMs: options.timeoutMs ?? 60_000 });
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url,
    asked,
    answers,
    publish: (published) => {
      answers.set(DISCOVERY, json({ issuer: url, jwks_uri: `${url}/keys` }));
      answers.set("/keys", json({ keys: published }));
    },
    verify: async ({ privateKey, ...own }, { kid = own.kid, issuer = url, client = "ws_1" } = {}) => {
      const token = await new SignJWT({}).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
      return jwtVerify(token, keys.toKey(issuer, client)).then(
        () => null,
        (error: unknown) => error,
      );
    },
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

function toMessage(error: unknown): string {
  return error instanceof KeysUnavailable ? error.message : `no KeysUnavailable: ${error}`;
}

t.test("keys are fetched once, and again ten minutes later", async (t) => {
  const platform = await startPlatform(t);
  platform.publish([first.jwk]);
  t.same(await Promise.all(Array.from({ length: 20 }, () => platform.verify(first))), Array(20).fill(null));
  t.same(platform.asked, [DISCOVERY, "/keys"], "twenty at once ask once");
  platform.advance(10 * 60_000 - 1);
  t.equal(await platform.verify(first), null);
  t.equal(platform.asked.length, 2);
  platform.publish([second.jwk]);
  platform.advance(1);
  t.match(await platform.verify(first), { code: "ERR_JWKS_NO_MATCHING_KEY" }, "a withdrawn key is no longer accepted");
  t.equal(platform.asked.length, 4);
});

t.test(
  "a key that is new is fetched as soon as a token names it, a few times at once and then each ten seconds",
  async (t) => {
    const platform = await startPlatform(t);
    platform.publish([first.jwk]);
    t.equal(await platform.verify(first), null);
    platform.publish([first.jwk, second.jwk]);
    t.equal(await platform.verify(second), null, "rotation is noticed at once");
    t.equal(platform.asked.length, 4);
    for (let index = 0; index < 50; index++) {
      t.match(await platform.verify(first, { kid: `forged-${index}` }), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    }
    t.equal(platform.asked.length, 12, "names that nobody published cost the issuer little");
    platform.advance(10_000);
    const forged = async (index: number) => {
      t.match(await platform.verify(first, { kid: `more-${index}` }), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    };
    await Promise.all(Array.from({ length: 50 }, (_, index) => forged(index)));
    t.equal(platform.asked.length, 14);
    t.equal(await platform.verify(first), null, "and those who are known are served meanwhile");
    platform.advance(50_000);
    platform.publish([second.jwk]);
    t.equal(await platform.verify(second), null);
    t.equal((await platform.verify(first, { kid: "new" })) === null, false);
    t.equal(platform.asked.length, 16, "all look-ups are to be had again");
  },
);

t.test("a failing issuer is not asked for ten seconds, and its earlier keys stay valid", async (t) => {
  const platform = await startPlatform(t);
  t.match(toMessage(await platform.verify(first)), "the request for the discovery document returned status 404");
  t.match(toMessage(await platform.verify(first)), "the request for the discovery document returned status 404");
  t.equal(platform.asked.length, 1);
  platform.publish([first.jwk]);
  platform.advance(10_000);
  t.equal(await platform.verify(first), null);
  platform.answers.clear();
  platform.advance(30_000);
  t.match(await platform.verify(second), { code: "ERR_JWKS_NO_MATCHING_KEY" });
  t.equal(await platform.verify(first), null);
  platform.advance(10 * 60_000);
  t.match(toMessage(await platform.verify(first)), "returned status 404", "but not for longer than they last");
});

t.test("an invalid discovery document or key set gives no keys, and says why", async (t) => {
  const long = json(`{"issuer":"${"x".repeat(MAX_DOCUMENT_BYTES)}"}`);
  const endless: Answer = (_request, response) => {
    const more = () => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", more);
    };
    more();
  };
  const to =
    (at: string): Answer =>
    (_request, response) =>
      void response.writeHead(302, { location: at }).end();
  const table: readonly [what: string, path: string, answer: (url: string) => Answer, message: RegExp][] = [
    ["another's", DISCOVERY, (url) => json({ issuer: `${url}/`, jwks_uri: `${url}/keys` }), /document belongs to http/],
    [
      "a lie",
      DISCOVERY,
      (url) => json({ issuer: "https://ci.example.com", jwks_uri: `${url}/keys` }),
      /belongs to https/,
    ],
    ["no JSON", DISCOVERY, () => json("<html>"), /does not have the required form/],
    ["no object", DISCOVERY, () => json("[]"), /does not have the required form/],
    ["empty", DISCOVERY, () => json(""), /does not have the required form/],
    ["without keys", DISCOVERY, (url) => json({ issuer: url }), /does not have the required form/],
    ["with a wrong address", DISCOVERY, (url) => json({ issuer: url, jwks_uri: "keys" }), /jwks_uri is not an address/],
    ["too long", DISCOVERY, () => long, /is larger than 256 KiB/],
    ["endless", DISCOVERY, () => endless, /is larger than 256 KiB/],
    ["redirecting", DISCOVERY, (url) => to(`${url}/elsewhere`), /returned status 302/],
    ["an error", DISCOVERY, () => (_request, response) => void response.writeHead(500).end(), /returned status 500/],
    ["broken off", DISCOVERY, () => (request) => void request.socket.destroy(), /cannot be fetched: [A-Z_]+$/],
    ["keys missing", "/keys", () => (_request, response) => void response.writeHead(404).end(), /the key set returned/],
    ["keys no list", "/keys", () => json({ keys: {} }), /key set does not have the required form/],
    [
      "too many keys",
      "/keys",
      () => json({ keys: Array(101).fill(first.jwk) }),
      /key set does not have the required form/,
    ],
    ["keys redirecting", "/keys", (url) => to(`${url}/elsewhere`), /the request for the key set returned status 302/],
    [
      "keys too long",
      "/keys",
      () => json(JSON.stringify({ keys: [{ x: "x".repeat(MAX_DOCUMENT_BYTES) }] })),
      /is larger than 256 KiB/,
    ],
  ];
  for (const [what, path, answer, message] of table) {
    const platform = await startPlatform(t);
    platform.publish([first.jwk]);
    platform.answers.set("/elsewhere", json({ issuer: platform.url, jwks_uri: `${platform.url}/keys` }));
    platform.answers.set(path, answer(platform.url));
    t.match(toMessage(await platform.verify(first)), message, what);
    t.notOk(platform.asked.includes("/elsewhere"), what);
  }
});

t.test("a slow issuer is aborted", async (t) => {
  const platform = await startPlatform(t, { timeoutMs: 100 });
  platform.answers.set(DISCOVERY, (_request, response) => void response.write("{"));
  t.match(toMessage(await platform.verify(first)), "did not end within the time limit");
});

t.test("keys of other forms are ignored, private parts are removed, and the rest is used", async (t) => {
  const platform = await startPlatform(t);
  const secret = { kty: "oct", kid: "three", k: "c2VjcmV0", alg: "HS256" };
  const own = { ...first.jwk, d: "cHJpdmF0ZQ" };
  platform.publish([secret, { kty: "EC", kid: "four" }, own, 7 as unknown as JWK, { ...second.jwk, use: "enc" }]);
  t.equal(await platform.verify(first), null);
  t.match(await platform.verify(second), { code: "ERR_JWKS_NO_MATCHING_KEY" }, "a key for encryption signs nothing");
  t.ok(await platform.verify(first, { kid: "four" }));
});

t.test("neither an issuer nor its key set may be at a private address that the deployment does not name", async (t) => {
  const named = await startPlatform(t);
  const targets = [
    ["http://127.0.0.1:1/keys", "must be https"],
    ["http://169.254.169.254/latest/meta-data", "must be https"],
    ["https://127.0.0.1:1/keys", "its name does not resolve to a public address"],
    ["https://169.254.169.254/", "its name does not resolve to a public address"],
    ["https://[::ffff:10.0.0.1]/", "its name does not resolve to a public address"],
    ["https://localhost/keys", "its name does not resolve to a public address"],
    ["https://ada:pw@ci.example.com/keys", "holds credentials"],
    ["file:///etc/passwd", "must be https"],
    ["data:application/json,{}", "must be https"],
  ] as const;
  for (const [target, message] of targets) {
    named.answers.set(DISCOVERY, json({ issuer: named.url, jwks_uri: target }));
    t.match(toMessage(await named.verify(first)), message, target);
    named.advance(10_000);
  }
  const unnamed = await startPlatform(t, { allow: () => "ci.example.com" });
  unnamed.publish([first.jwk]);
  t.match(toMessage(await unnamed.verify(first)), "must be https");
  t.same(unnamed.asked, []);
});

t.test("16 issuers are asked at once for a workspace; one more is refused, for another workspace asked", async (t) => {
  const platform = await startPlatform(t);
  platform.publish([first.jwk]);
  const held: (() => void)[] = [];
  const issuers = Array.from({ length: 17 }, (_, index) => `${platform.url}/tenant-${index}`);
  for (const issuer of issuers) {
    platform.answers.set(`${new URL(issuer).pathname}${DISCOVERY}`, (request, response) => {
      held.push(() => json({ issuer, jwks_uri: `${platform.url}/keys` })(request, response));
    });
  }
  const asked = issuers.slice(0, 16).map((issuer) => platform.verify(first, { issuer }));
  await until("all 16 are asked", () => held.length === 16);
  const late = { issuer: issuers[16] ?? "" };
  t.match(toMessage(await platform.verify(first, late)), "too many requests for issuers' keys are in progress");
  const others = platform.verify(first, { ...late, client: "ws_2" });
  await until("the other workspace's is asked", () => held.length === 17);
  for (const answer of held) answer();
  t.same(await Promise.all(asked), Array(16).fill(null));
  t.equal(await others, null);
});
