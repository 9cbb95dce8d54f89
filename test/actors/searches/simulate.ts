import { simulateSearch } from "../../support/random-search.js";

/** Simulates searches with random costs and faults: `npm run searches -- 1000`, or `-- 1000 7` to start at seed 7. */
const [count = 100, first = 1] = process.argv.slice(2).map(Number);
const endings = new Map<string, number>();
let turns = 0;
for (let seed = first; seed < first + count; seed++) {
  const { ending, complaints, turns: taken } = simulateSearch(seed);
  endings.set(ending, (endings.get(ending) ?? 0) + 1);
  turns += taken;
  for (const complaint of complaints) process.stdout.write(`seed ${seed}, ${ending}: ${complaint}\n`);
  if (complaints.length > 0) process.exitCode = 1;
}
const listed = [...endings].sort(([, a], [, b]) => b - a).map(([ending, times]) => `${ending} ${times}`);
process.stdout.write(`${count} searches from seed ${first}, ${turns} turns: ${listed.join(", ")}\n`);
