import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { poolToken } from "../../../http/runner/connection/credential.js";
import { startRunner } from "../../../http/runner/runner.js";
import { createSystemClock } from "../../../runtime/clock.js";
import { type Answering, hookReceiver } from "../../support/hook-receiver.js";
import { hook, ok } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import { until } from "../../support/until.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

interface Firing {
  readonly state: string;
  readonly attempts: readonly {
    readonly code: string | null;
    readonly reason: string | null;
    readonly status: number | null;
    readonly body: string;
    readonly requestHeaders: Readonly<Record<string, string>>;
  }[];
}

const fromNetwork = (url: string, more: Record<string, unknown> = {}) =>
  hook(url, { steps: [{ name: "tell", request: { url, from: "network" } }], timeoutSeconds: 30, ...more });

/** Opens a workplace whose service may not send requests to any host, and a receiver in the network of its runners. */
async function arrange(t: Test, answer: Answering, clock = new ManualClock(Date.now())) {
  const receiver = await hookReceiver(t, answer);
  const place = await openWorkplace(t, { clock });
  const add = (fields: Record<string, unknown>) =>
    place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, fields);
  const firing = async () => {
    const history = await place.ada.request("GET", `/api/teams/${place.teamId}/hook-occurrences`);
    return ((history.body?.items ?? []) as readonly Firing[])[0];
  };
  const settled = (...states: string[]): Promise<Firing> =>
    until(`a firing that is ${states.join(" or ")}`, async () => {
      const found = await firing();
      return found !== undefined && states.includes(found.state) ? found : null;
    });
  return { place, receiver, add, firing, settled };
}

/** Starts a real runner in the workplace's pool. */
async function realRunner(t: Test, { service, token }: Workplace): Promise<void> {
  const workFolder = await mkdtemp(join(tmpdir(), "signalbox-network-"));
  let connected: () => void = () => undefined;
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const runner = await startRunner({
    url: service.baseUrl,
    credential: poolToken(token),
    name: "host",
    labels: [],
    slots: 0,
    command: [],
    passEnv: [],
    workFolder,
    gitUrl: join(workFolder, "{name}"),
    clock: createSystemClock(),
    random: () => 0.5,
    instance: randomBytes(16).toString("hex"),
    log: (line) => (line.startsWith("connected") ? connected() : undefined),
  });
  t.teardown(async () => {
    await runner.stop();
    await rm(workFolder, { recursive: true, force: true });
  });
  await isConnected;
}

t.test("a host of the workspace sends a signed request, and the answer is recorded", async (t) => {
  const { place, receiver, add, settled } = await arrange(t, (response) => response.end("x".repeat(20_000)));
  await realRunner(t, place);
  const made = await add(fromNetwork(receiver.url));
  t.same(made.warnings, []);
  const taskId = await place.open();
  const [request] = await receiver.arrived(1);
  t.match(request?.verified, { hook: "tell", task: { id: taskId } });
  const { state, attempts } = await settled("delivered", "waiting", "failed");
  t.equal(state, "delivered");
  t.match(attempts, [{ status: 200, code: null, body: "x".repeat(16 * 1024) }]);
});

t.test("failures at a host have the same codes, and it follows no redirect", async (t) => {
  const target = await hookReceiver(t, ok);
  const { place, receiver, add, settled } = await arrange(t, (response, n) => {
    if (n === 1) response.writeHead(302, { location: target.url }).end();
    else response.writeHead(429, { "retry-after": "600" }).end();
  });
  await realRunner(t, place);
  await add(fromNetwork(receiver.url));
  await place.open();
  t.match(await settled("failed", "waiting"), { state: "failed", attempts: [{ code: "rejected", status: 302 }] });
  t.equal(target.requests.length, 0);
  await place.open();
  t.match(await settled("waiting"), { attempts: [{ code: "throttled", retryAfterMs: 600_000 }] });
});

t.test("a host hands out nothing of where a cloud keeps its credentials", async (t) => {
  const { place, add, settled } = await arrange(t, ok);
  await realRunner(t, place);
  const hosts = [
    "169.254.169.254",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "0xa9fea9fe",
    "168.63.129.16",
    "192.0.0.192",
  ];
  for (const [index, host] of hosts.entries()) {
    const on = { lines: ["dev"], stations: [] };
    const made = await add(fromNetwork(`http://${host}/`, { key: `link-${index}`, match: on }));
    await place.open();
    t.match(
      await settled("failed", "waiting", "delivered"),
      { state: "failed", attempts: [{ code: "not-allowed" }] },
      host,
    );
    await place.ada.request("DELETE", `/api/resources/hooks/${made.id}`, undefined, { "if-match": '"1"' });
  }
});

t.test(
  "without a host a request is unreachable, and a host that connects later sends it with the same id",
  async (t) => {
    const clock = new ManualClock(Date.now());
    const { place, receiver, add, settled } = await arrange(t, ok, clock);
    // A runner of an earlier release does not announce that it can send hook requests. So the service gives this runner
    // no hook requests.
    const older = await place.runner();
    await add(fromNetwork(receiver.url, { timeoutSeconds: 7 }));
    await place.open();
    await until("the request to wait for a host", () => clock.awaits(7_000));
    clock.advance(7_000);
    const first = await settled("waiting");
    t.match(first.attempts, [{ code: "unreachable", reason: "no host of the workspace took the request in time" }]);
    t.notOk(older.frames.some(({ frame }) => frame === "request"));

    const host = await place.runner({ makesRequests: true, instance: "fedcba9876543210" });
    clock.advance(2_000);
    const lost = await host.frame("request");
    host.cut();
    await until("a second attempt", async () => (await settled("attempting", "waiting")).attempts.length === 2);
    t.match((await settled("waiting")).attempts.at(-1), { code: "unreachable", reason: /disconnected/ });

    await realRunner(t, place);
    clock.advance(4_000);
    const [request] = await receiver.arrived(1);
    t.match(await settled("delivered"), { attempts: [{}, {}, { status: 200 }] });
    const ids = [
      lost.headers["webhook-id"],
      request?.headers["webhook-id"],
      first.attempts[0]?.requestHeaders["webhook-id"],
    ];
    t.equal(new Set(ids).size, 1, "one message");
  },
);

t.test("a host of another workspace gets no request, and its results for others are ignored", async (t) => {
  const { place, receiver, add, settled } = await arrange(t, ok);
  const other = await place.service.signIn("grace@example.com");
  const { id } = await other.create("/api/resources/workspaces", { slug: "other", name: "Other" });
  const pool = await other.request(
    "POST",
    `/api/resources/workspaces/${id}/runner-pools`,
    { key: "main" },
    { "idempotency-key": "p" },
  );
  const foreign = await RunnerPeer.join(place.service, String(pool.headers["service-pool-token"]), {
    makesRequests: true,
  });
  t.teardown(async () => foreign.cut());
  const own = await place.runner({ makesRequests: true });
  await add(fromNetwork(receiver.url));
  await place.open();
  const { id: request, timeoutMs, headers } = await own.frame("request");
  t.equal(timeoutMs, 30_000);
  t.match(headers, { "webhook-signature": /^v1,/, "user-agent": "Service-Hooks/1" });
  const answer = { status: 500, body: "forged", retryAfter: null };
  foreign.post({ frame: "response", id: request, answer, failure: null });
  await foreign.beat();
  own.post({ frame: "response", id: request, answer: { ...answer, status: 204, body: "" }, failure: null });
  t.match(await settled("delivered", "waiting", "failed"), {
    state: "delivered",
    attempts: [{ status: 204, body: "" }],
  });
  t.notOk(foreign.frames.some(({ frame }) => frame === "request"));
  t.equal(receiver.requests.length, 0, "the service sent nothing itself");
});
