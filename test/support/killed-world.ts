import type { Test } from "tap";
import { ReplayWorld, type ReplayWorldOptions } from "./replay-world.js";

/** The idempotency key of a request that the test repeats until the service answers. */
export const idempotency = (key: string) => ({ scope: "usr_1", key, digest: "d" });
/** Maximum number of rounds. Every scenario ends earlier, so a scenario that reaches the maximum fails. */
const MAX_ROUNDS = 60;

/** An action that the test repeats until the action has its effect. */
export type Act = (world: ReplayWorld) => Promise<void>;

/**
 * The commit at which to kill the process, counted from now. Also says whether the disk gets the batch of this commit.
 */
interface Kill {
  readonly after: number;
  readonly when: "before" | "after";
}

/** A process that is killed at a commit, and the process that continues. */
export class KilledWorld {
  private constructor(readonly world: ReplayWorld) {}

  static async open(kill: Kill | null, options: ReplayWorldOptions): Promise<KilledWorld> {
    const world = await ReplayWorld.open(options);
    const { harness } = world;
    if (kill !== null) harness.killAt = { commit: harness.batches.length + kill.after, when: kill.when };
    return new KilledWorld(world);
  }

  /**
   * Repeats `act` until `isSo` returns true. When the process was killed, continues in another process, and connects
   * the runner to this process as a new runner.
   */
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

/** Runs the scenario without a kill. Then runs it with a kill before and after each of its commits. */
export async function atEveryBorder(
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
