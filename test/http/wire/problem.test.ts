import t, { type Test } from "tap";
import { RawConnection } from "../../support/raw-connection.js";
import { type Reply, startTestService } from "../../support/service.js";

/** Checks the form of the members that every problem has. */
function checkProblem(t: Test, answer: Reply, status: number, slug: string): void {
  t.equal(answer.status, status, answer.text);
  t.equal(answer.headers["content-type"], "application/problem+json");
  t.match(answer.body, {
    type: `urn:service:problem:${slug}`,
    title: /^\S.*[^.]$/,
    status,
    detail: /\S/,
  });
  t.equal(answer.headers["service-api-version"], "2026-09-23");
  t.match(answer.headers["x-request-id"], /^req_[0-9A-Z]{26}$/);
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, every answer says its version and id, and is for nobody's frame or cache`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    for (const path of ["/healthz", "/nowhere", "/api/sessions/me"]) {
      const { headers } = await service.anonymous.request("GET", path);
      t.match(headers, {
        "service-api-version": "2026-09-23",
        "x-request-id": /^req_[0-9A-Z]{26}$/,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "content-security-policy": /default-src 'none'/,
      });
    }
  });

  t.test(`over ${TRANSPORT}, each malformed request is a problem of its own`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const { anonymous } = service;
    const signIn = (body: string | undefined, headers: Record<string, string> = {}) =>
      anonymous.request("POST", "/api/sign-in", body, headers);

    checkProblem(t, await anonymous.request("GET", "/nowhere"), 404, "not-found");
    checkProblem(t, await anonymous.request("GET", "/api/resources/workspaces/"), 404, "not-found");
    const wrongMethod = await anonymous.request("PUT", "/healthz");
    checkProblem(t, wrongMethod, 405, "method-not-allowed");
    t.equal(wrongMethod.headers.allow, "GET, HEAD");
    checkProblem(t, await anonymous.request("GET", "/api/resources/teams/%00"), 400, "bad-request");
    checkProblem(t, await anonymous.request("GET", "/api/resources/teams/%ff"), 400, "bad-request");
    checkProblem(t, await anonymous.request("GET", "/api/resources/teams/%"), 400, "bad-request");
    checkProblem(t, await anonymous.request("GET", "/api/resources/workspaces"), 401, "unauthenticated");
    checkProblem(t, await anonymous.request("GET", "/api/runner"), 426, "upgrade-required");

    checkProblem(t, await signIn("{"), 400, "bad-request");
    checkProblem(t, await signIn('{"email": "canary-in-the-body'), 400, "bad-request");
    checkProblem(t, await signIn(`${"[".repeat(200_000)}`), 400, "bad-request");
    checkProblem(t, await signIn("email=a", { "content-type": "text/plain" }), 415, "unsupported-media-type");
    checkProblem(t, await signIn("{}", { "content-type": "" }), 415, "unsupported-media-type");
    checkProblem(t, await signIn("{}", { "content-encoding": "gzip" }), 415, "unsupported-media-type");
    checkProblem(t, await signIn(" ".repeat(256 * 1024 + 1)), 413, "too-large");
    checkProblem(t, await signIn(" ".repeat(256 * 1024)), 400, "bad-request");
    checkProblem(t, await signIn(undefined), 422, "invalid");
    checkProblem(t, await signIn("null"), 422, "invalid");
    checkProblem(t, await signIn("[]"), 422, "invalid");
    checkProblem(t, await signIn('"text"'), 422, "invalid");
    const old = await anonymous.request("GET", "/healthz", undefined, { "service-api-version": "2020-01-01" });
    checkProblem(t, old, 400, "unsupported-api-version");
    const same = await anonymous.request("GET", "/healthz", undefined, { "service-api-version": "2026-09-23" });
    t.equal(same.status, 200);
  });

  t.test(
    `over ${TRANSPORT}, a body that is not UTF-8 is refused, and one with its charset named is taken`,
    async (t) => {
      const service = await startTestService(t, { settings: { TRANSPORT } });
      const connection = await RawConnection.open(service.port);
      t.teardown(async () => connection.destroy());
      const head = ["POST /api/sign-in HTTP/1.1", "Host: a", "Content-Type: application/json; charset=utf-8"];
      connection.send([...head, "Content-Length: 4"], Buffer.from([0x22, 0xc3, 0x28, 0x22]));
      const broken = await connection.answer();
      t.equal(broken.status, 400);
      t.match(JSON.parse(broken.body), { type: "urn:service:problem:bad-request", detail: "The body is not UTF-8." });
      const body = '{"email":"ada@example.com"}';
      connection.send([...head, `Content-Length: ${body.length}`], body);
      t.equal((await connection.answer()).status, 202);
    },
  );

  t.test(`over ${TRANSPORT}, a refused upgrade is a problem`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const ask = async (path: string, headers: string[] = []) => {
      const connection = await RawConnection.open(service.port);
      t.teardown(async () => connection.destroy());
      connection.send([
        `GET ${path} HTTP/1.1`,
        "Host: a",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      ]);
      const { status, headers: got, body } = await connection.answer();
      return { status, headers: got, text: body, body: JSON.parse(body) };
    };
    checkProblem(t, await ask("/api/stream"), 401, "unauthenticated");
    checkProblem(t, await ask("/api/runner", ["Authorization: Bearer nonsense"]), 401, "unauthenticated");
    checkProblem(t, await ask("/nowhere"), 404, "not-found");
    checkProblem(t, await ask("/api/stream", ["Service-Api-Version: 1"]), 400, "unsupported-api-version");
  });
}

t.test("what is wrong with a body is told at its path, in a line each", async (t) => {
  const service = await startTestService(t);
  const answer = await service.anonymous.request("POST", "/api/sign-in", { email: "ada", "odd key": 1, extra: null });
  checkProblem(t, answer, 422, "invalid");
  t.same(answer.body?.errors, [
    { path: "email", message: "must be a mail address", severity: "error" },
    { path: '["odd key"]', message: "is not a field here", severity: "error" },
    { path: "extra", message: "is not a field here", severity: "error" },
  ]);
  t.equal(
    answer.body?.detail,
    'email: must be a mail address\n["odd key"]: is not a field here\nextra: is not a field here',
  );
});

t.test("text that could not be read back as it was sent is refused", async (t) => {
  const service = await startTestService(t);
  const send = (body: string) => service.anonymous.request("POST", "/api/sign-in", body);
  for (const body of ['{"email":"\\ud800"}', '{"\\uDFFF":1}', '{"a":[{"b":"x\\udc00\\ud83d"}]}']) {
    const answer = await send(body);
    checkProblem(t, answer, 400, "bad-request");
    t.match(answer.body?.detail, /lone surrogate/, body);
  }
  for (const body of ['{"a":"\\ud83d\\ude80"}', '{"a":"\\\\ud800"}', '{"a":"\u{1F680}"}']) {
    t.equal((await send(body)).status, 422, `${body} is text`);
  }
});

t.test("a body with a duplicate member is refused", async (t) => {
  const service = await startTestService(t);
  const send = (body: string) => service.anonymous.request("POST", "/api/sign-in", body);
  for (const [body, name] of [
    ['{"email":"ada@example.com","email":"bob@example.com"}', "email"],
    ['{"email":"ada@example.com","\\u0065mail":"bob@example.com"}', "email"],
    ['{"a":[{"b":{"c:":1,"d":"}","c:":1}}],"b":2}', "c:"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"":1 , "" :2}', ""],
    [`{"${"x".repeat(50_000)}":1,"${"x".repeat(50_000)}":2}`, "x".repeat(100)],
  ] as const) {
    const answer = await send(body);
    checkProblem(t, answer, 400, "bad-request");
    t.equal(answer.body?.detail, `The body has the member ${JSON.stringify(name)} twice in one object.`);
  }
  for (const body of [
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
    '{"a":"\\",\\"a\\":1","b":"a:a:"}',
    '{"a":"\\\\","b":1}',
    "[]",
  ]) {
    t.equal((await send(body)).status, 422, `${body} says nothing twice`);
  }
});

t.test("a body's __proto__ is a field like any other, and changes nothing", async (t) => {
  const service = await startTestService(t);
  const answer = await service.anonymous.request(
    "POST",
    "/api/sign-in",
    '{"email":"ada@example.com","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  );
  t.equal(answer.status, 422);
  t.equal(({} as { readonly polluted?: boolean }).polluted, undefined);
});
