import t from "tap";
import { faults } from "./faults.js";
import { simulate } from "./simulate.js";

const SEEDS = 50;
/** Maximum number of seeds that the checks may need to detect each fault. */
const SEEDS_TO_FIND_A_FAULT = 40;

t.test(`every promise holds over ${SEEDS} seeds of random messages, crashes and restarts`, async (t) => {
  const from = Math.floor(Math.random() * 2 ** 31);
  t.comment(`first seed ${from}`);
  let lives = 0;
  for (let seed = from; seed < from + SEEDS; seed++) {
    const result = await simulate({ seed });
    lives += result.lives;
    t.same(result.complaints, [], `seed ${seed}: npm run sim -- --seed ${seed}`);
  }
  t.ok(lives > 2 * SEEDS, "the process was ended and came back in most of them");
});

t.test("the same seed gives the same history", async (t) => {
  for (const seed of [1, 2, 3]) {
    const first = await simulate({ seed });
    const second = await simulate({ seed });
    t.equal(second.history, first.history);
  }
  t.not((await simulate({ seed: 4 })).history, (await simulate({ seed: 5 })).history, "and another seed another one");
});

for (const fault of faults) {
  t.test(`the checks find ${fault.name}`, async (t) => {
    for (let seed = 1; seed <= SEEDS_TO_FIND_A_FAULT; seed++) {
      const { complaints } = await simulate({ seed, fault });
      if (complaints.length > 0) return t.pass(`seed ${seed}: ${complaints[0]}`);
    }
    t.fail(`no complaint in ${SEEDS_TO_FIND_A_FAULT} seeds`);
  });
}
