import t from "tap";
import { LoopRounds } from "../../../runtime/schedule/loop-rounds.js";
import { DrivenScheduler } from "../../support/driven-scheduler.js";

/** Creates rounds of 1 ms on a manually driven event loop. `work` records its name and takes `costMs`. */
function arrange() {
  const loop = new DrivenScheduler();
  let nowMs = 100_000;
  let roundMs = 1;
  const done: string[] = [];
  const rounds = new LoopRounds({ loop, elapsedMs: () => nowMs, roundMs: () => roundMs });
  const work = (name: string, costMs: number): void => {
    done.push(name);
    nowMs += costMs;
  };
  /**
   * Runs the event loop up to the point where the loop reads input. Returns the names of the work that the loop ran.
   */
  const turn = async (): Promise<string[]> => {
    await loop.turn();
    return done.splice(0);
  };
  const setRound = (ms: number): void => {
    roundMs = ms;
  };
  return { loop, rounds, work, turn, setRound };
}

t.test("work of all kinds together is bounded by the round, and what is left comes in its order", async (t) => {
  const { loop, rounds, work, turn } = arrange();
  for (const [name, costMs] of [
    ["a", 0.4],
    ["b", 0.4],
    ["c", 0.4],
    ["d", 5],
    ["e", 0.1],
  ] as const) {
    rounds.defer(() => work(name, costMs));
  }
  t.same(await turn(), ["a", "b", "c"], "the third began with time left");
  t.same(await turn(), ["d"], "one begins in each round");
  t.same(await turn(), ["e"]);
  t.same(await turn(), []);
  t.ok(loop.isIdle);
});

t.test("what the promises of a piece do counts as its own, and comes before the next piece", async (t) => {
  const { rounds, work, turn } = arrange();
  const later = async (): Promise<void> => {
    await Promise.resolve();
    work("later of a", 2);
  };
  rounds.defer(() => {
    work("a", 0);
    void later();
  });
  rounds.defer(() => work("b", 0));
  t.same(await turn(), ["a", "later of a"]);
  t.same(await turn(), ["b"]);
});

t.test("work deferred by work waits for the next round, behind what waited before", async (t) => {
  const { rounds, work, turn } = arrange();
  const again = (count: number): void => {
    work(`again ${count}`, 0.6);
    if (count < 3) rounds.defer(() => again(count + 1));
  };
  rounds.defer(() => again(1));
  for (const name of ["a", "b"]) rounds.defer(() => work(name, 0.6));
  t.same(await turn(), ["again 1", "a"]);
  t.same(await turn(), ["b", "again 2"]);
  t.same(await turn(), ["again 3"]);
});

t.test("work deferred while input is read begins in the round after it, with all of its time", async (t) => {
  const { rounds, work, turn } = arrange();
  rounds.defer(() => work("a", 3));
  t.same(await turn(), ["a"]);
  for (const name of ["b", "c"]) rounds.defer(() => work(name, 0.6));
  t.same(await turn(), ["b", "c"]);
});

t.test("a round without a bound does all that was deferred before it", async (t) => {
  const { rounds, work, turn, setRound } = arrange();
  setRound(Number.POSITIVE_INFINITY);
  for (let count = 0; count < 100; count++) rounds.defer(() => work("a", 1));
  t.equal((await turn()).length, 100);
});

t.test("the order stays while the bound comes and goes", async (t) => {
  const { loop, rounds, work, turn, setRound } = arrange();
  setRound(Number.POSITIVE_INFINITY);
  rounds.defer(() => work("unbound before", 3));
  setRound(1);
  for (const name of ["a", "b"]) rounds.defer(() => work(name, 3));
  setRound(Number.POSITIVE_INFINITY);
  rounds.defer(() => work("unbound behind", 3));
  setRound(1);
  t.same(await turn(), ["unbound before", "a"]);
  t.same(await turn(), ["b"]);
  t.same(await turn(), ["unbound behind"]);
  t.same(await turn(), []);
  t.ok(loop.isIdle);
});
