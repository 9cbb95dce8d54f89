import t from "tap";
import { type Answers, HookWorld } from "../hook-world.js";

const HOOKS = 24;
const numbers = JSON.stringify(Array.from({ length: 45 }, (_, index) => index));
/**
 * An expression that costs about a third of an evaluation's budget. So the hooks of one event need more than two turns.
 */
const dear = `${numbers}.all(a, ${numbers}.exists(b, a == b))`;
const answer: Answers = () => ({ status: 200, body: "{}" });

/** Returns hooks for the event `on`; every second hook matches. */
function hooks(on: string, more: (index: number) => object = () => ({})) {
  return Array.from({ length: HOOKS }, (_, index) => ({
    key: `dear-${index}`,
    on,
    when: `${dear} && ${index % 2 === 0}`,
    ...more(index),
  }));
}

const matching = Array.from({ length: HOOKS / 2 }, (_, index) => `dear-${2 * index}`).sort();

t.test(
  "many expensive conditions are matched over several turns, and each hook fires once, across kills",
  async (t) => {
    for (let seed = 1; seed <= 12; seed++) {
      const world = await HookWorld.create({ seed, answer }, hooks("task.moved"));
      const events = [world.happen("task.moved"), world.happen("task.moved")];
      await world.until(() => events.some(({ isAcknowledged }) => isAcknowledged));
      for (let kill = 0; kill < 4; kill++) {
        await world.steps(world.between(0, 30));
        await world.crashAndStart();
      }
      const acknowledged = events.filter(({ isAcknowledged }) => isAcknowledged);
      const firedOn = (occurrence: string) => world.firings().filter(({ work }) => work.occurrence === occurrence);
      await world.until(() => acknowledged.every(({ occurrence }) => firedOn(occurrence).length >= HOOKS / 2));
      await world.until(() => world.firings().every(({ endedAt }) => endedAt !== null));
      await world.steps(200);
      for (const { occurrence } of acknowledged) {
        t.same(
          firedOn(occurrence)
            .map(({ hook }) => hook)
            .sort(),
          matching,
          `seed ${seed}`,
        );
      }
      const sent = new Map<string, Set<string>>();
      for (const { webhookId, hook, body } of world.received) {
        const name = `${body.occurrence} ${hook}`;
        sent.set(name, (sent.get(name) ?? new Set()).add(webhookId));
      }
      t.ok(
        [...sent.values()].every((ids) => ids.size === 1),
        "each under one id",
      );
      t.same(
        world.disk.reading.range({ prefix: [world.workspaceId, "row", "hook-judging"] }),
        [],
        "nothing is left waiting",
      );
    }
  },
);

t.test("a before event waits until all hooks are matched, and asks those that match", async (t) => {
  for (let seed = 1; seed <= 8; seed++) {
    const refuses = seed % 2 === 0;
    const says: Answers = ({ hook }) => ({
      status: 200,
      body: refuses && hook === `dear-${HOOKS - 2}` ? '{"refuse":"not now"}' : "{}",
    });
    const world = await HookWorld.create({ seed, answer: says }, hooks("run.starting"));
    const asked = world.happen("run.starting");
    await world.until(() => asked.isAcknowledged);
    await world.steps(world.between(0, 30));
    if (seed > 4) await world.crashAndStart();
    await world.until(() => world.answersTo(asked.occurrence).length > 0);
    await world.until(() => world.firings().every(({ endedAt }) => endedAt !== null));
    await world.steps(200);
    t.same(world.answersTo(asked.occurrence), [refuses ? `Hook dear-${HOOKS - 2} refused. Reason: not now` : null]);
    if (!refuses)
      t.same(
        world
          .firings()
          .map(({ hook }) => hook)
          .sort(),
        matching,
      );
  }
});

t.test("before events are matched before after events", async (t) => {
  const both = [...hooks("task.moved"), { key: "guard", on: "run.starting", when: dear, failure: "block" }];
  const world = await HookWorld.create({ seed: 5, answer }, both);
  const waitingNow = () => world.disk.reading.range({ prefix: [world.workspaceId, "row", "hook-judging"] });
  for (let n = 0; n < 60; n++) world.happen("task.moved");
  await world.until(() => waitingNow().length > 10);
  const asked = world.happen("run.starting");
  await world.until(() => world.answersTo(asked.occurrence).length > 0);
  t.ok(waitingNow().length > 5, `${waitingNow().length} after events are still judged`);
});

t.test("a hook that is not matched within 60 seconds counts like one without an answer", async (t) => {
  for (const failure of ["continue", "block"]) {
    const world = await HookWorld.create(
      { seed: 6, answer },
      hooks("run.starting", () => ({ failure })),
    );
    const asked = world.happen("run.starting");
    await world.until(() => asked.isAcknowledged);
    world.crash();
    world.world.nowMs += 120_000;
    await world.start();
    await world.until(() => world.answersTo(asked.occurrence).length > 0);
    await world.steps(300);
    const [answered, ...more] = world.answersTo(asked.occurrence);
    t.same(more, []);
    if (failure === "continue") t.equal(answered, null);
    else
      t.match(
        answered,
        /^Hook dear-\d+ failed at step tell and blocks on failure\. Reason: (the hook|the service was not running)/,
      );
  }
});
