import t from "tap";
import { simulateSearch } from "../../support/random-search.js";

/** Number of simulated searches; `npm run searches` takes it as an argument. */
const SEARCHES = 16;

t.test("searches with random costs and faults come to an end, and leave nothing behind", async (t) => {
  const endings = new Set<string>();
  const complaints: string[] = [];
  for (let seed = 1; seed <= SEARCHES; seed++) {
    const { ending, complaints: found } = simulateSearch(seed);
    endings.add(ending);
    complaints.push(...found.map((each) => `seed ${seed}: ${each}`));
  }
  t.same(complaints, []);
  t.ok(endings.size >= 4, `they end in different ways: ${[...endings].join(", ")}`);
});
