import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import type { RunnerMessage, ServiceMessage } from "../../../../actors/runners/protocol.js";
import { poolToken } from "../../../../http/runner/connection/credential.js";
import { type Hello, ServiceConnection } from "../../../../http/runner/connection/service-connection.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { until } from "../../../support/until.js";
import { ProtocolService } from "../protocol-service.js";

/** A manual clock that records the started waits. */
class WatchedClock extends ManualClock {
  readonly waitsMs: number[] = [];
  #watchers: (() => void)[] = [];

  override at(atMs: number, wake: () => void): () => void {
    this.waitsMs.push(atMs - this.now());
    for (const watch of this.#watchers.splice(0)) watch();
    return super.at(atMs, wake);
  }

  /** Resolves once a wait of this length starts after the first `after` waits. */
  async waits(ms: number, after = 0): Promise<void> {
    while (!this.waitsMs.slice(after).includes(ms)) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }
}

const LEASE_MS = 60_000;
const self: Hello = {
  instance: "0123456789abcdef",
  name: "tester",
  version: "1",
  labels: ["linux"],
  harnesses: ["command"],
  slots: 2,
  claims: [],
};

interface Scene {
  readonly service: ProtocolService;
  readonly clock: WatchedClock;
  readonly connection: ServiceConnection;
  readonly taken: ServiceMessage[];
  readonly dropped: string[];
  /** The connection's calls that concern commits, in order. */
  readonly told: string[];
  readonly said: string[];
  readonly leasesOver: () => number;
  /** Changes the runner's next message `hello`. */
  readonly be: (more: Partial<Hello>) => void;
}

/**
 * Opens a connection. The connection's random number is always 0.5, so each wait is three quarters of the maximum wait.
 */
async function scene(t: Test, token = "pool-token", at: string | null = null): Promise<Scene> {
  const service = await ProtocolService.start(t);
  const clock = new WatchedClock();
  const taken: ServiceMessage[] = [];
  const dropped: string[] = [];
  const told: string[] = [];
  const said: string[] = [];
  let leasesOver = 0;
  let hello = self;
  const connection = new ServiceConnection({
    url: at ?? service.url,
    credential: poolToken(token),
    clock,
    random: () => 0.5,
    hello: () => hello,
    take: (message) => void taken.push(message),
    make: async ({ id }) => ({ frame: "response", id, answer: null, failure: null }),
    commits: {
      kept: {
        begin: () => void told.push("begin"),
        report: () => void told.push("report"),
        release: (commits) => void told.push(...commits.map(({ commit }) => `release ${commit}`)),
      },
      wanted: { add: (commits) => void told.push(...commits.map(({ commit }) => `wanted ${commit}`)) },
    },
    drop: (claims) => void dropped.push(...claims.map(({ runId }) => runId)),
    leaseOver: () => {
      leasesOver += 1;
    },
    log: (line) => void said.push(line),
  });
  t.teardown(() => connection.close());
  connection.open();
  const be = (more: Partial<Hello>) => {
    hello = { ...hello, ...more };
  };
  return { service, clock, connection, taken, dropped, told, said, be, leasesOver: () => leasesOver };
}

/** Like {@link scene}, after the service's welcome. */
async function welcomed(t: Test): Promise<Scene> {
  const made = await scene(t);
  await made.service.frame("hello");
  made.service.welcome();
  await made.clock.waits(LEASE_MS / 3);
  return made;
}

/** Drops the connection, and waits until the runner reconnects after the first wait. */
async function reconnect({ service, clock }: Scene): Promise<void> {
  const before = clock.waitsMs.length;
  const connections = service.connections;
  service.cut();
  await clock.waits(187.5, before);
  clock.advance(188);
  await service.frame("hello", () => true, connections + 1);
}

/**
 * Drops as many connections as `mostMs` has values, each before its welcome. After each drop, the runner waits three
 * quarters of the value, and then reconnects.
 */
async function loseAll({ service, clock }: Scene, mostMs: readonly number[]): Promise<void> {
  for (const ms of mostMs) {
    const before = clock.waitsMs.length;
    const connections = service.connections;
    service.cut();
    await clock.waits(ms * 0.75, before);
    clock.advance(ms * 0.75 + 1);
    await service.frame("hello", () => true, connections + 1);
  }
}

const started = (runId: string): RunnerMessage => ({ type: "run.started", runId, fence: 1 });
const stop = (runId: string): ServiceMessage => ({ type: "run.stop", runId, fence: 1, reason: "stopped" });
const ended = (runId: string): RunnerMessage => ({
  type: "run.ended",
  runId,
  fence: 3,
  outcome: "stopped",
  ending: null,
  failure: null,
  checkouts: [],
  check: null,
  spent: null,
});

t.test("a hello says who the runner is; a beat every third of the lease says which claims it holds", async (t) => {
  const { service, clock, be } = await scene(t);
  t.same(await service.frame("hello"), { frame: "hello", protocol: 1, runnerId: null, received: 0, ...self });
  service.welcome();
  await clock.waits(LEASE_MS / 3);
  be({ claims: [{ runId: "run_1", fence: 4 }] });
  clock.advance(LEASE_MS / 3);
  t.same(await service.frame("beat"), { frame: "beat", ack: 0, claims: [{ runId: "run_1", fence: 4 }], beat: 1 });
});

t.test("what was not acknowledged is sent again after the next welcome, once and in order", async (t) => {
  const made = await welcomed(t);
  const { service, connection } = made;
  for (const runId of ["a", "b", "c", "d"]) connection.send(started(runId));
  await service.frame("message", ({ n }) => n === 4);
  service.send({ frame: "ack", ack: 1 });
  service.tell(stop("a"), 2);
  await service.frame("ack");
  await reconnect(made);
  connection.send(started("e"));
  t.same(service.messages(2), [], "nothing comes before the welcome");
  // The service had also received the third message. Only the acknowledgement of this message was lost.
  service.welcome({ received: 3 });
  await service.frame("message", ({ n }) => n === 5, 2);
  t.same(service.messages(2), [
    { n: 4, message: started("d") },
    { n: 5, message: started("e") },
  ]);
  const settled = connection.settled();
  service.send({ frame: "ack", ack: 5 });
  await settled;
  await reconnect(made);
  service.welcome({ received: 5 });
  connection.send(started("f"));
  await service.frame("message", ({ n }) => n === 6, 3);
  t.same(service.messages(3), [{ n: 6, message: started("f") }]);
});

t.test("a message of the service that comes twice is taken once, and acknowledged again", async (t) => {
  const made = await welcomed(t);
  const { service, taken } = made;
  const n = service.tell(stop("a"));
  await service.frame("ack", ({ ack }) => ack === n);
  await reconnect(made);
  const hello = await service.frame("hello", () => true, 2);
  t.match(hello, { runnerId: "runner_1", received: n }, "the next hello says what was taken");
  service.welcome();
  service.send({ frame: "message", n, ack: 0, message: stop("a") });
  await service.frame("ack", ({ ack }) => ack === n, 2);
  service.tell(stop("b"));
  await service.frame("ack", ({ ack }) => ack === n + 1, 2);
  t.same(taken, [stop("a"), stop("b")]);
});

t.test("waits between attempts double up to a bound, are spread, and begin anew after a welcome", async (t) => {
  const made = await scene(t);
  const { service, clock } = made;
  await service.frame("hello");
  await loseAll(made, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  const before = clock.waitsMs.length;
  service.welcome();
  await clock.waits(LEASE_MS / 3, before);
  await reconnect(made);
  t.equal(service.connections, 10);
});

t.test("while the lease holds, no wait between attempts is longer than half a beat", async (t) => {
  const made = await welcomed(t);
  const halfBeat = LEASE_MS / 6;
  await loseAll(made, [250, 500, 1_000, 2_000, 4_000, 8_000, halfBeat, halfBeat, halfBeat]);
  t.equal(made.leasesOver(), 0);
  made.clock.advance(LEASE_MS);
  t.equal(made.leasesOver(), 1);
  await loseAll(made, [15_000]);
});

t.test("a token that is not taken is said, tried again slowly, and works once it is", async (t) => {
  const { service, clock, said } = await scene(t, "new-token");
  await clock.waits(22_500);
  t.match(said, [/the service rejected the pool token/, /^retrying in 23 seconds, and then repeatedly/]);
  t.equal(service.connections, 0);
  service.token = "new-token";
  clock.advance(22_500);
  await service.frame("hello");
  t.equal(service.refusals, 1);
});

t.test("why the service refuses the connection is said as it says it; what is no problem, by its status", async (t) => {
  const answers = [
    [503, '{"detail":"This service was started with --read-only."}', "503: This service was started with --read-only."],
    [503, "<h1>Away</h1>", "503"],
    [502, JSON.stringify({ detail: "x".repeat(5_000) }), "502"],
  ] as const;
  for (const [status, body, said] of answers) {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => new Promise((resolve) => server.close(resolve)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { said: lines } = await scene(t, "pool-token", url);
    await until("it is said", () => lines.length > 0);
    t.equal(lines[0], `cannot connect to ${url}: the service responded with status ${said}`);
  }
});

t.test("that the service does not answer is said at once, and then once a minute", async (t) => {
  const { clock, said } = await scene(t, "pool-token", "http://127.0.0.1:1");
  const saidAtMs: number[] = [];
  const untilMs = clock.now() + 100_000;
  let before = 0;
  for (let most = 250; clock.now() < untilMs; most = Math.min(2 * most, 15_000)) {
    await clock.waits(most * 0.75, before);
    if (said.length > saidAtMs.length) saidAtMs.push(clock.now());
    before = clock.waitsMs.length;
    clock.advance(most * 0.75 + 1);
  }
  const [first = 0, second = 0, ...more] = saidAtMs;
  t.ok(second - first >= 60_000 && more.length === 0, `${saidAtMs}`);
  for (const line of said) t.match(line, /^the connection to .* failed: .*; retrying$/);
});

t.test("the welcome says which claims are over; a run's end is claimed until it is acknowledged", async (t) => {
  const made = await welcomed(t);
  const { service, connection, dropped, be } = made;
  be({ claims: [{ runId: "a", fence: 1 }] });
  connection.send(ended("b"));
  await service.frame("message");
  await reconnect(made);
  const hello = await service.frame("hello", () => true, 2);
  t.same(hello.claims, [
    { runId: "a", fence: 1 },
    { runId: "b", fence: 3 },
  ]);
  const claims = [
    { runId: "a", fence: 1, verdict: "drop" as const },
    { runId: "b", fence: 3, verdict: "keep" as const },
  ];
  service.welcome({ claims });
  await service.frame("message", () => true, 2);
  t.same(dropped, ["a"]);
});

t.test("a lease counts from when the last beat that got through was sent, and is over once", async (t) => {
  const made = await welcomed(t);
  const { service, clock, leasesOver } = made;
  clock.advance(LEASE_MS / 3);
  const { beat } = await service.frame("beat");
  service.send({ frame: "ack", ack: 0, beat });
  service.tell(stop("a"));
  await service.frame("ack", ({ ack }) => ack === 1);
  clock.advance(LEASE_MS / 6);
  // Only the answer to a heartbeat renews the lease. This message does not.
  service.tell(stop("b"));
  await service.frame("ack", ({ ack }) => ack === 2);
  await reconnect(made);
  // No welcome arrives, and the lease keeps running.
  clock.advance(LEASE_MS - LEASE_MS / 6 - 188 - 1);
  t.equal(leasesOver(), 0);
  clock.advance(1);
  t.equal(leasesOver(), 1);
  clock.advance(10 * LEASE_MS);
  t.equal(leasesOver(), 1);
});

t.test("claims that are given up after a hello that named them are taken back by another hello", async (t) => {
  const { service, clock, be, leasesOver } = await welcomed(t);
  be({ claims: [{ runId: "a", fence: 1 }] });
  let before = clock.waitsMs.length;
  service.cut();
  await clock.waits(187.5, before);
  clock.advance(LEASE_MS - 5_000);
  t.match(await service.frame("hello", () => true, 2), { claims: [{ runId: "a", fence: 1 }] });
  before = clock.waitsMs.length;
  be({ claims: [] });
  clock.advance(5_000);
  t.equal(leasesOver(), 1, "before the service welcomed it, which would have kept the claim");
  await clock.waits(375, before);
  clock.advance(375);
  t.match(await service.frame("hello", () => true, 3), { claims: { length: 0 } });
});

t.test("a welcome renews the lease from when its hello was sent", async (t) => {
  const made = await welcomed(t);
  const { service, clock, leasesOver } = made;
  clock.advance(LEASE_MS / 6);
  await reconnect(made);
  clock.advance(5_000);
  const before = clock.waitsMs.length;
  service.welcome();
  await clock.waits(LEASE_MS / 3, before);
  service.cut();
  await clock.waits(187.5, before);
  clock.advance(LEASE_MS - 5_000 - 1);
  t.equal(leasesOver(), 0);
  clock.advance(1);
  t.equal(leasesOver(), 1);
});

t.test("a connection on which a beat stays unanswered until the next is given up for another", async (t) => {
  const { service, clock, leasesOver } = await welcomed(t);
  clock.advance(LEASE_MS / 3);
  await service.frame("beat");
  const before = clock.waitsMs.length;
  clock.advance(LEASE_MS / 3);
  await clock.waits(187.5, before);
  clock.advance(188);
  await service.frame("hello", () => true, 2);
  t.equal(leasesOver(), 0);
});

t.test("a service that does not welcome is left after ten seconds", async (t) => {
  const { service, clock } = await scene(t);
  await service.frame("hello");
  clock.advance(10_000);
  await clock.waits(187.5);
  clock.advance(188);
  await service.frame("hello", () => true, 2);
});

t.test("a frame that the runner does not know ends the connection, not the runner", async (t) => {
  const made = await welcomed(t);
  const { service, clock, said, taken } = made;
  let connections = 1;
  for (const text of ["no json", '{"frame":"unheard of"}', '{"frame":"ack","ack":-1}', "null"]) {
    const before = clock.waitsMs.length;
    service.sendText(text);
    await clock.waits(187.5, before);
    clock.advance(188);
    connections += 1;
    await service.frame("hello", () => true, connections);
    service.welcome();
    await clock.waits(LEASE_MS / 3, before);
  }
  t.same(service.closed, [4400, 4400, 4400, 4400]);
  t.equal(said.filter((line) => /does not know/.test(line)).length, 4);
  t.same(taken, []);
});

t.test("makers of messages wait while a thousand are unacknowledged, or until they are told to end", async (t) => {
  const { service, connection } = await welcomed(t);
  const { signal } = new AbortController();
  for (let count = 0; count < 999; count += 1) connection.send(started("a"));
  await connection.waitForCapacity(signal);
  connection.send(started("a"));
  let isRoom = false;
  const room = connection.waitForCapacity(signal).then(() => {
    isRoom = true;
  });
  const ending = new AbortController();
  const ended = connection.waitForCapacity(ending.signal);
  await service.frame("message", ({ n }) => n === 1_000);
  ending.abort();
  await ended;
  t.notOk(isRoom);
  service.send({ frame: "ack", ack: 1 });
  await room;
  service.send({ frame: "ack", ack: 1_000 });
  await connection.settled();
});

t.test(
  "kept commits are reported when a beat is answered and all is received; what is said of them is passed on",
  async (t) => {
    const { service, clock, connection, told } = await scene(t);
    const commit = { repository: "acme/app", commit: "a".repeat(40) };
    await service.frame("hello");
    connection.sendRetained({ frame: "kept", commits: [commit] });
    service.welcome({ features: ["commits"] });
    await clock.waits(LEASE_MS / 3);
    t.same(told, ["begin"]);
    connection.send(started("a"));
    await service.frame("message");
    const beat = async (n: number) => {
      clock.advance(LEASE_MS / 3);
      const { beat: number } = await service.frame("beat", (frame) => frame.beat === n);
      return number;
    };
    service.send({ frame: "ack", ack: 0, beat: await beat(1) });
    service.send({ frame: "wanted", commits: [{ ...commit, archiveId: "arc_1", mayFetch: false }] });
    await until("it is passed on", () => told.length === 2);
    t.same(told.splice(0), ["begin", `wanted ${commit.commit}`], "a message is not received yet");
    service.send({ frame: "ack", ack: 1, beat: await beat(2) });
    await until("it is reported", () => told.length === 1);
    connection.sendRetained({ frame: "kept", commits: [commit] });
    t.same((await service.frame("kept")).commits, [commit]);
    service.send({ frame: "released", commits: [commit] });
    await until("it is passed on", () => told.length === 2);
    t.same(told, ["report", `release ${commit.commit}`]);
  },
);
