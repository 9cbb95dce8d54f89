import t from "tap";
import { storeBlob } from "../../../actors/tables/blobs.js";
import { expr } from "../../support/integration.js";
import {
  acting,
  integrationRows,
  linkAccount,
  requesting,
  WORKSPACE,
  writeIntegration,
  writeSecret,
} from "../../support/integration-rows.js";

const url = "https://api.example.com/items";
const hostile = '../../admin?x=1#y&z=\r\nx-evil: 1"}é\u0000';
const inputs = JSON.stringify({ inputs: { title: hostile, list: ["a", "b"], none: null } });
const oauth2 = { authorizeUrl: `${url}/authorize`, tokenUrl: `${url}/token`, clientId: "c" };
const { tokenUrl } = oauth2;
const error = (code: string) => Object.assign(new Error("boom"), { code });

t.test("expressions within an address are encoded for every place, and lead nowhere else", async (t) => {
  const place = `${url}/${expr("inputs.title")}/x?q=${expr("inputs.title")}&r=1#${expr("inputs.title")}`;
  const { run, sent } = requesting(integrationRows(acting({ url: place, query: { also: expr("inputs.title") } })));
  t.match(await run({ values: inputs }), { success: true, status: 200, origin: "https://api.example.com" });
  const encoded = encodeURIComponent(hostile);
  t.equal(sent[0]?.url.pathname, `/items/${encoded}/x`);
  t.equal(sent[0]?.url.searchParams.get("q"), hostile);
  t.equal(sent[0]?.url.searchParams.get("also"), hostile);
  t.equal(sent[0]?.url.searchParams.get("x"), null);
  t.equal(sent[0]?.url.origin, "https://api.example.com");
});

t.test("an expression makes no segment that leads up, and no other host", async (t) => {
  const findCode = async (address: string, value: string) => {
    const { run, sent } = requesting(integrationRows(acting({ url: address })));
    const { code } = await run({ values: JSON.stringify({ inputs: { v: value, dot: "." } }) });
    t.equal(sent.length, code === null ? 1 : 0, `${address} with ${value}`);
    return code;
  };
  t.equal(await findCode(`${url}/${expr("inputs.v")}/x`, "."), "unwritable");
  t.equal(await findCode(`${url}/${expr("inputs.v")}`, ".."), "unwritable");
  t.equal(await findCode(`${url}/${expr("inputs.v")}/x`, "%2e%2e"), null, "encoded, it leads nowhere");
  t.equal(await findCode(`${url}/${expr("inputs.v")}${expr("inputs.dot")}`, "."), "unwritable");
  t.equal(
    await findCode(`          ${url}/${expr("inputs.v")}/x`, ".."),
    "unwritable",
    "whatever blanks are before it",
  );
  t.equal(await findCode(`${url}?x=${expr("inputs.v")}`, ".."), null, "only segments of a path lead");
  t.equal(await findCode(`https://${expr("inputs.v")}.example.com/x`, "evil.com/"), "unwritable");
  t.equal(await findCode(`https://${expr("inputs.v")}.example.com/x`, "evil"), "not-allowed");
  t.equal(await findCode(expr("inputs.v"), "https://evil.com/"), "not-allowed", "an address that is one expression");
  t.equal(await findCode(expr("inputs.v"), "nonsense"), "unwritable");
  t.equal(await findCode(`${url}/${expr("inputs.missing")}`, ""), "unwritable");
});

t.test("bodies are JSON, forms or texts, and what reads as null is left out", async (t) => {
  const send = async (request: object) => {
    const { run, sent } = requesting(integrationRows(acting(request)));
    const { code } = await run({ values: inputs });
    const { method, url: to, headers, body } = sent[0] ?? { method: code, url: null, headers: {}, body: null };
    return { method, search: to?.search, headers, body };
  };
  const body = { title: expr("inputs.title"), list: expr("inputs.list"), none: expr("inputs.none"), text: "a b&c" };
  const json = await send({ method: "PATCH", body, query: { none: expr("inputs.none"), two: "a b" } });
  t.match(json, { method: "PATCH", search: "?two=a%20b", headers: { "content-type": "application/json" } });
  t.same(JSON.parse(json.body ?? ""), { title: hostile, list: ["a", "b"], none: null, text: "a b&c" });
  const form = await send({ headers: { "Content-Type": "application/x-www-form-urlencoded" }, body });
  const fields = new URLSearchParams(form.body ?? "");
  t.same(
    [...fields],
    [
      ["title", hostile],
      ["list", '["a","b"]'],
      ["text", "a b&c"],
    ],
  );
  const text = await send({
    method: "PUT",
    headers: { "content-type": "text/plain" },
    body: `on ${expr("inputs.list[0]")}`,
  });
  t.match(text, { method: "PUT", body: "on a" });
  t.equal((await send({ method: "DELETE" })).body, null);
  t.equal(
    (await send({ headers: { "x-title": expr("inputs.title") } })).method,
    "unwritable",
    "a header takes no line end",
  );
  t.notOk("x-none" in (await send({ headers: { "x-none": expr("inputs.none") } })).headers);
});

t.test("an answer is read: success, captures, output, marks", async (t) => {
  const definition = {
    actions: {
      act: {
        request: {
          url,
          expect: { success: expr("status == 201") },
          capture: { id: expr("response.id"), no: expr("response.no") },
        },
      },
      plain: { request: { url } },
    },
    tools: {
      act: { action: "act", output: expr("{'made': capture.id, 'by': connection}") },
      plain: { action: "plain" },
    },
    on: [
      {
        event: "task.opened",
        action: "act",
        to: {},
        mark: { thread: { value: expr("capture.id") }, none: { value: expr("capture.no") } },
      },
    ],
    connection: { oauth2 },
  };
  const rows = integrationRows(definition);
  linkAccount(rows, "team", { access: "token-1234", tokenUrl });
  const answers = [
    { status: 201, body: { id: 7, echo: "Bearer token-1234" } },
    { status: 200, body: { id: 7 } },
    { status: 404, body: "<b>gone</b>" },
  ];
  const { run, sent } = requesting(rows, () => answers.shift() ?? { status: 200, body: "token-1234 said" });
  const made = await run({ after: { kind: "tool", name: "act" } });
  t.match(made, { success: true, code: null, reason: null, captures: '{"id":7,"no":null}' });
  t.equal(made.output, '{"made":7,"by":"***"}', "outputs see no token");
  t.equal(made.response, '{"id":7,"echo":"Bearer ***"}', "nor what an answer repeats of it");
  t.equal(sent[0]?.headers.authorization, "Bearer token-1234");
  t.match(await run(), { success: false, code: "unsuccessful" });
  t.match(await run(), { success: false, code: "rejected", status: 404, response: '"<b>gone</b>"' });
  t.match(await run({ block: { kind: "action", name: "plain" }, after: { kind: "tool", name: "plain" } }), {
    output: '"*** said"',
  });
  answers.push({ status: 201, body: { id: 7, echo: "" } });
  t.same((await run({ after: { kind: "binding", index: 0 } })).marks, { thread: "7" });
});

t.test("statuses and broken connections have codes; a GET is made once more, anything else once", async (t) => {
  const findCode = async (
    method: string,
    answers: (Error | { status: number; headers?: Record<string, string> })[],
  ) => {
    const { run, sent } = requesting(integrationRows(acting({ method })), () => answers.shift() ?? { status: 500 });
    const { code, retryAfterMs } = await run();
    return [code, sent.length, retryAfterMs];
  };
  t.same(await findCode("POST", [{ status: 429, headers: { "retry-after": "7" } }]), ["throttled", 1, 7_000]);
  t.same(await findCode("POST", [{ status: 503 }]), ["server-error", 1, null]);
  t.same(await findCode("POST", [{ status: 302 }]), ["rejected", 1, null], "a redirect is an answer");
  t.same(await findCode("GET", [error("ECONNRESET"), { status: 200 }]), [null, 2, null]);
  t.same(await findCode("GET", [error("UND_ERR_SOCKET"), error("ECONNRESET")]), ["unreachable", 2, null]);
  t.same(await findCode("POST", [error("ECONNRESET"), { status: 200 }]), ["unreachable", 1, null]);
  t.same(await findCode("GET", [error("ECONNREFUSED")]), ["unreachable", 1, null]);
  t.same(await findCode("GET", [new DOMException("late", "TimeoutError")]), ["timeout", 1, null]);
  t.same(await findCode("PUT", [new Error("a bug that says token-1234")]), ["errored", 1, null]);
});

t.test("whose account is used: none, expired or another's sends nothing", async (t) => {
  const rows = integrationRows(
    acting(
      {},
      {
        connection: { holder: "requester", oauth2 },
        tools: { act: { action: "act" } },
        on: [{ event: "task.opened", action: "act" }],
      },
    ),
  );
  const { run, sent, clock } = requesting(rows);
  const ada = { kind: "person", userId: "usr_ada" } as const;
  const tool = { kind: "tool", name: "act" } as const;
  t.match(await run({ actsAs: ada, after: tool }), { code: "not-connected", status: null });
  linkAccount(rows, "team", { access: "team-token", tokenUrl });
  linkAccount(rows, "usr_ada", { access: "ada-token", tokenUrl, expiresAtMs: clock.now() + 1_000 });
  linkAccount(rows, "usr_eve", { access: "eve-token", tokenUrl });
  t.match(await run({ after: tool }), { code: "not-connected" }, "a tool acts as a person or not at all");
  t.match(
    await run({ actsAs: { kind: "person", userId: "usr_eve" } }),
    { code: "not-connected" },
    "who is not on the team",
  );
  t.equal(sent.length, 0);
  t.match(await run({ actsAs: ada, after: tool }), { success: true });
  t.match(await run({ after: { kind: "binding", index: 0 } }), { success: true }, "a binding acts as the team");
  t.same(
    sent.map(({ headers }) => headers.authorization),
    ["Bearer ada-token", "Bearer team-token"],
  );
  clock.advance(1_000);
  t.match(await run({ actsAs: ada }), { code: "not-connected" }, "access that has ended");
  linkAccount(rows, "team", { access: "other-host", tokenUrl: "https://api.example.com/elsewhere" });
  t.match(await run(), { code: "not-connected" }, "tokens of another host or client");
  writeIntegration(rows, acting({}, { connection: { oauth2 } }));
  t.match(await run({ actsAs: ada }), { code: "not-connected" }, "the integration now acts as its team");
  t.equal(sent.length, 2);
});

t.test("a look-up sees the body of a delivery as its events do, and counts what that takes", async (t) => {
  const request = { url, headers: { "x-of": expr("body.payload.of") } };
  const event = { lookup: { request, capture: { all: expr("body") } }, raise: {} };
  const rows = integrationRows({ webhook: { events: [event] } });
  const { run, sent, prepare } = requesting(rows);
  const block = { kind: "lookup", source: "webhook", event: 0 } as const;
  const form = 'payload={"of":"me"}&x=1';
  const values = JSON.stringify({ headers: { "content-type": "application/x-www-form-urlencoded" } });
  const input = { block, values, bodyDigest: storeBlob(rows, WORKSPACE, Buffer.from(form)) };
  const { captures } = await run(input);
  t.equal(sent[0]?.headers["x-of"], "me");
  t.same(JSON.parse(captures), { all: { payload: { of: "me" }, x: "1" } });
  const deep = storeBlob(rows, WORKSPACE, Buffer.from("[".repeat(100_000) + "]".repeat(100_000)));
  t.match(await run({ block, values: "{}", bodyDigest: deep }), { code: "unwritable" }, "too deep to be read: null");
  const large = storeBlob(
    rows,
    WORKSPACE,
    Buffer.from(JSON.stringify({ payload: { of: "x" }, x: "x".repeat(50_000) })),
  );
  const { place } = prepare({ block, values: "{}", bodyDigest: large });
  t.ok((place?.bytes ?? 0) > 50_000, "what it holds while it waits counts");
});

t.test("an address that is made of the token shows it to nobody", async (t) => {
  const token = "AbC123tok";
  const at = async (hosts: string[], host: string, error?: Error) => {
    const definition = acting({ url: `https://${expr("connection")}.${host}/` }, { hosts, connection: { oauth2 } });
    const rows = integrationRows(definition);
    linkAccount(rows, "team", { access: token, tokenUrl });
    const { run, sent } = requesting(rows, () => error ?? {});
    const result = await run();
    t.notMatch(JSON.stringify(result).toLowerCase(), token.toLowerCase(), host);
    return { ...result, sent: sent.length };
  };
  t.match(await at(["api.example.com"], "evil.com"), {
    code: "not-allowed",
    reason: /^the host \*\*\*\.evil\.com/,
    sent: 0,
  });
  t.match(await at(["*.example.com"], "example.com"), { code: null, origin: "https://***.example.com", sent: 1 });
});

t.test("an answer that repeats a credential with a name before it, in base64, is masked", async (t) => {
  for (const user of ["", "u:", "us:", "use:"]) {
    const rows = integrationRows(acting({}, { connection: { oauth2 } }));
    linkAccount(rows, "team", { access: "a-token-of-the-team", tokenUrl });
    const echo = Buffer.from(`${user}a-token-of-the-team!`).toString("base64");
    const { run } = requesting(rows, () => ({ body: { echo } }));
    const { response } = await run();
    const left = String(response).replace(/[^A-Za-z0-9+/]/g, "");
    t.ok(left.length < 20, `${user}: ${response}`);
  }
});

t.test("a secret goes to hosts that both the integration and the secret name", async (t) => {
  const definition = (to: string) =>
    acting(
      { url: to, headers: { "x-key": "mine" } },
      {
        hosts: ["api.example.com", "b.example.com"],
        connection: { token: { secret: "key", header: "X-Key", prefix: "k " } },
      },
    );
  const rows = integrationRows(definition(url));
  const { run, sent } = requesting(rows, () => ({ body: { echo: Buffer.from("very secret").toString("base64") } }));
  t.match(await run(), { code: "not-allowed", reason: "there is no secret key" });
  writeSecret(rows, "key", "very secret", ["api.example.com"]);
  t.equal((await run()).response, '{"echo":"***"}');
  t.equal(sent[0]?.headers["x-key"], "k very secret");
  writeIntegration(rows, definition("https://b.example.com/x"));
  t.match(await run(), { code: "not-allowed", reason: /not bound to b.example.com/ });
  t.equal(sent.length, 1);
});

t.test("after a kill only a GET that may is made again", async (t) => {
  const begun = async (method: string, again: "after-a-crash" | "never") => {
    const { run, sent } = requesting(integrationRows(acting({ method })));
    return [(await run({ again }, true)).code, sent.length];
  };
  t.same(await begun("GET", "after-a-crash"), [null, 1]);
  t.same(await begun("GET", "never"), ["interrupted", 0]);
  t.same(await begun("POST", "after-a-crash"), ["interrupted", 0]);
  const changed = requesting(integrationRows(acting({ method: "GET" })));
  const ask = (method: string | null) => changed.run({ again: "after-a-crash", method }, true);
  for (const method of ["POST", null]) t.match(await ask(method), { code: "interrupted" });
  t.equal((await ask("GET")).code, null);
  t.equal(changed.sent.length, 1, "what was another is not, whatever the definition says by now");
  const { run, logged } = requesting(integrationRows({}));
  t.match(await run({}, true), { code: "interrupted" }, "also when the definition is gone");
  t.match(await run(), { code: "broken" });
  t.match(await run({ values: "[]" }), { code: "broken" });
  t.same(logged, []);
});

t.test("a poll gives its whole body and the next cursor; only JSON is a success, and not too much of it", async (t) => {
  const poll = {
    request: { url, query: { since: expr("cursor") } },
    cursor: expr("string(body.next)"),
    events: [{ raise: {} }],
  };
  const answers = [
    { body: { next: 12 } },
    { body: "<html>" },
    { body: { next: null } },
    { body: JSON.stringify("x".repeat(3 * 1024 * 1024)) },
    { body: '"text"' },
    { body: "12" },
    { body: " \r\n" },
  ];
  const { run, sent } = requesting(integrationRows({ poll }), () => answers.shift() ?? {});
  const asked = () => run({ block: { kind: "poll" }, values: '{"cursor":"11"}', lane: "background" });
  t.match(await asked(), { success: true, body: '{"next":12}', cursor: "12" });
  t.equal(sent[0]?.url.search, "?since=11");
  const other = { success: false, code: "errored", reason: "its response is not JSON" };
  t.match(await asked(), other);
  t.match(await asked(), { success: true, cursor: null });
  t.match(await asked(), { success: false, code: "errored", reason: /cannot be read: it is larger than 2 MiB$/ });
  const unread = { success: true, body: '"text"', cursor: null, cursorProblem: /no such overload|field not found/ };
  t.match(await asked(), unread, "a text is JSON too");
  t.match(await asked(), { success: true, body: "12", cursor: null }, "and so is a number");
  t.match(await asked(), { success: true, code: null, cursor: null }, "blanks alone are no news");
});

t.test("a look-up sees the delivery's body, and captures; an attachment is bytes up to a limit", async (t) => {
  const event = {
    forEach: expr("body.items"),
    lookup: {
      request: { url: `${url}/${expr("item")}`, headers: { "x-of": expr("body.of") } },
      capture: { who: expr("response.who + raw") },
    },
    raise: { attaches: { each: expr("body.files"), name: expr("file"), fetch: { url: `${url}/${expr("file")}` } } },
  };
  const rows = integrationRows({ webhook: { events: [event] } });
  const bodyDigest = storeBlob(rows, WORKSPACE, Buffer.from('{"of":"me"}'));
  const files = [Buffer.alloc(10), Buffer.alloc(10 * 1024 * 1024 + 1)];
  const { run, sent } = requesting(rows, ({ url: { pathname } }) =>
    pathname.endsWith("/f")
      ? { body: files.shift(), headers: { "content-type": "image/png" } }
      : { body: { who: "ada" } },
  );
  const at = { source: "webhook", event: 0 } as const;
  const found = await run({ block: { kind: "lookup", ...at }, values: '{"item":"i 1"}', bodyDigest });
  t.same(JSON.parse(found.captures), { who: 'ada{"of":"me"}' });
  t.match(sent[0], { url: { pathname: "/items/i%201" }, headers: { "x-of": "me" } });
  const fetched = () => run({ block: { kind: "attachment", ...at }, values: '{"file":"f"}', bodyDigest });
  t.match(await fetched(), { success: true, file: { type: "image/png", bytes: { length: 10 } } });
  t.match(await fetched(), { success: false, code: "errored", reason: "it is larger than 10 MiB" });
});

t.test("expressions are bounded: a dear one is unwritable, and never holds the loop for long", async (t) => {
  const list = JSON.stringify({ inputs: { list: Array.from({ length: 400 }, (_, at) => at) } });
  const dear = expr("inputs.list.all(a, inputs.list.all(b, inputs.list.all(c, a + b + c < 100000.0)))");
  const { run, sent } = requesting(integrationRows(acting({ body: { dear } })));
  t.match(await run({ values: list }), { code: "unwritable", reason: /body: it takes too long/ });
  t.match(await run({ values: JSON.stringify({ inputs: "x".repeat(1024 * 1024) }) }), { code: "unwritable" });
  t.equal(sent.length, 0);
});

t.test("results are bounded: a long answer is a text of at most 64 KiB", async (t) => {
  const { run } = requesting(integrationRows(acting({})), () => ({ body: { text: '\u0000"é'.repeat(60_000) } }));
  const { response, success } = await run();
  t.ok(success);
  t.ok(Buffer.byteLength(response ?? "") <= 64 * 1024);
  t.type(JSON.parse(response ?? ""), "string");
});

t.test(
  "rubbish is an answer too: bytes that are no text, JSON that is cut off, JSON too deep to be read",
  async (t) => {
    const rubbish = [
      Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      '{"id": 7, "text": "cut',
      "[".repeat(200_000) + "]".repeat(200_000),
    ];
    const rows = integrationRows({
      actions: { act: { request: { url, capture: { id: expr("response.id") } } } },
      tools: { act: { action: "act", output: expr("response.id") } },
    });
    const { run, logged } = requesting(rows, () => ({ body: rubbish.shift() }));
    const tool = { after: { kind: "tool", name: "act" } } as const;
    for (let n = 0; n < 3; n++) {
      const { success, captures, output, response } = await run(tool);
      t.match({ success, captures, output }, { success: true, captures: '{"id":null}', output: null });
      t.type(JSON.parse(response ?? ""), "string");
    }
    t.same(logged, [], "none is taken for a mistake of the service");
  },
);
