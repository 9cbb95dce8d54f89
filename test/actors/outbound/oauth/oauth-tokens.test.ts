import { createServer, type IncomingHttpHeaders } from "node:http";
import t, { type Test } from "tap";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { createOutbound } from "../../../../actors/outbound/http/request.js";
import { MAX_OAUTH_ANSWER_BYTES } from "../../../../actors/outbound/oauth/oauth-server.js";
import { askForTokens, type OAuthClient, revokeToken } from "../../../../actors/outbound/oauth/oauth-tokens.js";

interface Came {
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
}

const client: OAuthClient = { clientId: "a b", clientSecret: "s:+&é", clientAuth: "basic" };
const canary = "canary-0123456789";

/** Starts a token endpoint with this answer; returns a function that requests a token, and the recorded requests. */
async function endpoint(
  t: Test,
  answer: { readonly status?: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> },
) {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      came.push({ headers: request.headers, form });
      const headers = { location: "http://127.0.0.1:1/", ...answer.headers };
      response.writeHead(answer.status ?? 200, headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const outbound = createOutbound({ allowList: parseAllowList(origin), maxBodyBytes: MAX_OAUTH_ANSWER_BYTES });
  t.teardown(async () => {
    await outbound.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const { signal } = new AbortController();
  const parameters = { grant_type: "refresh_token", refresh_token: canary };
  const asking = (as: OAuthClient, path = "/token") => ({
    url: new URL(path, origin),
    client: as,
    parameters,
    signal,
  });
  return {
    came,
    ask: (as = client, path?: string) => askForTokens(outbound, asking(as, path)),
    revoke: () => revokeToken(outbound, asking(client)),
    elsewhere: () => askForTokens(outbound, { ...asking(client), url: new URL("http://127.0.0.1:1/token") }),
  };
}

const good = { access_token: "at", token_type: "Bearer" };

t.test("a client sends its secret as Basic credentials, form-encoded, or in the body, or has none", async (t) => {
  const { ask, came } = await endpoint(t, { body: JSON.stringify(good) });
  await ask();
  const [kind, credentials] = came[0]?.headers.authorization?.split(" ") ?? [];
  t.same([kind, Buffer.from(credentials ?? "", "base64").toString()], ["Basic", "a+b:s%3A%2B%26%C3%A9"]);
  t.same(came[0]?.form, { grant_type: "refresh_token", refresh_token: canary });
  await ask({ ...client, clientAuth: "body" });
  t.match(came[1]?.form, { client_id: "a b", client_secret: "s:+&é" });
  await ask({ ...client, clientSecret: null });
  t.match(came[2]?.form, { client_id: "a b" });
  t.notOk("client_secret" in (came[2]?.form ?? {}));
  for (const { headers } of came.slice(1)) t.equal(headers.authorization, undefined);
});

t.test("tokens are read as hosts write them", async (t) => {
  const readings: readonly [object, object][] = [
    [good, { access: "at", refresh: null, lastsSeconds: null, scopes: null }],
    [
      { ...good, refresh_token: "rt", expires_in: 3600, scope: "a b" },
      { refresh: "rt", lastsSeconds: 3600, scopes: ["a", "b"] },
    ],
    [
      { access_token: "at", expires_in: "28800", scope: "repo,user" },
      { lastsSeconds: 28_800, scopes: ["repo", "user"] },
    ],
    [
      { ...good, token_type: "bearer", expires_in: null, scope: "" },
      { lastsSeconds: null, scopes: [] },
    ],
  ];
  for (const [body, tokens] of readings) {
    const { ask } = await endpoint(t, { body: JSON.stringify(body) });
    t.match(await ask(), { ok: true, tokens });
  }
});

t.test(
  "members that are null or empty are absent, and only types that are sent in another way are refused",
  async (t) => {
    const tokens = { access: "at", refresh: null, lastsSeconds: null, scopes: null };
    const types = ["bot", "user", "Bearer", "BEARER ", "", null, undefined];
    for (const token_type of types) {
      const { ask } = await endpoint(t, { body: JSON.stringify({ ...good, token_type }) });
      t.match(await ask(), { ok: true, tokens }, String(token_type));
    }
    for (const nothing of [null, "", " ", "\t\n"]) {
      const members = { refresh_token: nothing, expires_in: nothing, error: nothing, error_description: nothing };
      const { ask } = await endpoint(t, { body: JSON.stringify({ ...good, ...members }) });
      t.strictSame(await ask(), { ok: true, tokens, response: good });
    }
    for (const refresh_token of [false, true, 0, 5, {}, []]) {
      const { ask } = await endpoint(t, { body: JSON.stringify({ ...good, refresh_token }) });
      t.match(await ask(), { ok: true, tokens }, `a refresh token that is ${JSON.stringify(refresh_token)}`);
    }
    for (const refresh_token of ["a b", "é"]) {
      const { ask } = await endpoint(t, { body: JSON.stringify({ ...good, refresh_token }) });
      t.match(await ask(), { ok: false }, "a text that no header can hold is no refresh token");
    }
    const { ask } = await endpoint(t, { body: JSON.stringify({ ...good, scope: ["a", "b"] }) });
    t.match(await ask(), { tokens: { scopes: ["a", "b"] }, response: { scope: "a b" } });
  },
);

t.test(
  "any 2xx is an answer; a form and a byte order mark are read; a coding that is not known is refused",
  async (t) => {
    for (const status of [200, 201, 202]) {
      const { ask } = await endpoint(t, { status, body: JSON.stringify(good) });
      t.match(await ask(), { ok: true }, String(status));
    }
    const form = await endpoint(t, { body: "access_token=a%2Bt&scope=repo%2Cuser&refresh_token=&token_type=bearer" });
    t.match(await form.ask(), { ok: true, tokens: { access: "a+t", refresh: null, scopes: ["repo", "user"] } });
    const marked = await endpoint(t, { body: `\ufeff${JSON.stringify({ error: "invalid_grant" })}` });
    t.match(await marked.ask(), { ok: false, isFinal: true, reason: "the host answered invalid_grant" });
    const both = await endpoint(t, { body: JSON.stringify({ ...good, error: "invalid_grant" }) });
    t.match(await both.ask(), { ok: false, isFinal: true }, "an error counts beside a token too");
    const coded = await endpoint(t, { body: JSON.stringify(good), headers: { "content-encoding": "snappy" } });
    t.match(await coded.ask(), { ok: false, isFinal: false, reason: /cannot be read: its content coding snappy/ });
  },
);

t.test("an answer without tokens is refused, without text of the host", async (t) => {
  const answers: readonly [{ readonly status?: number; readonly body: string }, isFinal: boolean, reason: RegExp][] = [
    [
      { status: 400, body: JSON.stringify({ error: "invalid_grant", error_description: canary }) },
      true,
      /invalid_grant$/,
    ],
    [{ status: 200, body: JSON.stringify({ error: "bad_verification_code" }) }, true, /bad_verification_code$/],
    [{ status: 401, body: JSON.stringify({ error: "invalid_client" }) }, false, /invalid_client$/],
    [{ status: 400, body: JSON.stringify({ error: canary }) }, false, /answered an error$/],
    [{ status: 503, body: canary }, false, /answered 503$/],
    [{ status: 302, body: "" }, false, /answered 302$/],
    [{ body: canary }, false, /without a bearer token$/],
    [{ body: JSON.stringify({ token_type: "Bearer" }) }, false, /without a bearer token$/],
    ...["mac", "MAC", "DPoP", "pop", "N_A"].map((token_type): [{ readonly body: string }, boolean, RegExp] => [
      { body: JSON.stringify({ ...good, token_type }) },
      false,
      /without a bearer token$/,
    ]),
    [{ body: JSON.stringify({ ...good, access_token: "two\r\nlines" }) }, false, /without a bearer token$/],
    [
      { body: JSON.stringify({ ...good, padding: "x".repeat(MAX_OAUTH_ANSWER_BYTES) }) },
      false,
      /is larger than 256 KiB$/,
    ],
  ];
  for (const [answer, isFinal, reason] of answers) {
    const { ask } = await endpoint(t, answer);
    const outcome = await ask();
    t.match(outcome, { ok: false, isFinal, reason });
    t.notMatch(JSON.stringify(outcome), canary);
  }
  const { elsewhere } = await endpoint(t, { body: "" });
  t.match(await elsewhere(), { ok: false, isFinal: false, reason: /failed: must be https/ });
});

t.test("a revocation says why it was not made", async (t) => {
  t.equal(await (await endpoint(t, { body: "" })).revoke(), null);
  t.equal(await (await endpoint(t, { status: 503, body: canary })).revoke(), "the host answered 503");
});

t.test("a host whose name is unknown is told as one whose name leads to a private address", async (t) => {
  const names: Readonly<Record<string, readonly string[]>> = {
    "private.example.com": ["10.0.0.1"],
    "local.example.com": ["::1"],
  };
  const resolve = async (host: string): Promise<readonly string[]> => {
    const found = names[host];
    if (found !== undefined) return found;
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND", syscall: "getaddrinfo" });
  };
  const allowList = parseAllowList("*.example.com");
  const outbound = createOutbound({ allowList, resolve, maxBodyBytes: MAX_OAUTH_ANSWER_BYTES });
  t.teardown(() => outbound.close());
  const { signal } = new AbortController();
  for (const name of ["private", "local", "unknown"]) {
    const url = new URL(`https://${name}.example.com/token`);
    const answer = await askForTokens(outbound, { url, client, parameters: {}, signal });
    const reason = "the request to the host failed: its name does not resolve to a public address";
    t.same(answer, { ok: false, isFinal: false, reason }, name);
  }
});
