import t from "tap";
import { type PlannedFault, planRounds, toSeed } from "./plan.js";

const faults: readonly PlannedFault[] = [
  ...["killed", "stopped", "full", "slow", "forward"].map((name) => ({ name, target: "service" as const })),
  ...["cut", "asleep", "gone", "late"].map((name) => ({ name, target: "runners" as const })),
  ...["hangs", "resets", "junk"].map((name) => ({ name, target: "receivers" as const })),
  ...["deaf", "loud", "many"].map((name) => ({ name, target: "clients" as const })),
];

function listRounds(seed: number, count: number): PlannedFault[][] {
  const plan = planRounds(faults, seed);
  return Array.from({ length: count }, () => plan.next().value ?? []);
}

t.test("a seed repeats its faults, another has others", async (t) => {
  t.same(listRounds(7, 50), listRounds(7, 50));
  t.not(JSON.stringify(listRounds(7, 5)), JSON.stringify(listRounds(8, 5)));
});

t.test("each fault comes before any comes again, and none twice in a round", async (t) => {
  for (let seed = 0; seed < 50; seed++) {
    const rounds = listRounds(seed, 15);
    const names = rounds.flat().map(({ name }) => name);
    for (let turn = 0; turn < 4; turn++) {
      const those = names.slice(turn * faults.length, (turn + 1) * faults.length);
      t.equal(new Set(those).size, faults.length, `turn ${turn} of seed ${seed}`);
    }
    t.notOk(rounds.some((round) => new Set(round).size < round.length));
  }
});

t.test("a round takes hold of four things at once while there are as many left", async (t) => {
  for (const round of listRounds(3, 2)) t.equal(new Set(round.map(({ target }) => target)).size, 4);
});

t.test("fewer faults than a round has are all in each", async (t) => {
  t.same(planRounds(faults.slice(0, 1), 1).next().value, faults.slice(0, 1));
});

t.test("near seeds lead to seeds far apart", async (t) => {
  const seeds = new Set(Array.from({ length: 1_000 }, (_, n) => toSeed(1, n)));
  t.equal(seeds.size, 1_000);
  t.ok([...seeds].filter((seed) => seed < 0).length > 400);
});
