import t from "tap";
import { countedSpend, reachesCeiling } from "../../../actors/statistics/spending.js";
import { type Chance, createChance } from "../../simulation/chance.js";
import { complaintsAtRest } from "../../support/replay-rest.js";
import { type GivenJob, ReplayWorld } from "../../support/replay-world.js";

const failure = { code: "timed-out", message: "It took too long.", output: "" } as const;
const amounts = [1, 3, 100];

/** A random history of replays: actions of people and of a runner, and kills, in any order. */
class History {
  /** Copies that started although their replay had reached its ceiling. */
  readonly overruns: string[] = [];
  readonly #held: (GivenJob & { begun: boolean })[] = [];

  constructor(
    readonly world: ReplayWorld,
    readonly chance: Chance,
  ) {}

  #pick(count: number): number {
    return this.chance.between(0, count - 1);
  }

  async step(): Promise<void> {
    const given = this.world.jobs();
    for (const { runId } of given) this.#noteOverrun(runId);
    this.#held.push(...given.map((job) => ({ ...job, begun: false })));
    const acts = [
      this.#end,
      this.#end,
      this.#end,
      this.#begin,
      this.lose,
      this.#start,
      this.#stop,
      this.#kill,
      this.#edit,
    ];
    await acts[this.#pick(acts.length)]?.call(this);
  }

  /**
   * Records an overrun if the copy of this run started although the other copies of its replay had already reached the
   * ceiling.
   *
   * Without overruns, a replay costs less than the ceiling plus the cost of the copies that were running after the last
   * start.
   */
  #noteOverrun(runId: string): void {
    for (const replay of this.world.allReplays()) {
      const copies = this.world.copies(replay.id);
      const isStarted = (copy: (typeof copies)[number]) => copy.runId === runId;
      const rest = copies.map((copy) => (isStarted(copy) ? { ...copy, priced: true } : copy));
      if (!copies.some(isStarted) || !reachesCeiling(countedSpend(rest, replay), replay.ceiling)) continue;
      this.overruns.push(`${runId} of ${replay.id} started at the ceiling`);
    }
  }

  async #begin(): Promise<void> {
    const job = this.#held[this.#pick(Math.max(1, this.#held.length))];
    if (job === undefined || job.begun) return;
    job.begun = true;
    await this.world.begin(job);
  }

  async #end(): Promise<void> {
    const [job] = this.#held.splice(this.#pick(Math.max(1, this.#held.length)), 1);
    if (job === undefined) return;
    if (!job.begun) await this.world.begin(job);
    const spent = [null, 1, 1, 0.5][this.#pick(4)] ?? null;
    await this.world.end(job, spent, this.#pick(3) === 0 ? { outcome: "failed", ending: null, failure } : {});
  }

  /** Reconnects the runner as another process. */
  async lose(): Promise<void> {
    this.#held.length = 0;
    await this.world.connect();
  }

  async #start(): Promise<void> {
    const ceiling = { amount: amounts[this.#pick(amounts.length)], currency: "EUR" };
    const candidate = this.#pick(2) === 0 ? "live" : "mine";
    await this.world.tryStart({ candidate, repeats: 1 + this.#pick(3), ceiling });
  }

  async #stop(): Promise<void> {
    const all = this.world.allReplays();
    const one = all[this.#pick(Math.max(1, all.length))];
    if (one !== undefined) await this.world.stop(one.id);
  }

  async #edit(): Promise<void> {
    const type = this.#pick(2) === 0 ? "entry.remove" : "entry.add";
    await this.world.askSets({ type, setId: this.world.setId, runId: `run_${1 + this.#pick(3)}` });
  }

  /** Kills the service at one of the next commits. */
  async #kill(): Promise<void> {
    const { harness } = this.world;
    const when = this.#pick(2) === 0 ? "before" : "after";
    harness.killAt = { commit: harness.batches.length + 1 + this.#pick(3), when };
    try {
      await this.#start();
      await this.world.connectedAsk();
      await this.world.connectedAsk();
    } catch {
      // The process was killed before it answered.
    }
    harness.killAt = null;
    harness.crash();
    await this.world.restart();
    await this.lose();
  }
}

t.test(
  "whatever happens to replays, nothing runs on in the end, and counts and sums are those of copies",
  async (t) => {
    for (let seed = 1; seed <= 10; seed++) {
      const chance = createChance(seed);
      const slots = chance.between(1, 5);
      const history = new History(
        await ReplayWorld.open({ runs: 3, slots, candidates: { mine: { prompt: "x" } } }),
        chance,
      );
      for (let step = 0; step < 25; step++) await history.step();
      // Do this twice: a copy that was lost earlier moves to the end of the queue, so the first round may not complete
      // it.
      for (let round = 0; round < 2; round++) {
        await history.lose();
        await history.world.workAll();
      }
      t.same([...history.overruns, ...complaintsAtRest(history.world)], [], `seed ${seed}`);
    }
  },
);
