import fc from "fast-check";
import t, { type Test } from "tap";
import { Agent } from "undici";
import { exampleSettings } from "../contract/kind-examples.js";
import { RawConnection } from "../support/raw-connection.js";
import { toTables } from "../support/route-table.js";
import { type Client, startTestService, type TestService } from "../support/service.js";
import { openWorkplace } from "../support/workplace.js";
import { type AnyRequest, anyRequest, type Known } from "./malformed-requests.js";

/** Time limit for an answer, in milliseconds; far above any normal answer. */
const PATIENCE_MS = 10_000;
/** Concurrent requests. */
const AT_ONCE = 10;
const REQUESTS = { uws: 5_000, node: 1_000 } as const;

/** `SEED=… node …` runs the same requests again. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
t.comment(`seed ${seed}`);

interface Sender {
  readonly name: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Sends a request. Returns what is wrong with the answer; null if nothing is. */
async function lookUpFault(agent: Agent, origin: string, request: AnyRequest, sender: Sender): Promise<string | null> {
  const { method, path, body } = request;
  const answer = await agent.request({
    origin,
    path,
    method: method as "GET",
    body,
    headers: { ...sender.credentials, ...request.headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await answer.body.text();
  const { statusCode: status } = answer;
  if (status < 400) return null;
  if (status >= 500) return `as ${sender.name}, ${method} ${path}: ${status} ${text}`;
  if (method === "HEAD") return text === "" ? null : "a HEAD has a body";
  const wrong = problemFault(answer.headers["content-type"], status, text);
  return wrong === null ? null : `as ${sender.name}, ${method} ${path}: ${wrong}: ${status} ${text.slice(0, 2_000)}`;
}

function problemFault(type: unknown, status: number, text: string): string | null {
  if (type !== "application/problem+json") return `no problem but ${type}`;
  const problem = JSON.parse(text) as Record<string, unknown>;
  if (problem.status !== status) return "another status in the body";
  if (!/^urn:service:problem:[a-z]+(-[a-z]+)*$/.test(String(problem.type))) return "no type";
  if (typeof problem.title !== "string" || problem.title === "") return "no title";
  if (typeof problem.detail !== "string" || problem.detail === "") return "no detail";
  if (status !== 422 || problem.type !== "urn:service:problem:invalid") return null;
  const { errors } = problem;
  if (!Array.isArray(errors) || errors.length === 0) return "no errors";
  const isError = (error: Record<string, unknown>) =>
    typeof error.path === "string" && typeof error.message === "string" && error.message !== "";
  return errors.every(isError) ? null : "an error without a path or a message";
}

/** Opens a workplace, and creates resources that the requests can find. Also returns the senders of the requests. */
async function populate(t: Test, transport: string) {
  const { service, ada, workspaceId, teamId, open } = await openWorkplace(t, {
    settings: { ...exampleSettings, TRANSPORT: transport },
  });
  const within = `/api/resources/workspaces/${workspaceId}`;
  const issue = { name: "all", scopes: ["configure", "secrets", "runners", "trusts"] };
  const issued = await ada.request("POST", `${within}/tokens`, issue, { "idempotency-key": "token" });
  const taskId = await open();
  const runs = (await ada.request("GET", `/api/tasks/${taskId}/runs`)).body?.items as { id: string }[];
  const { userId } = (await ada.request("GET", "/api/sessions/me")).body ?? {};
  const { routes } = toTables(service);
  const known: Record<string, string> = { slug: "acme", workspaceId, teamId, taskId, userId: String(userId) };
  for (const { id } of runs) known.runId = id;
  for (const { method, path, example } of routes) {
    const [, collection = ""] = /^\/api\/resources\/.*\/([a-z-]+)$/.exec(path) ?? [];
    if (method !== "POST" || collection === "") continue;
    const where = path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? "");
    const made = await ada.request("POST", where, example, { "idempotency-key": collection });
    if (made.status === 201) known[collection] = String(made.body?.id);
  }
  t.ok(Object.keys(known).length > 10, "most kinds have a resource");
  const bearer = service.withToken(issued.headers["service-workspace-token"] ?? "");
  const senders = named({ owner: ada, token: bearer, nobody: service.anonymous });
  return { service, routes, known, senders };
}

function named(clients: Readonly<Record<string, Client>>): readonly Sender[] {
  return Object.entries(clients).map(([name, { credentials }]) => ({ name, credentials }));
}

/**
 * Whether a request would make later requests useless, because it ends the session, deletes the current version of a
 * resource, or removes the owner.
 */
function isFinal({ method, path, headers }: AnyRequest, known: Known): boolean {
  if (method !== "DELETE") return false;
  return path.startsWith("/api/sessions") || headers["if-match"] === '"1"' || path.includes(`${known.userId}`);
}

async function isUnharmed(t: Test, service: TestService): Promise<void> {
  t.equal((await service.anonymous.request("GET", "/readyz")).status, 200);
  t.same(
    service.logLines.filter((line) => /"level":"(error|fatal)"/.test(line)),
    [],
    "nothing was logged as an error",
  );
}

for (const transport of ["uws", "node"] as const) {
  t.test(`over ${transport}, no request makes the service fail or keeps it waiting`, async (t) => {
    const { service, routes, known, senders } = await populate(t, transport);
    const agent = new Agent({ connections: AT_ONCE });
    t.teardown(() => agent.destroy());
    const requests = anyRequest(routes, known).filter((request) => !isFinal(request, known));
    const several = fc.array(fc.tuple(requests, fc.constantFrom(...senders)), {
      minLength: AT_ONCE,
      maxLength: AT_ONCE,
    });
    await fc.assert(
      fc.asyncProperty(several, async (all) => {
        const faults = await Promise.all(all.map((each) => lookUpFault(agent, service.baseUrl, ...each)));
        const found = faults.find((fault) => fault !== null);
        if (found !== undefined) throw new Error(`${found}`);
      }),
      // Do not shrink a failing case: with many requests, this takes minutes. The seed reproduces the case.
      { seed, numRuns: REQUESTS[transport] / AT_ONCE, endOnFailure: true },
    );
    await isUnharmed(t, service);
  });

  t.test(`over ${transport}, no bytes make the service fail`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT: transport } });
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
      { seed, numRuns: 200, interruptAfterTimeLimit: 2 * PATIENCE_MS, markInterruptAsFailure: true },
    );
    t.equal((await service.anonymous.request("GET", "/readyz")).status, 200);
  });
}
