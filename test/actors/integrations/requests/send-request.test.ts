import t from "tap";
import { expr } from "../../../support/integration.js";
import {
  type HostAnswer,
  integrationRows,
  linkAccount,
  put,
  requesting,
  sealer,
} from "../../../support/integration-rows.js";

const url = "https://api.example.com/items";

t.test("the host of a poll may ask for a day, any other for an hour", async (t) => {
  const hour = 60 * 60 * 1_000;
  const lookUpWait = async (seconds: number, kind: "poll" | "action") => {
    const definition = { actions: { act: { request: { url } } }, poll: { request: { url }, events: [{ raise: {} }] } };
    const headers = { "retry-after": String(seconds) };
    const { run } = requesting(integrationRows(definition), () => ({ status: 429, headers }));
    return (await run(kind === "poll" ? { block: { kind } } : {})).retryAfterMs;
  };
  t.equal(await lookUpWait(7_200, "poll"), 2 * hour);
  t.equal(await lookUpWait(1_000_000, "poll"), 24 * hour);
  t.equal(await lookUpWait(7_200, "action"), hour);
});

const broken = { kind: "broken", reason: "the connection broke before its end" } as const;

/**
 * Runs a GET of an action, a POST of an action, and a poll. The host gives this answer to each. Returns the three
 * results.
 */
async function unreadResults(answer: HostAnswer, more: object = {}) {
  const read = async (request: object, block: { kind: "action"; name: string } | { kind: "poll" }) => {
    const asked = { url, capture: { id: expr("response.id") }, ...request, ...more };
    const definition = { actions: { act: { request: asked } }, poll: { request: asked, events: [{ raise: {} }] } };
    return requesting(integrationRows(definition), () => answer).run({ block });
  };
  const act = { kind: "action", name: "act" } as const;
  return {
    get: await read({ method: "GET" }, act),
    post: await read({ method: "POST" }, act),
    poll: await read({ method: "GET" }, { kind: "poll" }),
  };
}

t.test(
  "an answer that was not read whole is used for nothing, and an action that was done is not repeated",
  async (t) => {
    const cut = await unreadResults({ body: '{"id":1}', unread: broken });
    const reason = "it responded 200, and its answer cannot be read: the connection broke before its end";
    const lost = { success: false, status: 200, code: "errored", reason, response: null } as const;
    t.match(cut, { get: lost, poll: lost });
    const unread = /^its answer cannot be read: the connection broke before its end/;
    t.match(cut.post, { success: true, code: null, response: null, captures: '{"id":null}', unread });
    const checked = await unreadResults(
      { body: '{"id":1}', unread: broken },
      { expect: { success: expr("has(response.id)") } },
    );
    t.match(checked, {
      get: lost,
      poll: lost,
      post: { success: false, code: "unsuccessful", reason: /cannot be read/ },
    });
    const refused = await unreadResults({ status: 429, body: "{", unread: broken, headers: { "retry-after": "7" } });
    for (const result of Object.values(refused)) t.match(result, { code: "throttled", retryAfterMs: 7_000 });
  },
);

t.test("an answer is read in its charset and without its mark", async (t) => {
  for (const body of [Buffer.from('\ufeff{"id":1}', "utf16le"), '\ufeff{"id":1}']) {
    const read = await unreadResults({ body });
    for (const result of Object.values(read)) t.match(result, { success: true, captures: '{"id":1}' });
  }
  const unknown = await unreadResults({ body: "id=1", headers: { "content-type": "text/plain; charset=x-none" } });
  t.match(unknown.poll, { code: "errored", reason: /the charset x-none is not supported$/ });
  t.match(unknown.get, { success: true, response: '"id=1"', unread: /the charset x-none is not supported/ });
});

t.test("a GET is made once more where its connection breaks within the answer, anything else never", async (t) => {
  for (const [method, times] of [
    ["GET", 2],
    ["POST", 1],
  ] as const) {
    const definition = { actions: { act: { request: { url, method } } } };
    const { run, sent } = requesting(integrationRows(definition), () => ({ body: "{}", unread: broken }));
    await run();
    t.equal(sent.length, times, method);
  }
});

const FILE = { kind: "attachment", source: "webhook", event: 0 } as const;
const files = "https://files.example.com/1";

/**
 * Returns a function that runs the request for an attachment at `url`. `answer` answers as the hosts, and `sent` lists
 * the requests to them.
 */
function fetching(answer: (url: string) => HostAnswer, { fetch = {}, ...more }: Record<string, object> = {}) {
  const attaches = { each: expr("[1]"), name: expr('"file"'), fetch: { url, ...fetch } };
  const rows = integrationRows({
    hosts: ["api.example.com", "files.example.com", "*.cdn.example.com"],
    webhook: { events: [{ when: expr("true"), raise: { attaches } }] },
    ...more,
  });
  const { run, sent } = requesting(rows, (request) => answer(request.url.href));
  return { rows, run: () => run({ block: FILE }), sent };
}

t.test("an attachment's redirects are followed, of every kind, within the integration's hosts", async (t) => {
  const file: HostAnswer = { body: "file", headers: { "content-type": "text/plain" } };
  for (const status of [301, 302, 303, 307, 308]) {
    const hop: HostAnswer = { status, headers: { location: files } };
    const { run, sent } = fetching((at) => (at === url ? hop : file));
    const fetched = { success: true, status: 200, origin: "https://api.example.com", file: { type: "text/plain" } };
    t.match(await run(), fetched);
    t.same(
      sent.map((request) => `${request.method} ${request.url.href}`),
      [`GET ${url}`, `GET ${files}`],
      String(status),
    );
  }
  const relative = fetching((at) =>
    at === url ? { status: 302, headers: { location: "../2#part" } } : { body: "file" },
  );
  t.match(await relative.run(), { success: true });
  t.equal(relative.sent[1]?.url.href, "https://api.example.com/2");
});

t.test("an address in UTF-8 that is not percent-encoded is requested as it was sent", async (t) => {
  const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
  for (const [location, path] of [
    [latin1("/2/é 😀"), "/2/%C3%A9%20%F0%9F%98%80"],
    ["/2/\u00e9", "/2/%C3%A9"],
    ["/2/😀", "/2/%F0%9F%98%80"],
    ["/2/%C3%A9", "/2/%C3%A9"],
  ] as const) {
    const { run, sent } = fetching((at) => (at === url ? { status: 302, headers: { location } } : { body: "x" }));
    t.match(await run(), { success: true });
    t.equal(sent[1]?.url.pathname, path, location);
  }
});

t.test("a redirect elsewhere, in circles or to nowhere fails, and nothing is sent there", async (t) => {
  const to = (location: string) =>
    fetching((at) => (at === url ? { status: 302, headers: { location } } : { body: "x" }));
  const elsewhere: readonly [string, object][] = [
    [
      "https://evil.example.net/1",
      { code: "not-allowed", reason: /redirects to the host evil\.example\.net, which is not/ },
    ],
    ["https://api.example.com:8443/1", { code: "not-allowed" }],
    [
      "file:///etc/passwd",
      { code: "not-allowed", reason: "it redirects to an address that begins with file:, which is not followed" },
    ],
    ["data:,x", { code: "not-allowed", reason: /begins with data:, which/ }],
    ["https://", { code: "rejected", reason: "it responded 302" }],
  ];
  for (const [location, result] of elsewhere) {
    const { run, sent } = to(location);
    t.match(await run(), { success: false, ...result }, location);
    t.equal(sent.length, 1, location);
  }
  const without = fetching(() => ({ status: 302 }));
  t.match(await without.run(), { code: "rejected", reason: "it responded 302" });
  const circle = fetching(() => ({ status: 307, headers: { location: url } }));
  t.match(await circle.run(), { code: "rejected", reason: "it redirects more than 5 times" });
  t.equal(circle.sent.length, 6);
});

t.test("a redirect carries a credential to its own hosts only", async (t) => {
  const hop = (at: string): HostAnswer =>
    at === url ? { status: 302, headers: { location: files } } : { body: "file" };
  const bound = async (hosts: readonly string[]) => {
    const { rows, run, sent } = fetching(hop, {
      connection: { token: { secret: "key", header: "X-Key", prefix: "" } },
      fetch: { headers: { "x-own": "own" } },
    });
    put(rows, "secret", "sec_1", { address: "key", fields: { hosts }, hidden: { value: sealer.seal("hidden-1") } });
    t.match(await run(), { success: true });
    return sent.map(({ headers }) => [headers["x-key"], headers["x-own"], headers.accept]);
  };
  const accept = "application/json";
  t.same(await bound(["api.example.com"]), [
    ["hidden-1", "own", accept],
    [undefined, undefined, accept],
  ]);
  t.same(await bound(["*.example.com"]), [
    ["hidden-1", "own", accept],
    ["hidden-1", undefined, accept],
  ]);
  const oauth2 = { authorizeUrl: url, tokenUrl: url, clientId: "c" };
  const linked = fetching(hop, { connection: { oauth2 } });
  linkAccount(linked.rows, "team", { access: "team-token", tokenUrl: url });
  t.match(await linked.run(), { success: true });
  t.same(
    linked.sent.map(({ headers }) => headers.authorization),
    ["Bearer team-token", undefined],
  );
});

t.test("a redirect keeps method and body only on its own origin, and only where its status says so", async (t) => {
  const sentFor = async (status: number, location: string) => {
    const { run, sent } = fetching((at) => (at === url ? { status, headers: { location } } : { body: "file" }), {
      fetch: { method: "POST", body: { id: 1 } },
    });
    const { success } = await run();
    const [, second] = sent;
    return second === undefined ? success : [second.method, second.body, second.headers["content-type"] ?? null];
  };
  const own = "https://api.example.com/2";
  for (const status of [301, 302, 303]) t.same(await sentFor(status, files), ["GET", null, null], String(status));
  for (const status of [307, 308]) {
    t.same(await sentFor(status, own), ["POST", '{"id":1}', "application/json"], String(status));
    t.same(await sentFor(status, files), false, "a body goes to no other origin");
  }
});
