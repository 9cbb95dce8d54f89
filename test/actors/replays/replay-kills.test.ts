import t, { type Test } from "tap";
import { complaintsAtRest } from "../../support/replay-rest.js";
import { ReplayWorld, type ReplayWorldOptions } from "../../support/replay-world.js";

const idempotency = (key: string) => ({ scope: "usr_1", key, digest: "d" });
const ceiling = { amount: 100, currency: "EUR" };
/** More than any of these takes, so that one that goes on for ever fails. */
const MAX_ROUNDS = 60;

/** Something that is done again until it has its effect. */
type Act = (world: ReplayWorld) => Promise<void>;

/** At which commit, counted from now, and whether its batch is on the disk. */
interface Kill {
  readonly after: number;
  readonly when: "before" | "after";
}

/** One process that is killed at a commit, and the next, which goes on. */
class KilledWorld {
  private constructor(readonly world: ReplayWorld) {}

  static async open(kill: Kill | null, options: ReplayWorldOptions): Promise<KilledWorld> {
    const world = await ReplayWorld.open(options);
    const { harness } = world;
    if (kill !== null) harness.killAt = { commit: harness.batches.length + kill.after, when: kill.when };
    return new KilledWorld(world);
  }

  /** Acts until it is so; after the kill, in another process, to which the runner connects as a new one. */
  async until(isSo: (world: ReplayWorld) => boolean, act: Act): Promise<void> {
    const { world } = this;
    for (let round = 0; !isSo(world); round++) {
      if (round === MAX_ROUNDS) throw new Error("it never ends");
      try {
        await act(world);
      } catch (error) {
        if (world.harness.killAt === null) throw error;
        world.harness.killAt = null;
        world.harness.crash();
        await world.restart();
        await world.connect();
      }
    }
  }
}

const start: Act = async (world) => void (await world.start({ ceiling, idempotency: idempotency("start") }));
const work: Act = async (world) => {
  await world.connectedAsk();
  await world.workAll();
};

/** Runs the scenario without a kill, and then with one at every border of a commit that it makes. */
async function atEveryBorder(
  t: Test,
  scenario: (killed: KilledWorld) => Promise<readonly string[]>,
  options: ReplayWorldOptions = { runs: 2 },
): Promise<void> {
  const calm = await KilledWorld.open(null, options);
  const begins = calm.world.harness.batches.length;
  t.same(await scenario(calm), []);
  const commits = calm.world.harness.batches.length - begins;
  const complaints: string[] = [];
  for (let after = 1; after <= commits; after++) {
    for (const when of ["before", "after"] as const) {
      const found = await scenario(await KilledWorld.open({ after, when }, options));
      complaints.push(...found.map((each) => `killed ${when} commit ${after}: ${each}`));
    }
  }
  t.same(complaints, [], `${commits} commits`);
}

const idOf = (world: ReplayWorld): string => world.allReplays()[0]?.id ?? "";

t.test("killed at any border, a replay finishes with each copy settled once", async (t) => {
  await atEveryBorder(t, async (killed) => {
    const { world } = killed;
    await killed.until(() => world.allReplays().length > 0, start);
    await killed.until(() => world.replay(idOf(world))?.state === "finished", work);
    const found = world.allReplays().length === 1 ? [] : [`${world.allReplays().length} replays`];
    return [...found, ...complaintsAtRest(world)];
  });
});

t.test("killed at any border, a stopped replay has nothing that runs, and goes with its set", async (t) => {
  await atEveryBorder(t, async (killed) => {
    const { world } = killed;
    await killed.until(() => world.allReplays().length > 0, start);
    await killed.until(
      () => (world.replay(idOf(world))?.counts.settled ?? 0) > 0,
      async () => {
        await world.connectedAsk();
        for (const job of world.jobs()) await world.work(job);
      },
    );
    await killed.until(
      () => !["queued", "running"].includes(world.replay(idOf(world))?.state ?? ""),
      async () => void (await world.stop(idOf(world))),
    );
    await world.harness.advance();
    const id = idOf(world);
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
      const id = idOf(world);
      await killed.until(() => !["queued", "running"].includes(world.replay(id)?.state ?? ""), work);
      const { state } = world.replay(id) ?? {};
      const begun = world.copies(id).filter(({ state: each }) => each !== "waiting").length;
      return [
        ...(state === "over-budget" ? [] : [`it is ${state}`]),
        // Two run at once, and two cost the ceiling.
        ...(begun <= 3 ? [] : [`${begun} copies began`]),
        ...complaintsAtRest(world),
      ];
    },
    options,
  );
});
