import t from "tap";
import { deliveries } from "../../../../actors/integration-work/deliveries/delivery.table.js";
import { findBody } from "../../../../actors/integration-work/deliveries/delivery-body.table.js";
import {
  newDelivery,
  onLookedUp,
  onRaised,
  onWatched,
} from "../../../../actors/integration-work/deliveries/delivery-progress.js";
import { emptyIntake, type IntakeContext } from "../../../../actors/integration-work/intake/delivery-intake.js";
import { deliveryIntakeActor } from "../../../../actors/integration-work/intake/delivery-intake.machine.js";
import { queuedDeliveries } from "../../../../actors/integration-work/intake/delivery-intake.table.js";
import { resources } from "../../../../actors/resources/resource.table.js";
import { deliveryWorld } from "../../../support/delivery-world.js";
import { intake } from "../../../support/intake-by-hand.js";
import { expr } from "../../../support/integration.js";
import { INTEGRATION, WORKSPACE } from "../../../support/integration-rows.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

const told = ({ sent }: { sent: readonly { to: { id: string }; message: { type: string } }[] }) =>
  sent.filter(({ message }) => message.type.startsWith("delivery.")).map(({ to, message }) => [message.type, to.id]);

t.test("eight have a place, and are raised in order of arrival; only one that waits is overtaken", async (t) => {
  const { actor, take, id, end } = intake();
  const ids = Array.from({ length: 10 }, () => id(take()));
  const [first = "", second = "", third = ""] = ids;
  t.equal(actor.context<IntakeContext>().working.length, 8);
  t.match(actor.context<IntakeContext>(), { queued: 2, upcoming: ids.slice(8) });
  const ready = (which: string) => told(actor.take({ type: "delivery.ready", id: which } as never));
  t.same(ready(third), [], "two came before it");
  t.same(ready(second), []);
  t.same(told(end(first)), [
    ["delivery.raise", second],
    ["delivery.work", ids[8]],
  ]);
  const waits = actor.take({ type: "delivery.left", id: second, isOver: false, bytes: 2 } as never);
  t.same(told(waits), [
    ["delivery.raise", third],
    ["delivery.work", ids[9]],
  ]);
  t.same(told(actor.take({ type: "delivery.due", id: second } as never)), [], "there is no place");
  t.same(told(end(third)), [["delivery.work", second]], "the oldest goes first");
  t.match(actor.context<IntakeContext>(), { backlog: 8, ended: 2 });
});

t.test(
  "of an integration that is gone none is taken, before what is stored is cleared, meanwhile and after that",
  async (t) => {
    const { actor, rows, take, id, stored } = intake();
    const first = id(take("a"));
    const integration = resources.get(rows, WORKSPACE, "integration", INTEGRATION);
    if (integration === undefined) throw new Error("there is no integration");
    resources.remove(rows, WORKSPACE, "integration", INTEGRATION);
    const refused = { answer: { refused: "not-found" }, stopped: false };
    t.match(take("b"), refused);
    actor.take({ type: "intake.check" } as never);
    t.match(take("c"), refused);
    t.same(
      stored().map((row) => row.id),
      [first],
    );
    const cleared = () => actor.take({ type: "woken", name: "clear", dueMs: actor.now } as never);
    cleared();
    t.match(cleared(), { stopped: true });
    const { actor: begun, rows: none, take: takeAnew, stored: storedAnew } = intake();
    resources.remove(none, WORKSPACE, "integration", INTEGRATION);
    t.match(takeAnew("d"), { ...refused, stopped: true });
    t.same([storedAnew(), begun.context<IntakeContext>()], [[], emptyIntake]);
  },
);

t.test("in a burst one delivery has a slot, in order, until no more arrive or the backlog is full", async (t) => {
  const { actor, takeAll, end } = intake();
  const working = () => actor.context<IntakeContext>().working.map((one) => one.id);
  const burst = (length: number) => takeAll(Array.from({ length }, () => null));
  const ids = [...burst(7), ...burst(8)];
  t.same(working(), ids.slice(0, 7), "deliveries that have a slot keep it");
  for (const each of ids.slice(0, 6)) {
    end(each);
    ids.push(...burst(8));
  }
  t.same(working(), ids.slice(6, 7));
  end(ids[6] ?? "");
  t.same(working(), ids.slice(7, 8), "the next delivery has the only slot");
  ids.push(...burst(8));
  end(ids[7] ?? "");
  t.same(working(), ids.slice(8, 9));
  end(ids[8] ?? "");
  t.same(working(), ids.slice(9, 17), "the burst is over");
  actor.restore("taking", { ...actor.context<IntakeContext>(), backlog: 10_000 });
  burst(8);
  for (const each of ids.slice(9, 17)) end(each);
  t.equal(working().length, 8, "a burst that is rejected does not slow down the processing");
});

t.test("fewer deliveries than slots at once are no burst, however many wait", async (t) => {
  const { actor, takeAll, end } = intake();
  const ids = Array.from({ length: 10 }, () => takeAll(Array(7).fill(null))).flat();
  for (const each of ids.slice(0, 30)) end(each);
  t.same(
    actor.context<IntakeContext>().working.map((one) => one.id),
    ids.slice(30, 38),
  );
});

t.test("an intake of an earlier release that withheld all slots gives them at its wake-up", async (t) => {
  const { actor, takeAll } = intake();
  const ids = takeAll(Array(40).fill(null));
  const before = { ...actor.context<IntakeContext>(), working: [], queued: 40, upcoming: ids.slice(0, 32) };
  const flood = { fromMs: actor.now, count: 3, untilMs: actor.now + 150 };
  const withheld = { arrivals: { flood, rush: flood }, pacedUntilMs: actor.now + 25, willGivePlaces: true };
  const upgraded = deliveryIntakeActor.migrate?.({ value: "taking", context: { ...before, ...withheld } }, 2);
  t.strictSame(upgraded, { value: "taking", context: before });
  actor.restore(upgraded?.value, { ...before, isBurst: false });
  actor.take({ type: "woken", name: "places", dueMs: actor.now } as never);
  t.same(
    actor.context<IntakeContext>().working.map((one) => one.id),
    ids.slice(0, 8),
  );
});

t.test("a long queue is in rows of many, and a delivery that is due again goes before what is younger", async (t) => {
  const { actor, takeAll, end, rows } = intake();
  const queued = () => queuedDeliveries.list(rows, WORKSPACE, [INTEGRATION]);
  const ids = [20, 10, 10, 10, 10, 10, 10, 10, 10].flatMap((length) => takeAll(Array.from({ length }, () => null)));
  t.match(actor.context<IntakeContext>(), { queued: 99, upcoming: ids.slice(1, 33) });
  t.same(
    queued(),
    [33, 40, 50, 60, 70, 80, 90].map((from) => ids.slice(from, from === 33 ? 40 : from + 10)),
  );
  const worked: string[] = [];
  const leave = (which: string) => actor.take({ type: "delivery.left", id: which, isOver: false, bytes: 2 } as never);
  for (const [index, each] of ids.slice(0, 45).entries())
    worked.push(...told(index === 20 || index === 21 ? leave(each) : end(each)).map(([, which = ""]) => which));
  t.same(worked, ids.slice(1, 53), "one at a time in the burst, then eight");
  const [overtaken = "", waited = ""] = ids.slice(20);
  actor.take({ type: "delivery.due", id: waited } as never);
  actor.take({ type: "delivery.due", id: overtaken } as never);
  t.match(actor.context<IntakeContext>(), { queued: 49, upcoming: [overtaken, waited, ...ids.slice(53, 60)] });
  for (const each of [...ids.slice(45, 53), overtaken, waited, ...ids.slice(53)])
    worked.push(...told(end(each ?? "")).map(([, which = ""]) => which));
  t.same(worked.slice(52), [overtaken, waited, ...ids.slice(53)]);
  t.same(queued(), []);
  t.match(actor.context<IntakeContext>(), { queued: 0, backlog: 0, ended: 100, working: { length: 0 } });
});

t.test("what an earlier release queued, a row each, is worked in its order before what comes", async (t) => {
  const { actor, take, id, end, rows } = intake();
  const ids = Array.from({ length: 44 }, (_, n) => `dlv_00${String(n).padStart(2, "0")}`);
  for (const each of ids) queuedDeliveries.put(rows, WORKSPACE, [INTEGRATION, each], true);
  const stored = { value: "taking", context: { ...emptyIntake, queued: 44, upcoming: ids.slice(0, 32) } };
  const upgraded = deliveryIntakeActor.migrate?.(stored, 1);
  actor.restore(upgraded?.value, upgraded?.context);
  const late = id(take());
  for (const each of ids) end(each);
  t.same(
    actor.context<IntakeContext>().working.map((one) => one.id),
    [late],
  );
  t.equal(queuedDeliveries.list(rows, WORKSPACE, [INTEGRATION]).length, 0);
});

t.test("a body is in its row, beside it or shared by its length, is found again, and goes with its row", async (t) => {
  for (const [bytes, place] of [
    [0, "row"],
    [4_096, "row"],
    [4_097, "beside"],
    [65_535, "beside"],
    [65_536, "shared"],
  ] as const) {
    const { take, id, end, stored, rows, actor } = intake();
    const first = id(take("a", bytes));
    const [row] = stored();
    if (row === undefined) throw new Error("nothing was taken");
    const beside = () => rows.range({ prefix: [WORKSPACE, "row", "delivery-body"] }).length;
    t.equal(row.body?.bytes, bytes);
    t.equal(row.body?.content !== undefined, place === "row", `${bytes} bytes`);
    t.equal(row.body?.digest !== null, place === "shared");
    t.equal(beside(), place === "beside" ? 1 : 0);
    t.equal(findBody(rows, WORKSPACE, row)?.length, bytes);
    end(first);
    t.match(actor.take({ type: "delivery.redeliver", id: first } as never).answer, { replayed: false });
    const again = stored()[1];
    if (again === undefined) throw new Error("nothing was repeated");
    t.same(findBody(rows, WORKSPACE, again), findBody(rows, WORKSPACE, row));
    end(again.id);
    actor.now += 31 * DAY_MS;
    actor.take({ type: "woken", name: "sweep", dueMs: actor.now } as never);
    t.same([stored().length, beside()], [0, 0]);
  }
});

t.test("the body of a delivery of an earlier release stands beside it, however short", async (t) => {
  const { take, id, end, stored, rows, actor } = intake();
  const first = id(take("a", 100));
  const [row] = stored();
  if (row?.body?.content === undefined) throw new Error("the body is not in its row");
  const { content, ...body } = row.body;
  deliveries.put(rows, WORKSPACE, row, { ...row, body });
  rows.put([WORKSPACE, "row", "delivery-body", INTEGRATION, first], content);
  t.same(findBody(rows, WORKSPACE, { ...row, body }), content);
  end(first);
  actor.take({ type: "delivery.redeliver", id: first } as never);
  t.same(stored()[1]?.body?.content, content);
  actor.now += 31 * DAY_MS;
  end(stored()[1]?.id ?? "");
  actor.take({ type: "woken", name: "sweep", dueMs: actor.now } as never);
  t.same([stored().length, rows.range({ prefix: [WORKSPACE, "row", "delivery-body"] }).length], [0, 0]);
});

t.test("beyond the most that may wait a delivery is refused for a while, and one that is known is not", async (t) => {
  for (const full of [{ backlog: 10_000 }, { backlogBytes: 256 * 1024 * 1024 }]) {
    const { take, actor, stored } = intake();
    const known = take("a");
    actor.restore("taking", { ...actor.context<IntakeContext>(), ...full });
    t.match(take("b").answer, { refused: "too-many-requests", retryAfterSeconds: 30 });
    t.match(take("a").answer, { isRepeated: true });
    t.equal(stored().length, 1);
    t.ok(known.taken);
  }
});

t.test("old bodies go first, then old deliveries; what is thirty days old goes with its key", async (t) => {
  const { actor, take, id, end, stored, rows } = intake();
  const ids = Array.from({ length: 4 }, (_, n) => id(take(`k${n}`, 100)));
  for (const each of ids.slice(0, 3)) end(each);
  actor.restore("taking", { ...actor.context<IntakeContext>(), bytes: 256 * 1024 * 1024 });
  take(null, 150);
  t.same(
    stored().map(({ body }) => body?.bytes ?? null),
    [null, null, 100, 100, 150],
  );
  t.equal(actor.context<IntakeContext>().bytes, 256 * 1024 * 1024 - 50);
  const gone = actor.take({ type: "delivery.redeliver", id: ids[0] } as never);
  t.match(gone.answer, { refused: "body-gone" });
  actor.restore("taking", { ...actor.context<IntakeContext>(), ended: 10_000 });
  end(ids[3] ?? "");
  t.same(
    stored()
      .map(({ id }) => id)
      .includes(ids[0] ?? ""),
    false,
  );
  actor.now += 31 * DAY_MS;
  actor.take({ type: "woken", name: "sweep", dueMs: actor.now } as never);
  t.same(
    stored().map(({ state }) => state),
    ["working"],
    "what is not over stays",
  );
  t.equal(rows.range({ prefix: [WORKSPACE, "row", "delivery-key"] }).length, 0);
});

t.test("a period is worked again, 20 a second, and twice asked for once", async (t) => {
  const { actor, take, id, end, stored } = intake();
  const ids = Array.from({ length: 25 }, () => id(take()));
  for (const each of ids) end(each, "failed");
  const period = { fromMs: actor.now - 1, toMs: actor.now + 1, states: ["failed"], after: null };
  t.equal(actor.take({ type: "deliveries.redeliver", period } as never).answer, null);
  actor.take({ type: "deliveries.redeliver", period } as never);
  const redelivered = () => stored().filter(({ source }) => source === "redelivery").length;
  const counts: number[] = [];
  for (let second = 0; second < 4; second++) {
    actor.take({ type: "woken", name: "redeliver", dueMs: actor.now } as never);
    counts.push(redelivered());
    actor.now += 1_000;
  }
  t.same(counts, [20, 25, 25, 25]);
  t.same(actor.context<IntakeContext>().periods, []);
});

t.test("what was worked again in vain is worked again with a later period, until it is done", async (t) => {
  const { actor, take, id, end, stored } = intake();
  end(id(take()), "unrouted");
  const latest = () => stored().findLast(({ source }) => source === "redelivery")?.id ?? "";
  const states = ["failed", "unrouted"];
  const ask = () => {
    actor.take({
      type: "deliveries.redeliver",
      period: { fromMs: 0, toMs: actor.now + 1, states, after: null },
    } as never);
    actor.take({ type: "woken", name: "redeliver", dueMs: actor.now } as never);
    actor.now += 1_000;
    return stored().filter(({ source }) => source === "redelivery").length;
  };
  t.equal(ask(), 1);
  t.equal(ask(), 1, "that is not over");
  end(latest(), "unrouted");
  t.equal(ask(), 2, "it was in vain");
  end(latest());
  t.equal(ask(), 2, "it was worked with success");
});

t.test("what is stored goes with the integration, in slices", async (t) => {
  const { actor, take, rows, stored } = intake();
  for (let n = 0; n < 120; n++) take(`k${n}`);
  actor.take({ type: "delivery.refuse", count: 1, latest: [{ headers: {}, bytes: 1 }] } as never);
  t.notOk(actor.take({ type: "intake.check" } as never).taken, "it is there");
  rows.remove([WORKSPACE, "row", "resource", "integration", INTEGRATION]);
  actor.take({ type: "intake.check" } as never);
  t.equal(actor.value, "clearing");
  let turns = 0;
  while (!actor.take({ type: "woken", name: "clear", dueMs: 0 } as never).stopped) turns += 1;
  t.ok(turns > 1, `${turns} turns`);
  t.same(stored(), []);
  for (const name of ["delivery-key", "delivery-queued", "delivery-refused", "delivery-in"])
    t.same(rows.range({ prefix: [WORKSPACE, "row", name] }), [], name);
});

t.test("a lookup waits for access that is being renewed; without any it captures nothing", async (t) => {
  const lookup = { place: { event: 0, item: 0 }, item: null, values: "{}" };
  const context = { ...newDelivery, lookup };
  const none = { at: "", tookMs: 0, method: null, origin: null, status: null, success: false, response: null };
  const result = { ...none, captures: "{}", code: "not-connected", reason: "it has no usable connection" } as const;
  t.match(onLookedUp(context, { ...result, retryAfterMs: 30_000 }), { does: "wait", waitMs: 30_000 });
  t.match(onLookedUp(context, { ...result, retryAfterMs: null }), { does: "evaluate", context: { captures: "{}" } });
});

t.test("a lookup is tried eight times; then its entry fails, and those after it are told", async (t) => {
  const world = await deliveryWorld({
    webhook: {
      events: [
        {
          forEach: expr("body.list"),
          lookup: { request: { url: "https://api.example.com/x" }, capture: { who: expr("response.who") } },
          raise: { say: expr("who == null ? 'nobody' : who"), marks: { of: { value: expr("item") } } },
        },
      ],
    },
  });
  world.lookup = ({ values }) => {
    const { item } = JSON.parse(values) as { item: string };
    if (item === "down") return { success: false, code: "server-error", reason: "it responded 503" };
    if (item === "absent") return { success: false, code: "rejected", reason: "it responded 404" };
    return { captures: '{"who":"ada"}' };
  };
  const waiting = world.send({ json: { list: ["down", "absent", "there"] } });
  const later = world.send({ json: { list: ["there"] } });
  await world.harness.advance(3_000);
  const [first, second] = world.deliveries();
  t.match(first, { state: "waiting", attempts: 2, reason: "lookup: it responded 503" });
  t.match(second, { state: "done" }, "it is overtaken");
  await world.harness.advance(10 * 60_000);
  await Promise.all([waiting, later]);
  t.match(world.deliveries()[0], { state: "done", attempts: 0 });
  t.equal(world.looked.length, 8 + 1 + 1 + 1);
  t.match(world.entries(first?.id ?? ""), [
    { item: 0, outcome: "failed", reason: "lookup: it responded 503" },
    { item: 1, outcome: "unmatched", reason: "lookup: it responded 404" },
    { item: 2, outcome: "unmatched", reason: null },
  ]);
  t.same(
    world.raised().map(({ say }) => say),
    ["ada", "nobody", "ada"],
  );
});

t.test("a raise that nobody answers fails when it is watched twice; an answer after that says nothing", async (t) => {
  const raise = {
    say: "x",
    opens: null,
    branch: null,
    marks: [],
    channel: null,
    attaches: null,
    unrouted: null,
    note: null,
  };
  const entries = [0, 1].map((item) => ({ event: 0, item, raise }));
  const raising = { ...newDelivery, mayRaise: true, entries };
  const once = onWatched(raising);
  t.match(once, { does: "nothing" });
  const answer = (key: string) =>
    ({ type: "task.raised", deliveryId: "d", key, outcome: "said", taskId: "t", reason: null }) as const;
  t.match(onWatched(onRaised(once.context, answer("d:0:0")).context), { does: "nothing" }, "it went on");
  const late = onWatched(once.context);
  t.match(late, { does: "raise", context: { told: [{ outcome: "failed", reason: "the task did not answer" }] } });
  t.match(onRaised(late.context, answer("d:0:0")), { does: "nothing" });
  t.match(onRaised(late.context, answer("d:0:1")), { does: "end", end: { state: "done" } });
});

t.test("refused deliveries are one report with their number, and without their headers", (t) => {
  const { actor } = intake();
  const latest = [{ headers: { "x-signature": "canary" }, bytes: 1, reason: "signature" }];
  const { intents } = actor.take({ type: "delivery.refuse", count: 3, latest } as never);
  const reports = intents.flatMap((intent) => (intent.kind === "report" ? [intent.report] : []));
  t.match(reports, [
    {
      line: { level: "warn", message: "delivery refused" },
      details: { integrationId: INTEGRATION, reason: "signature", count: 3 },
    },
  ]);
  t.notMatch(JSON.stringify(reports), "canary");
  t.end();
});
