import t from "tap";
import { hookOccurrenceRef } from "../../../actors/hooks/hook-occurrence.messages.js";
import { effectSpace } from "../../../storage/keys.js";
import { HookWorld } from "./hook-world.js";

const KILLS = 100;
const EVENTS = 3;
const hooks = [
  { key: "first", on: "task.moved" },
  { key: "second", on: "task.moved" },
];
const over = ["delivered", "failed", "refused"];

/** When the process is killed: at one of these points on the way from an event to its delivery record. */
const borders: Readonly<Record<string, (world: HookWorld, events: readonly { isAcknowledged: boolean }[]) => boolean>> =
  {
    "event committed": (_world, events) => events.some(({ isAcknowledged }) => isAcknowledged),
    "occurrence queued": (world) => world.firings().length > 0,
    "request sent": (world) => world.received.length > 0,
    "answer recorded": (world) => world.firings().some(({ state }) => state !== "attempting"),
  };

async function kill(border: keyof typeof borders, seed: number): Promise<string[]> {
  // The first answer to every message is an error, so that retries are in progress too.
  const seen = new Set<string>();
  const answer = ({ webhookId }: { readonly webhookId: string }) => {
    const isFirst = !seen.has(webhookId);
    seen.add(webhookId);
    return { status: isFirst ? 503 : 200, body: "{}" };
  };
  const world = await HookWorld.create({ seed, answer }, hooks);
  const events = Array.from({ length: EVENTS }, () => world.happen("task.moved"));
  await world.until(() => borders[border]?.(world, events) === true);
  const acknowledged = events.filter(({ isAcknowledged }) => isAcknowledged);
  await world.steps(world.between(0, 3));
  await world.crashAndStart();
  const done = () => {
    const rows = world.firings();
    return rows.every(({ state }) => over.includes(state)) && rows.length >= acknowledged.length * hooks.length;
  };
  await world.until(done);
  // Let the work that remains finish, too.
  await world.steps(50);
  await world.until(done);

  const complaints: string[] = [];
  const rows = world.firings();
  for (const { occurrence } of acknowledged) {
    const fired = rows.filter(({ work }) => work.occurrence === occurrence);
    if (fired.length !== hooks.length) complaints.push(`${occurrence} fired ${fired.length} hooks`);
  }
  for (const { id, state, work, hook } of rows) {
    if (state !== "delivered") complaints.push(`${id} is ${state}`);
    const ids = world.received.filter((one) => one.body.occurrence === work.occurrence && one.hook === hook);
    const distinct = new Set(ids.map(({ webhookId }) => webhookId));
    if (distinct.size !== 1) complaints.push(`${id} was sent as ${[...distinct].join(", ")}`);
  }
  const pending = world.disk.reading.range({ prefix: [world.workspaceId, effectSpace, hookOccurrenceRef.kind] });
  if (pending.length > 0) complaints.push(`${pending.length} effects are left`);
  return complaints.map((complaint) => `seed ${seed}: ${complaint}`);
}

for (const border of Object.keys(borders)) {
  t.test(`killed when "${border}": no firing is lost or left waiting, and a message keeps its id`, async (t) => {
    const complaints: string[] = [];
    for (let seed = 1; seed <= KILLS; seed++) complaints.push(...(await kill(border, seed)));
    t.same(complaints, [], `${KILLS} kills`);
  });
}

t.test("five hundred hook occurrences that are pending at a start all continue", async (t) => {
  const world = await HookWorld.create({ seed: 7, answer: () => null }, [{ key: "first", on: "task.moved" }]);
  const events = Array.from({ length: 500 }, () => world.happen("task.moved"));
  await world.until(() => events.every(({ isAcknowledged }) => isAcknowledged));
  await world.until(() => world.firings().length === 500);
  t.ok(world.firings().every(({ state }) => state === "attempting"));
  const before = new Map(world.received.map((request) => [request.body.occurrence, request.webhookId]));
  t.ok(before.size > 0);
  world.answer = () => ({ status: 200, body: "{}" });
  await world.crashAndStart();
  await world.until(() => world.firings().every(({ state }) => state === "delivered"), 1_000_000);
  t.equal(world.firings().length, 500);
  const changed = world.received.filter(({ webhookId, body }) => {
    const known = before.get(body.occurrence);
    return known !== undefined && known !== webhookId;
  });
  t.same(changed, [], "each as the message that it was");
});

t.test("a crash loop costs attempts only to hooks whose requests had begun, and gives up none of them", async (t) => {
  const world = await HookWorld.create({ seed: 11, answer: () => null }, [{ key: "first", on: "task.moved" }]);
  const events = Array.from({ length: 200 }, () => world.happen("task.moved"));
  await world.until(() => events.every(({ isAcknowledged }) => isAcknowledged));
  for (let kill = 1; kill <= 8; kill++) {
    await world.world.advance(1_500);
    await world.crashAndStart();
  }
  await world.world.advance(1_000);
  const sent = new Map<string, number>();
  for (const { body } of world.received) sent.set(body.occurrence, (sent.get(body.occurrence) ?? 0) + 1);
  const wrong = world.firings().filter(({ id, state, work }) => {
    const requests = sent.get(work.occurrence) ?? 0;
    const attempts = world.listAttempts(id);
    const begun = state === "attempting" && requests > attempts.length ? requests - 1 : requests;
    return attempts.length !== begun || attempts.some(({ code }) => code !== "errored") || over.includes(state);
  });
  t.same(wrong, []);
  t.ok(sent.size >= 64, `${sent.size} receivers were asked`);
  world.answer = () => ({ status: 200, body: "{}" });
  await world.crashAndStart();
  await world.until(() => world.firings().every(({ state }) => state === "delivered"), 1_000_000);
  t.equal(world.firings().length, 200);
});

t.test(
  "a request that was under way when the process was killed is listed as an attempt, and the next one beside it",
  async (t) => {
    for (const on of ["task.moved", "run.starting"] as const) {
      const world = await HookWorld.create({ seed: 3, answer: () => null }, [{ key: "first", on }]);
      world.happen(on);
      await world.until(() => world.received.length === 1);
      await world.crashAndStart();
      await world.until(() => world.received.length === 2);
      world.answer = () => ({ status: 200, body: "{}" });
      await world.crashAndStart();
      await world.until(() => world.firings()[0]?.state === "delivered");
      t.same(
        world.attempts().map(({ n, code }) => [n, code]),
        [
          [1, "errored"],
          [2, "errored"],
          [3, null],
        ],
        on,
      );
      t.equal(new Set(world.received.map(({ webhookId }) => webhookId)).size, 1, "under the same id");
    }
  },
);
