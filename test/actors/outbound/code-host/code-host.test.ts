import { createHash, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerify } from "jose";
import t, { type Test } from "tap";
import { createCodeHost } from "../../../../actors/outbound/code-host/code-host.js";
import { createAppSigner } from "../../../../actors/outbound/code-host/code-host-app.js";
import { createCodeHostRequests, MAX_ANSWER_BYTES } from "../../../../actors/outbound/code-host/code-host-requests.js";
import { type CodeHostSettings, codeHostAddresses } from "../../../../actors/outbound/code-host/code-host-settings.js";
import { createInstallationTokens } from "../../../../actors/outbound/code-host/installation-tokens.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const NOW_MS = Date.parse("2026-09-23T12:00:00.900Z");

const settingsAt = (apiUrl: string, webUrl = new URL(apiUrl).origin): CodeHostSettings => ({
  apiUrl,
  webUrl,
  appId: "29310",
  appKey: pem,
  clientId: "client",
  clientSecret: "canary-secret",
});

t.test("the app's token is RS256, begins a minute ago and ends within ten minutes", async (t) => {
  const token = await createAppSigner("29310", pem).token(NOW_MS);
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: new Date(NOW_MS) });
  t.same(protectedHeader, { alg: "RS256", typ: "JWT" });
  const now = Math.floor(NOW_MS / 1_000);
  t.same(payload, { iss: "29310", iat: now - 60, exp: now + 540 });
  const pkcs1 = privateKey.export({ type: "pkcs1", format: "pem" }).toString().replaceAll("\n", "\\n");
  t.equal(await createAppSigner("29310", pkcs1).token(NOW_MS), token, "a key in PKCS1 on one line");
});

t.test("requests go to the code host's two addresses, whatever they are, and nowhere else", async (t) => {
  const list = codeHostAddresses(settingsAt("http://127.0.0.1:9000/api/v3", "https://code.example"));
  const admits = (url: string) => list.admits(new URL(url)).admitted;
  t.ok(admits("http://127.0.0.1:9000/anything"));
  t.ok(admits("https://code.example/login/oauth/access_token"));
  const others = [
    ...["http://127.0.0.1:9001/", "http://127.0.0.1/", "https://127.0.0.1:9000/", "http://code.example/"],
    ...["https://api.code.example/", "https://code.example:444/", "https://user@code.example/"],
  ];
  t.same(others.filter(admits), []);
});

t.test("the sign-in address carries state and challenge, and keeps them apart from one another", async (t) => {
  const codeHost = createCodeHost({
    settings: settingsAt("https://api.code.example", "https://code.example/forge"),
    outbound: { send: () => Promise.reject(new Error("not asked")) },
    now: () => NOW_MS,
    log: { warn: () => undefined },
  });
  t.equal(codeHost.name, "code.example");
  const challenge = createHash("sha256").update("verifier").digest("base64url");
  const url = new URL(codeHost.signInUrl({ state: "a&b=c", challenge, redirectUri: "https://here.example/back?x=1" }));
  t.equal(`${url.origin}${url.pathname}`, "https://code.example/forge/login/oauth/authorize");
  t.same(Object.fromEntries(url.searchParams), {
    response_type: "code",
    client_id: "client",
    redirect_uri: "https://here.example/back?x=1",
    state: "a&b=c",
    code_challenge: challenge,
    code_challenge_method: "S256",
  });
});

/** Starts a server on the loopback interface; returns its origin. */
async function serve(t: Test, answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function clientAt(t: Test, origin: string, warn: (text: string, about?: object) => void = () => undefined) {
  const settings = settingsAt(origin);
  const outbound = createOutbound({ allowList: codeHostAddresses(settings), maxBodyBytes: MAX_ANSWER_BYTES });
  t.teardown(() => outbound.close());
  return createCodeHost({ settings, outbound, now: () => NOW_MS, log: { warn } });
}

t.test("a sign-in's token answer is normalized as those of integrations", async (t) => {
  let answer: { readonly status: number; readonly json: object } = { status: 200, json: {} };
  const logged: (object | undefined)[] = [];
  const origin = await serve(t, (_, response) => {
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.json));
  });
  const codeHost = clientAt(t, origin, (_, about) => logged.push(about));
  const back = { code: "code", verifier: "verifier", redirectUri: "https://here.example/back" };
  const taken = { access_token: "person", token_type: "user", refresh_token: null, error: "", expires_in: "28800" };
  for (const [status, token_type] of [
    [200, "user"],
    [201, null],
    [200, undefined],
    [202, "Bearer"],
  ] as const) {
    answer = { status, json: { ...taken, token_type } };
    t.equal(await codeHost.personToken(back), "person", String(token_type));
  }
  for (const status of [200, 400, 401]) {
    answer = { status, json: { ...taken, error: "bad_verification_code" } };
    t.equal(await codeHost.personToken(back), null, `an error with status ${status}`);
  }
  answer = { status: 200, json: { error: "Canary-0123" } };
  await t.rejects(codeHost.personToken(back), /rejected this service's OAuth client/);
  t.match(logged.at(-1), { error: "unknown" });
  for (const wrong of [{ token_type: "mac" }, { token_type: "DPoP" }, { access_token: "two\r\nlines" }]) {
    answer = { status: 200, json: { ...taken, ...wrong } };
    await t.rejects(codeHost.personToken(back), /an unexpected response/);
  }
});

t.test("a redirect is not followed, so no other host gets a token", async (t) => {
  const asked: string[] = [];
  const thief = await serve(t, (request, response) => {
    asked.push(request.headers.authorization ?? "none");
    response.end("{}");
  });
  const origin = await serve(t, (_, response) => response.writeHead(307, { location: thief }).end());
  const codeHost = clientAt(t, origin);
  await t.rejects(codeHost.installation(7), { name: "CodeHostRefused", message: /answered with 307/ });
  const account = { id: 1, login: "acme", kind: "organization" } as const;
  await t.rejects(codeHost.administers("canary", account), { name: "CodeHostRefused" });
  t.same(asked, []);
});

t.test("a login with any characters is one segment of a path", async (t) => {
  const asked: string[] = [];
  const origin = await serve(t, (request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(404).end("{}");
  });
  const account = { id: 1, login: "../../app?x=/y", kind: "organization" } as const;
  t.equal(await clientAt(t, origin).administers("token", account), "no");
  t.same(asked, ["/user/memberships/orgs/..%2F..%2Fapp%3Fx%3D%2Fy"]);
});

t.test("a network error is reported by its code, never by its text", async (t) => {
  const logged: unknown[] = [];
  const failing = (error: unknown) =>
    createCodeHostRequests({
      outbound: { send: () => Promise.reject(error) },
      name: "code.example",
      now: () => NOW_MS,
      log: { warn: (...line) => void logged.push(line) },
    });
  const wanted: readonly [unknown, string][] = [
    [Object.assign(new Error("canary"), { code: "ECONNREFUSED" }), "code.example could not be reached: ECONNREFUSED."],
    [new Error("canary"), "code.example could not be reached."],
    ["canary", "code.example could not be reached."],
    [new DOMException("canary", "TimeoutError"), "code.example took too long to answer."],
  ];
  for (const [error, message] of wanted) {
    const request = { what: "a person", url: "https://code.example/", authorization: "Bearer canary" };
    await t.rejects(failing(error)(request), { message });
  }
  t.equal(logged.length, wanted.length, "whoever runs the service is told each time");
  t.notMatch(JSON.stringify(logged), "canary");
});

t.test("a code host that does not answer is waited for up to the time limit", async (t) => {
  const origin = await serve(t, () => undefined);
  const outbound = createOutbound({ allowList: codeHostAddresses(settingsAt(origin)), maxBodyBytes: MAX_ANSWER_BYTES });
  t.teardown(() => outbound.close());
  const log = { warn: () => undefined };
  const ask = createCodeHostRequests({ outbound, name: "code.example", now: () => NOW_MS, log, timeoutMs: 50 });
  const message = "code.example took too long to answer.";
  await t.rejects(ask({ what: "a person", url: `${origin}/user`, authorization: null }), { message });
});

t.test("installation tokens are cached separately, and the least recently used are evicted first", async (t) => {
  const drawn: string[] = [];
  let nowMs = NOW_MS;
  let lastsMs = 60 * 60_000;
  const tokens = createInstallationTokens({
    apiUrl: "https://api.code.example",
    name: "code.example",
    appToken: async () => "jwt",
    now: () => nowMs,
    ask: async ({ url, authorization }) => {
      t.equal(authorization, "Bearer jwt");
      drawn.push(url);
      return { status: 201, json: { token: `t${drawn.length}`, expires_at: new Date(nowMs + lastsMs).toISOString() } };
    },
  });
  t.same([await tokens.read(1), await tokens.read(2), await tokens.read(1)], ["t1", "t2", "t1"]);
  t.equal(drawn[0], "https://api.code.example/app/installations/1/access_tokens");
  nowMs += 55 * 60_000;
  t.equal(await tokens.read(1), "t1", "five minutes are left");
  nowMs += 1;
  t.equal(await tokens.read(1), "t3");
  lastsMs = 1_000;
  tokens.forget(1);
  t.same(
    [await tokens.read(1), await tokens.read(1)],
    ["t4", "t5"],
    "one that ends at once is given to who asked alone",
  );
  lastsMs = 60 * 60_000;
  for (let id = 10; id < 1_010; id++) await tokens.read(id);
  const before = drawn.length;
  await tokens.read(10);
  t.equal(drawn.length, before, "a thousand are remembered");
  await tokens.read(2_000);
  await tokens.read(10);
  t.equal(drawn.length, before + 1, "the one that was used last is");
  await tokens.read(11);
  t.equal(drawn.length, before + 2, "the one that was not is forgotten");
});

t.test("an invalid installation token is refused, and fetched again the next time", async (t) => {
  const answers: { status: number; json: unknown }[] = [
    { status: 401, json: { message: "canary" } },
    { status: 403, json: {} },
    { status: 404, json: {} },
    { status: 201, json: { token: "canary" } },
    { status: 201, json: { token: "canary", expires_at: "soon" } },
    { status: 201, json: { token: "good", expires_at: "2026-09-23T13:00:00Z" } },
  ];
  const tokens = createInstallationTokens({
    apiUrl: "https://api.code.example",
    name: "code.example",
    appToken: async () => "jwt",
    now: () => NOW_MS,
    ask: async () => answers.shift() ?? { status: 500, json: {} },
  });
  for (const message of [/rejected this service's app/, /403/, /404/, /unexpected response/, /unexpected response/]) {
    await t.rejects(tokens.read(1), { name: "CodeHostRefused", message });
  }
  t.equal(await tokens.read(1), "good");
});
