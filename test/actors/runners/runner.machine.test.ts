import t from "tap";
import type { RunnerMessage } from "../../../actors/runners/protocol.js";
import { runnerActor } from "../../../actors/runners/runner.machine.js";
import type { RunnerHello } from "../../../actors/runners/runner.messages.js";
import { connectedRunners, outbox } from "../../../actors/runners/runner.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const LEASE_MS = 30_000;
const NOW = Date.parse("2026-01-01T00:00:00.000Z");

const hello = (more: Partial<RunnerHello["hello"]> = {}, connection = "con_1"): Message =>
  ({
    type: "runner.hello",
    connection,
    poolId: "pool_1",
    leaseMs: LEASE_MS,
    hello: {
      instance: "instance_1",
      name: "one",
      version: "1",
      labels: ["gpu"],
      harnesses: ["command"],
      slots: 2,
      received: 0,
      claims: [],
      ...more,
    },
  }) as RunnerHello;
const said = (n: number, message: RunnerMessage, more = {}): Message =>
  ({ type: "runner.said", connection: "con_1", n, ack: 0, message, ...more }) as Message;
const tell = (type: string, runId = "run_1", fence = 1): Message =>
  ({ type: "tell", message: { type, runId, fence } }) as Message;
const started: RunnerMessage = { type: "run.started", runId: "run_1", fence: 1 };
const woken = (lateMs: number): Message =>
  ({ type: "woken", name: "lease", dueMs: NOW + LEASE_MS - lateMs }) as Message;

/** One message of each kind that a runner's actor handles. Wake-ups arrive one lease after the start. */
const messages: Record<string, Message> = {
  hello: hello(),
  "hello of another instance": hello({ instance: "instance_2" }, "con_2"),
  said: said(1, started),
  "said on an older connection": said(1, started, { connection: "con_0" }),
  "said after what was not taken": said(2, started, { follows: 1 }),
  offer: said(1, { type: "offer", slots: 0 }),
  beat: { type: "runner.beat", connection: "con_1", ack: 0 } as Message,
  "beat on an older connection": { type: "runner.beat", connection: "con_0", ack: 0 } as Message,
  left: { type: "runner.left", connection: "con_1" } as Message,
  "left on an older connection": { type: "runner.left", connection: "con_0" } as Message,
  adrift: { type: "runner.adrift" } as Message,
  assign: tell("run.assign"),
  drop: tell("run.drop"),
  "claim ended": { type: "claim.ended", runId: "run_1" } as Message,
  woken: woken(0),
  "woken late": woken(251),
};

const paths: Record<string, readonly string[]> = {
  absent: [],
  connected: ["hello", "assign"],
  away: ["hello", "assign", "left"],
};

/** State x message -> next state. The machine refuses each message that the table does not list for a state. */
const table: Record<string, Record<string, string>> = {
  absent: { hello: "connected", "hello of another instance": "connected", assign: "absent", drop: "absent" },
  connected: {
    hello: "connected",
    "hello of another instance": "connected",
    said: "connected",
    offer: "connected",
    beat: "connected",
    left: "away",
    adrift: "away",
    assign: "connected",
    drop: "connected",
    "claim ended": "connected",
    woken: "away",
    "woken late": "connected",
  },
  away: {
    hello: "connected",
    "hello of another instance": "connected",
    adrift: "away",
    assign: "away",
    drop: "away",
    "claim ended": "away",
    woken: "absent",
    "woken late": "away",
  },
};

function runner(path: readonly string[]): Stepping {
  const stepping = stepByHand(runnerActor, address(workspaceId, "runner", "runner_1"), { now: NOW });
  for (const name of path) if (!stepping.take(message(name)).taken) throw new Error(`${name} was refused`);
  return stepping;
}

function message(name: string): Message {
  const found = messages[name];
  if (found === undefined) throw new Error(name);
  return found;
}

const toLost = ({ sent }: TurnTaken) =>
  sent.flatMap(({ to, message: { type } }) => (type === "claim.lost" ? [to.id] : []));
const listOffers = ({ sent }: TurnTaken) =>
  sent.flatMap(({ message: said }) => (said.type === "runner.offer" ? [(said as unknown as Offer).runner] : []));
const toClaims = (stepping: Stepping) => stepping.context<{ claims: Record<string, number> }>().claims;
const waiting = ({ rows }: Stepping) =>
  outbox.entries(rows, workspaceId, ["runner_1"]).map(({ key, value }) => `${key.at(-1)} ${value.type}`);

interface Offer {
  readonly runner: { readonly connected: boolean; readonly slots: number };
}

for (const [state, path] of Object.entries(paths)) {
  for (const name of Object.keys(messages)) {
    const wanted = table[state]?.[name];
    t.test(`${state} x ${name}: ${wanted ?? "refused"}`, async (t) => {
      const stepping = runner(path);
      stepping.now = NOW + LEASE_MS;
      const turn = stepping.take(message(name));
      t.equal(turn.taken, wanted !== undefined);
      if (wanted === undefined) return t.same(turn.intents, []);
      t.equal(stepping.value, wanted);
    });
  }
}

t.test("the first hello is answered, offered to the dispatcher, and begins the lease", async (t) => {
  const stepping = runner([]);
  const turn = stepping.take(hello({ claims: [{ runId: "run_9", fence: 4 }] }));
  t.same(turn.answer, { received: 0, claims: [{ runId: "run_9", fence: 4, verdict: "drop" }] });
  t.match(listOffers(turn), [{ runnerId: "runner_1", poolId: "pool_1", labels: ["gpu"], slots: 2, connected: true }]);
  t.same(turn.wakes, [{ name: "lease", dueMs: NOW + LEASE_MS }]);
  t.equal(connectedRunners.list(stepping.rows).length, 1);
});

t.test("a message is taken after the one that it follows, and not without it", async (t) => {
  const stepping = runner(["hello"]);
  t.equal(stepping.take(said(3, started, { follows: 2 })).taken, false);
  t.equal(stepping.take(said(2, started)).taken, true, "the first of a connection follows none");
  t.equal(stepping.take(said(3, started, { follows: 2 })).taken, true);
  t.same(stepping.take(said(3, started, { follows: 2 })).answer, { received: 3 }, "again, and only acknowledged");
});

t.test("a runner that comes back keeps the claims it holds under their fences, and loses the others", async (t) => {
  const stepping = runner(["hello"]);
  for (const runId of ["run_1", "run_2", "run_3"]) stepping.take(tell("run.assign", runId));
  const claims = [
    { runId: "run_1", fence: 1 },
    { runId: "run_2", fence: 7 },
  ];
  const back = stepping.take(hello({ received: 3, claims }, "con_2"));
  t.same(
    (back.answer as { claims: { verdict: string }[] }).claims.map(({ verdict }) => verdict),
    ["keep", "drop"],
  );
  t.same(toLost(back), ["run_2", "run_3"]);
  t.same(toClaims(stepping), { run_1: 1 });
  t.same(waiting(stepping), [], "what it took is not sent again");
});

t.test("an assignment that the runner has not taken yet is no lost claim when it comes back", async (t) => {
  const stepping = runner(["hello", "assign", "left"]);
  const back = stepping.take(hello({ received: 0 }, "con_2"));
  t.same(toLost(back), []);
  t.same(waiting(stepping), ["1 run.assign"]);
});

t.test("a new instance has lost every claim, and numbers continue after the last that it received", async (t) => {
  const stepping = runner(["hello", "assign", "said"]);
  const anew = stepping.take(hello({ instance: "instance_2", claims: [{ runId: "run_1", fence: 1 }] }, "con_2"));
  t.same(toLost(anew), ["run_1"]);
  t.match(anew.answer, { received: 0, claims: [{ verdict: "drop" }] });
  t.same(waiting(stepping), []);
  stepping.take(tell("run.assign", "run_2"));
  t.same(waiting(stepping), ["1 run.assign"]);
});

t.test("a runner's message is accepted once, by its number, and forwarded to its run", async (t) => {
  const stepping = runner(["hello", "assign"]);
  const first = stepping.take(said(1, started, { ack: 1 }));
  t.match(first.sent, [{ to: { kind: "run", id: "run_1" }, message: { type: "run.said", runnerId: "runner_1" } }]);
  t.same(waiting(stepping), [], "it acknowledged the assignment");
  const again = stepping.take(said(1, started));
  t.same(again.sent, []);
  t.same(again.answer, { received: 1 });
});

t.test(
  "what a runner received leaves the outbox, whatever number it says, and in a state of an earlier release",
  async (t) => {
    const stepping = runner(["hello"]);
    for (const runId of ["run_1", "run_2", "run_3"]) stepping.take(tell("run.assign", runId));
    stepping.take(said(1, started, { ack: 1 }));
    t.same(waiting(stepping), ["2 run.assign", "3 run.assign"]);
    stepping.take(said(2, started, { ack: 0 }));
    stepping.take(said(3, started, { ack: Number.MAX_SAFE_INTEGER - 1 }));
    t.same(waiting(stepping), []);
    stepping.take(tell("run.assign", "run_4"));
    t.same(waiting(stepping), ["4 run.assign"], "an acknowledgement ahead of what was sent takes nothing of it");
    const { acknowledged: _unsaid, ...earlier } = stepping.context<{ acknowledged: number }>();
    stepping.restore("connected", earlier);
    stepping.take({ type: "runner.beat", connection: "con_1", ack: 4 } as Message);
    t.same(waiting(stepping), []);
  },
);

t.test("a runner that comes back has received more than was sent, and numbers go on from there", async (t) => {
  const stepping = runner(["hello", "left"]);
  stepping.take(hello({ received: Number.MAX_SAFE_INTEGER - 9 }, "con_2"));
  stepping.take(tell("run.assign"));
  t.same(waiting(stepping), [`${Number.MAX_SAFE_INTEGER - 8} run.assign`]);
  stepping.take(said(1, started, { connection: "con_2", ack: Number.MAX_SAFE_INTEGER - 8 }));
  t.same(waiting(stepping), []);
});

t.test("a runner that drains offers no slots", async (t) => {
  const stepping = runner(["hello"]);
  t.match(listOffers(stepping.take(message("offer"))), [{ slots: 0, connected: true }]);
});

t.test("a beat renews the lease", async (t) => {
  const stepping = runner(["hello"]);
  stepping.now = NOW + 10_000;
  t.same(stepping.take(message("beat")).wakes, [{ name: "lease", dueMs: NOW + 10_000 + LEASE_MS }]);
});

t.test("the end of a lease loses every claim, and a hanging runner gets no runs until its hello", async (t) => {
  const stepping = runner(["hello", "assign"]);
  stepping.now = NOW + LEASE_MS;
  const over = stepping.take(woken(0));
  t.same(toLost(over), ["run_1"]);
  t.match(listOffers(over), [{ connected: false }]);
  t.same(connectedRunners.list(stepping.rows), []);
  t.same(over.wakes, [{ name: "lease", dueMs: NOW + 2 * LEASE_MS }], "a claim given meanwhile is not forgotten");
  stepping.take(tell("run.assign", "run_2"));
  stepping.now = NOW + 2 * LEASE_MS;
  const gone = stepping.take({ type: "woken", name: "lease", dueMs: stepping.now } as Message);
  t.same(toLost(gone), ["run_2"]);
  t.ok(gone.stopped);
  t.ok(gone.sent.some(({ to, message: { type } }) => to.kind === "dispatcher" && type === "runner.forget"));
  t.same(waiting(stepping), []);
});

t.test("a late wake-up, as after an outage, extends the lease", async (t) => {
  for (const path of [paths.connected, paths.away]) {
    const stepping = runner(path ?? []);
    stepping.now = NOW + LEASE_MS;
    const turn = stepping.take(woken(251));
    t.same(toLost(turn), []);
    t.same(turn.wakes, [{ name: "lease", dueMs: NOW + 2 * LEASE_MS }]);
  }
});

t.test("a claim for a runner that is gone is lost at once", async (t) => {
  t.same(toLost(runner([]).take(tell("run.assign"))), ["run_1"]);
  t.same(runner([]).take(tell("run.stop")).sent, []);
});

t.test("an ended or dropped claim is not lost later", async (t) => {
  for (const end of [message("claim ended"), tell("run.drop")]) {
    const stepping = runner(["hello", "assign"]);
    stepping.take(end);
    t.same(toClaims(stepping), {});
  }
  const stepping = runner(["hello", "assign"]);
  stepping.take(tell("run.drop", "run_1", 7));
  t.same(toClaims(stepping), { run_1: 1 }, "a drop of another fence is not about this claim");
});

t.test("a runner stored by a release without features has none", async (t) => {
  const stepping = stepByHand(runnerActor, address(workspaceId, "runner", "runner_1"), { now: NOW });
  const offered = stepping.take(hello({ features: ["messages"] })).sent[0];
  t.match(offered, { message: { type: "runner.offer", runner: { features: ["messages"] } } });
  const { features: _features, ...context } = stepping.context<Record<string, unknown>>();
  const migrated = runnerActor.migrate?.({ value: "connected", context }, 1);
  t.match(migrated, { value: "connected", context: { ...context, features: { length: 0 } } });
});
