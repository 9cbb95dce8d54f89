import t from "tap";
import { type Act, atEveryBorder, idempotency } from "../../support/killed-world.js";
import { complaintsAtRest } from "../../support/replay-rest.js";
import type { ReplayWorld } from "../../support/replay-world.js";

const ceiling = { amount: 100, currency: "EUR" };

const start: Act = async (world) => void (await world.start({ ceiling, idempotency: idempotency("start") }));
const work: Act = async (world) => {
  await world.connectedAsk();
  await world.workAll();
};

const toId = (world: ReplayWorld): string => world.allReplays()[0]?.id ?? "";

t.test("killed at any border, a replay finishes with each copy settled once", async (t) => {
  await atEveryBorder(t, async (killed) => {
    const { world } = killed;
    await killed.until(() => world.allReplays().length > 0, start);
    await killed.until(() => world.replay(toId(world))?.state === "finished", work);
    const found = world.allReplays().length === 1 ? [] : [`${world.allReplays().length} replays`];
    return [...found, ...complaintsAtRest(world)];
  });
});

t.test("killed at any border, a stopped replay has nothing that runs, and goes with its set", async (t) => {
  await atEveryBorder(t, async (killed) => {
    const { world } = killed;
    await killed.until(() => world.allReplays().length > 0, start);
    await killed.until(
      () => (world.replay(toId(world))?.counts.settled ?? 0) > 0,
      async () => {
        await world.connectedAsk();
        for (const job of world.jobs()) await world.work(job);
      },
    );
    await killed.until(
      () => !["queued", "running"].includes(world.replay(toId(world))?.state ?? ""),
      async () => void (await world.stop(toId(world))),
    );
    await world.harness.advance();
    const id = toId(world);
    const stopped = complaintsAtRest(world);
    await killed.until(
      () => world.allSets().length === 0,
      async () => void (await world.askSets({ type: "set.delete", setId: world.setId })),
    );
    await killed.until(
      () => world.copies(id).length === 0 && world.runStates().length === 0,
      async () => world.connectedAsk(),
    );
    return [...stopped, ...complaintsAtRest(world)];
  });
});

t.test("killed at any border, a replay at its ceiling ends, and starts nothing more", async (t) => {
  const options = { runs: 4, slots: 4 };
  await atEveryBorder(
    t,
    async (killed) => {
      const { world } = killed;
      const low = { amount: 2, currency: "EUR" };
      await killed.until(
        () => world.allReplays().length > 0,
        async () => void (await world.start({ ceiling: low, idempotency: idempotency("start") })),
      );
      const id = toId(world);
      await killed.until(() => !["queued", "running"].includes(world.replay(id)?.state ?? ""), work);
      const { state } = world.replay(id) ?? {};
      const begun = world.copies(id).filter(({ state: each }) => each !== "waiting").length;
      return [
        ...(state === "over-budget" ? [] : [`it is ${state}`]),
        // Two copies run at once, and two copies cost as much as the ceiling. So at most three copies start.
        ...(begun <= 3 ? [] : [`${begun} copies began`]),
        ...complaintsAtRest(world),
      ];
    },
    options,
  );
});
