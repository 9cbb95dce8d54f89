import fc from "fast-check";
import t from "tap";
import { createKinds } from "../../actors/kinds.js";
import { parseAllowList } from "../../actors/outbound/allow-list.js";
import { RawConnection } from "../support/raw-connection.js";
import { type Client, startTestService } from "../support/service.js";

/** Longest time for an answer; far above what any takes. */
const PATIENCE_MS = 20_000;

const slugs = ["workspaces", "teams", "sessions", "tasks", "runs", "hook-occurrences", "sign-in", "resources"];
const collections = createKinds({ allowList: parseAllowList(""), signsTokens: false }).map(({ plural }) => plural);

const segment = fc.oneof(
  fc.constantFrom("api", ...slugs, ...collections, "import", "me", "healthz"),
  fc.string({ unit: "binary", maxLength: 8 }).map(encodeURIComponentSafely),
  fc.constantFrom("%", "%00", "%zz", "..", ".", "%2e%2e", "__proto__", "ws_01J000000000000000000000000"),
);

const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join("/")}`);
const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS");

/** JSON of any shape, often with names that mean something here. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1e308, "", "ada@example.com", "\0", "\ud800"),
    fc.string({ unit: "binary" }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(
        fc.string(),
        fc.constantFrom("email", "token", "slug", "key", "name", "value", "steps", "stations", "__proto__", "scopes"),
      ),
      tie("value"),
      { maxKeys: 5 },
    ),
  ),
})).value;

const body = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "{", '{"a":', "[".repeat(50_000), `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, "\ufeff{}"),
);

const visible = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const headers = fc.record(
  {
    "content-type": fc.constantFrom("application/json", "text/plain", "application/json; charset=utf-16", ""),
    "if-match": fc.oneof(visible, fc.constantFrom('"1"', 'W/"1"', "*", '"999999999999999999999"')),
    "idempotency-key": visible,
    "service-client": visible,
    "service-api-version": fc.constantFrom("2026-09-23", "1", ""),
    authorization: visible.map((text) => `Bearer ${text}`),
    origin: visible,
  },
  { requiredKeys: [] },
);

function encodeURIComponentSafely(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

async function fate(client: Client, parts: readonly [string, string, string, Record<string, string>]): Promise<string> {
  const [how, where, what, given] = parts;
  const sends = how !== "GET" && how !== "HEAD";
  const answer = await client.request(how, where, sends ? what : undefined, given);
  if (answer.status >= 500) return `${answer.status} ${answer.text}`;
  if (answer.status < 400) return "fine";
  if (how === "HEAD") return "fine";
  const isProblem =
    answer.headers["content-type"] === "application/problem+json" && answer.body?.status === answer.status;
  return isProblem ? "fine" : `no problem: ${answer.status} ${answer.text}`;
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, no request makes the service fail or keeps it waiting`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const ada = await service.signIn("ada@example.com");
    const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
    const team = await ada.create(`/api/resources/workspaces/${workspace.id}/teams`, { key: "core", name: "Core" });
    const real = fc.constantFrom(
      "/api/sign-in",
      "/api/sessions",
      `/api/teams/${team.id}/tasks`,
      `/api/resources/workspaces/${workspace.id}`,
      ...collections.map((plural) => `/api/resources/workspaces/${workspace.id}/${plural}`),
      ...collections.map((plural) => `/api/resources/teams/${team.id}/${plural}`),
    );
    const anything = fc.tuple(method, fc.oneof(path, real), body, headers);
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (parts, signedIn) => {
        const found = await fate(signedIn ? ada : service.anonymous, parts);
        if (found !== "fine") throw new Error(found);
      }),
      { numRuns: 400, interruptAfterTimeLimit: PATIENCE_MS, markInterruptAsFailure: true },
    );
    t.equal((await ada.request("GET", "/readyz")).status, 200);
    t.notOk(
      service.logLines.some((line) => /"level":(50|60)/.test(line)),
      "nothing was logged as an error",
    );
  });

  t.test(`over ${TRANSPORT}, no bytes make the service fail`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const piece = fc.oneof(
      fc.constantFrom(
        "GET / HTTP/1.1\r\n",
        "POST /api/sign-in HTTP/1.1\r\n",
        "Host: a\r\n",
        "\r\n",
        "Content-Length: 5\r\n",
      ),
      fc.constantFrom(
        "Transfer-Encoding: chunked\r\n",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "ffffffffffffffff\r\n",
        "Upgrade: websocket\r\n",
      ),
      fc.string({ unit: "binary", maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const connection = await RawConnection.open(service.port);
        for (const bytes of pieces) connection.write(bytes);
        connection.socket.end();
        const got = await connection.end();
        if (/^HTTP\/1\.1 5(?!05)/.test(got)) throw new Error(got);
      }),
      { numRuns: 200, interruptAfterTimeLimit: PATIENCE_MS, markInterruptAsFailure: true },
    );
    t.equal((await service.anonymous.request("GET", "/readyz")).status, 200);
  });
}
