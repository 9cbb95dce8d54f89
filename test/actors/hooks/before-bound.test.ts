import t from "tap";
import { type Answers, HookWorld } from "./hook-world.js";

const SEEDS = 15;
const SECONDS_TOGETHER = 60;
const OUT_OF_TIME = "the hooks on the event used up their 60 seconds";

/**
 * A hook's key decides what the hook's receiver does. If the key starts with `slow`, the receiver never answers.
 * Otherwise it consents.
 */
const answer: Answers = ({ hook }) => (hook.startsWith("slow") ? null : { status: 200, body: "{}" });

function hooks(count: number, more: readonly Readonly<Record<string, unknown>>[] = []) {
  const slow = Array.from({ length: count }, (_, index) => ({ key: `slow-${index}`, on: "run.starting" }));
  return [...slow, { key: "quick", on: "run.starting" }, ...more];
}

interface Asked {
  readonly answers: readonly (string | null)[];
  readonly seconds: number;
  readonly failed: readonly string[];
}

/**
 * Publishes that a run is about to start, calls `disturb` meanwhile, and waits for the gate's answer and the end of all
 * hook occurrences.
 */
async function ask(
  world: HookWorld,
  disturb: (world: HookWorld) => Promise<void> = async () => undefined,
): Promise<Asked> {
  const begunMs = world.world.nowMs;
  const asked = world.happen("run.starting");
  await world.until(() => asked.isAcknowledged);
  await disturb(world);
  await world.until(() => world.answersTo(asked.occurrence).length > 0);
  const seconds = (world.world.nowMs - begunMs) / 1_000;
  await world.until(() => world.firings().every(({ endedAt }) => endedAt !== null));
  await world.steps(50);
  const failed = world.firings().filter(({ state }) => state === "failed");
  return {
    answers: world.answersTo(asked.occurrence),
    seconds,
    failed: failed.map(({ hook, code }) => `${hook} ${code}`).sort(),
  };
}

const timedOut = (count: number) => Array.from({ length: count }, (_, index) => `slow-${index} timeout`).sort();

t.test(
  "hooks without an end fail with timeout after 60 seconds together, and those that continue let the event go on",
  async (t) => {
    const world = await HookWorld.create({ seed: 1, answer }, hooks(40));
    const { answers, seconds, failed } = await ask(world);
    t.same(answers, [null]);
    t.ok(seconds > SECONDS_TOGETHER - 1 && seconds < SECONDS_TOGETHER + 1, `after ${seconds} seconds`);
    t.same(failed, timedOut(40));
  },
);

t.test("a hook that blocks refuses, with the reference's message", async (t) => {
  const world = await HookWorld.create(
    { seed: 2, answer },
    hooks(10, [{ key: "slow-guard", on: "run.starting", failure: "block" }]),
  );
  const { answers, failed } = await ask(world);
  t.same(answers, [`Hook slow-guard failed at step tell and blocks on failure. Reason: ${OUT_OF_TIME}`]);
  t.same(failed, [...timedOut(10), "slow-guard timeout"].sort());
});

t.test("a kill in between, and a long downtime, do not change either", async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const isDown = seed % 3 === 0;
    const world = await HookWorld.create(
      { seed, answer },
      hooks(5, seed % 2 === 0 ? [] : [{ key: "slow-guard", on: "run.starting", failure: "block" }]),
    );
    const { answers, seconds, failed } = await ask(world, async () => {
      await world.world.advance(world.between(0, 50_000));
      world.crash();
      if (isDown) world.world.nowMs += 300_000;
      await world.start();
    });
    const refused =
      seed % 2 === 0 ? null : /^Hook slow-guard failed at step tell and blocks on failure\. Reason: the hook/;
    t.match(answers, [refused], `seed ${seed}`);
    t.equal(answers.length, 1, "once");
    t.equal(
      failed.every((each) => each.endsWith(" timeout")),
      true,
      failed.join(),
    );
    t.ok(isDown || seconds < SECONDS_TOGETHER + 1, `after ${seconds} seconds`);
  }
});

t.test("a hook with several repositories of a line is asked once", async (t) => {
  const repositories = ["acme/app", "acme/site"];
  const world = await HookWorld.create({ seed: 3, answer }, [
    { key: "both", on: "run.starting", match: { repositories } },
  ]);
  const task = { id: "task_1", title: "Do it", url: "", line: "dev", station: "Work", stationKey: "work" };
  const asked = world.happen("run.starting", { task: { ...task, marks: {}, repositories, pullRequest: null } });
  await world.until(() => world.answersTo(asked.occurrence).length > 0);
  t.same(world.answersTo(asked.occurrence), [null]);
  t.ok(world.firings().length === 1 && world.received.length === 1);
  t.ok(world.world.nowMs - Date.parse(world.firings()[0]?.firedAt ?? "") < 10_000, "at once");
});

t.test("a request that finds no place in the time of its event is given up as timeout, and says so", async (t) => {
  const world = await HookWorld.create({ seed: 3, answer }, hooks(70));
  const { answers, seconds, failed } = await ask(world);
  t.same(answers, [null]);
  t.ok(seconds > SECONDS_TOGETHER - 1 && seconds < SECONDS_TOGETHER + 1, `after ${seconds} seconds`);
  t.same(failed, ["quick timeout", ...timedOut(70)].sort());
  const reasons = world.attempts().map(({ reason }) => reason);
  t.equal(reasons.filter((reason) => reason === OUT_OF_TIME).length, 64, "those that were sent");
  t.equal(
    reasons.filter((reason) => reason?.startsWith("its request got no slot") === true).length,
    7,
    "those that were not",
  );
  t.ok(world.received.length <= 64);
});
