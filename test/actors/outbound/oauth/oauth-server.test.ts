import t from "tap";
import type { OutboundAnswer } from "../../../../actors/outbound/http/http-exchange.js";
import { RequestRefused } from "../../../../actors/outbound/http/request.js";
import { createAuthorizationServers, MAX_OAUTH_ANSWER_BYTES } from "../../../../actors/outbound/oauth/oauth-server.js";

const MINUTE_MS = 60_000;
const issuer = "https://host.example/tenant";
const metadata = {
  issuer,
  authorization_endpoint: "https://host.example/auth",
  token_endpoint: "https://host.example/token",
  revocation_endpoint: "https://host.example/revoke",
  authorization_response_iss_parameter_supported: true,
};

/** Creates servers with these answers by address, and 404 for other addresses; records the requests. */
function serversOver(answers: Readonly<Record<string, string | Error>>) {
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const get = async ({ url }: { readonly url: URL }): Promise<OutboundAnswer> => {
    asked.push(url.href);
    const found = answers[url.href];
    if (found instanceof Error) throw found;
    const answer = { status: found === undefined ? 404 : 200, body: found ?? "", retryAfter: null };
    const isCut = answer.body.length > MAX_OAUTH_ANSWER_BYTES;
    return isCut ? { ...answer, unread: { kind: "size", reason: "it is larger than 256 KiB" } } : answer;
  };
  return { asked, clock, servers: createAuthorizationServers({ outbound: { get }, now: () => clock.nowMs }) };
}

const first = "https://host.example/.well-known/oauth-authorization-server/tenant";
const second = "https://host.example/tenant/.well-known/openid-configuration";

t.test("metadata is found where RFC 8414 puts it, else where OpenID Connect does", async (t) => {
  for (const at of [first, second]) {
    const { servers, asked } = serversOver({ [at]: JSON.stringify(metadata) });
    t.same(await servers.read(issuer), {
      issuer,
      authorizeUrl: "https://host.example/auth",
      tokenUrl: "https://host.example/token",
      revokeUrl: "https://host.example/revoke",
      namesItself: true,
    });
    t.same(asked, at === first ? [first] : [first, second]);
  }
  const { servers, asked } = serversOver({});
  await t.rejects(servers.read("https://host.example/"), { message: "its metadata request returned status 404" });
  t.same(asked, [
    "https://host.example/.well-known/oauth-authorization-server",
    "https://host.example/.well-known/openid-configuration",
  ]);
});

t.test("metadata is cached for ten minutes, a failure for ten seconds, with one request at a time", async (t) => {
  const { servers, asked, clock } = serversOver({ [first]: JSON.stringify(metadata) });
  await Promise.all([servers.read(issuer), servers.read(issuer)]);
  clock.nowMs = 10 * MINUTE_MS - 1;
  await servers.read(issuer);
  t.equal(asked.length, 1);
  clock.nowMs += 1;
  await servers.read(issuer);
  t.equal(asked.length, 2);

  const failing = serversOver({ [first]: new RequestRefused("not admitted") });
  await t.rejects(failing.servers.read(issuer), { message: "its metadata cannot be fetched: not admitted" });
  await t.rejects(failing.servers.read(issuer), /not admitted/);
  t.equal(failing.asked.length, 1);
  failing.clock.nowMs = 10_000;
  await t.rejects(failing.servers.read(issuer), /not admitted/);
  t.equal(failing.asked.length, 2);
});

t.test("metadata of another issuer, of another form, too long or without S256 is none", async (t) => {
  const wrong: readonly [string, RegExp][] = [
    [JSON.stringify({ ...metadata, issuer: "https://host.example" }), /another issuer/],
    [JSON.stringify({ ...metadata, token_endpoint: undefined }), /form/],
    [JSON.stringify({ ...metadata, authorization_endpoint: "javascript:alert(1)" }), /form/],
    ["not json", /form/],
    [JSON.stringify({ ...metadata, padding: "x".repeat(MAX_OAUTH_ANSWER_BYTES) }), /larger than 256 KiB/],
    [JSON.stringify({ ...metadata, code_challenge_methods_supported: ["plain"] }), /S256/],
  ];
  for (const [body, message] of wrong) {
    await t.rejects(serversOver({ [first]: body }).servers.read(issuer), message);
  }
});

t.test("members of metadata that are null or empty are absent", async (t) => {
  const nothing = { authorization_response_iss_parameter_supported: null, code_challenge_methods_supported: null };
  for (const revocation_endpoint of [null, ""]) {
    const { servers } = serversOver({ [first]: JSON.stringify({ ...metadata, ...nothing, revocation_endpoint }) });
    t.match(await servers.read(issuer), { revokeUrl: null, namesItself: false });
  }
});

t.test("a server that failed while the clock was ahead is asked again once that is put right", async (t) => {
  const { servers, asked, clock } = serversOver({ [first]: new RequestRefused("not admitted") });
  clock.nowMs = 86_400_000;
  await t.rejects(servers.read(issuer), /not admitted/);
  clock.nowMs = 1_000;
  await t.rejects(servers.read(issuer), /not admitted/);
  t.equal(asked.length, 2);
});
