import t, { type Test } from "tap";
import { type SearchScript, SearchWorld } from "../../support/search-world.js";
import { plainTerms } from "../../support/stepped-search.js";

const idempotency = (key: string) => ({ scope: "usr_1", key, digest: "d" });
/** The tables with a search's own rows. */
const OF_SEARCH = new Set(["search", "search-iteration", "search-candidate"]);
const terms = { budget: { ...plainTerms.budget, iterations: 1, perIteration: 1 } };
/** More rounds than any scenario needs. A scenario that never ends fails at this number. */
const MAX_ROUNDS = 40;

/**
 * The commit at which the process is killed, counted from now. `when` is `after` if the commit's batch reaches the disk
 * before the kill.
 */
interface Kill {
  readonly after: number;
  readonly when: "before" | "after";
}

type Act = (scene: SearchWorld) => Promise<unknown>;

/** A search in a simulated service whose process is killed at a commit and then started again. */
class KilledSearch {
  private constructor(readonly scene: SearchWorld) {}

  static async open(kill: Kill | null, before: Act): Promise<KilledSearch> {
    const scene = await SearchWorld.open({ runs: 5, slots: 8 });
    const { harness } = scene.world;
    await before(scene);
    if (kill !== null) harness.killAt = { commit: harness.batches.length + kill.after, when: kill.when };
    return new KilledSearch(scene);
  }

  /**
   * Repeats `act` until `isSo` returns true. If the process is killed during `act`, starts a new process, to which the
   * runner connects as a new runner.
   */
  readonly until = async (isSo: (scene: SearchWorld) => boolean, act: Act): Promise<void> => {
    const { scene } = this;
    const { harness } = scene.world;
    for (let round = 0; !isSo(scene); round++) {
      if (round === MAX_ROUNDS) throw new Error(`it never ends: ${JSON.stringify(scene.findSearch())}`);
      try {
        await act(scene);
      } catch (error) {
        if (harness.killAt === null) throw error;
        harness.killAt = null;
        harness.crash();
        await scene.world.restart();
        await scene.world.connect();
      }
    }
  };
}

const start: Act = (scene) => scene.start(terms, { idempotency: idempotency("start") });
const stop: Act = (scene) => scene.stop({ idempotency: idempotency("stop") });
const script: SearchScript = {
  copy: ({ candidate }) => ({ succeeds: candidate !== "seed" }),
  propose: () => ({ better: "Do it better." }),
};
const work: Act = async (scene) => {
  await scene.world.connectedAsk();
  await scene.workAll(script);
};

/**
 * Runs the scenario without a kill, then with a kill before and after each of its commits that writes rows of the
 * search. No kill interrupts `before`.
 */
async function atEveryBorder(
  t: Test,
  scenario: (killed: KilledSearch) => Promise<readonly string[]>,
  before: Act = async () => undefined,
): Promise<void> {
  const calm = await KilledSearch.open(null, before);
  const { batches } = calm.scene.world.harness;
  const begins = batches.length;
  t.same(await scenario(calm), []);
  const commits = batches
    .slice(begins)
    .flatMap((batch, index) => (batch.some(({ key }) => OF_SEARCH.has(String(key[2]))) ? [index + 1] : []));
  const complaints: string[] = [];
  for (const after of commits) {
    for (const when of ["before", "after"] as const) {
      const found = await scenario(await KilledSearch.open({ after, when }, before));
      complaints.push(...found.map((each) => `killed ${when} commit ${after}: ${each}`));
    }
  }
  t.same(complaints, [], `${commits.length} commits`);
  t.ok(commits.length > 0);
}

t.test("killed at any border of what it does, a search comes to the same end", async (t) => {
  await atEveryBorder(t, async (killed) => {
    const { scene } = killed;
    await killed.until(() => scene.findSearch() !== undefined, start);
    await killed.until(() => scene.search().endedAt !== null, work);
    const { state, ending, best } = scene.search();
    const end = `${state} ${ending} ${best?.name}`;
    const runsOfReplays = scene
      .candidates()
      .map(({ name, replayEnded, heldOutEnded }) => `${name} ${replayEnded} ${heldOutEnded}`);
    const expected = ["seed finished null", "better finished finished"];
    return [
      ...(end === "finished iterations-used better" ? [] : [end]),
      ...(JSON.stringify(runsOfReplays) === JSON.stringify(expected) ? [] : runsOfReplays),
      ...scene.complaintsAtEnd(),
    ];
  });
});

for (const [what, done, state] of [
  ["while it seeds", 2, "seeding"],
  ["while its agent runs", 5, "searching"],
  ["while it replays a candidate", 7, "searching"],
  ["while it holds out", 9, "holding-out"],
] as const) {
  t.test(`killed at any border, a stop ${what} leaves nothing queued and nothing running`, async (t) => {
    const stopped = async ({ scene, until }: KilledSearch) => {
      await until((now) => now.search().endedAt !== null, stop);
      await until(
        (now) => now.runsUnderWay().length === 0,
        (now) => now.world.connect(),
      );
      await scene.world.harness.advance();
      const { ending } = scene.search();
      return [...(ending === "stopped" ? [] : [`it ended ${ending}`]), ...scene.complaintsAtEnd()];
    };
    await atEveryBorder(t, stopped, async (scene) => {
      await start(scene);
      await scene.workAll(script, done);
      for (const job of scene.world.jobs()) await scene.world.begin(job);
      t.match([scene.search().state, scene.runsUnderWay().length > 0], [state, true]);
    });
  });
}
