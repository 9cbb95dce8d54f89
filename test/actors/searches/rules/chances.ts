import { readArguments } from "../../../support/command-line.js";
import { brokenPromises } from "./search-promises.js";
import { isFalseFind, searchForNothing, searchForPlanted, searchWithFaults } from "./simulated-worlds.js";

const USAGE = `npm run chances -- [--searches 250]

  --searches N  simulated searches of each kind; four times as many with faults`;

/**
 * `npm run chances` simulates searches through the rules: how often they claim a gain though no candidate is better (at
 * most 5 %), how often they find the one that is (at least 90 %), and whether they end whatever fails. Takes some minutes.
 * Ends with 1 when a promise was broken.
 */
const { values } = readArguments(USAGE, { options: { searches: { type: "string", default: "250" } } });
const searches = Number(values.searches);
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const broken: string[] = [];

console.log(`No candidate is better: of ${searches} searches\n`);
console.log("| searched / held out | copies | candidates | best is not the live config | and carries no mark |");
console.log("|---|---|---|---|---|");
for (const [tasks, sides] of [
  [20, "12 / 8"],
  [50, "30 / 20"],
  [10, "6 / 4"],
] as const) {
  for (const repeats of [1, 3]) {
    for (const [iterations, perIteration] of [
      [1, 50],
      [10, 5],
    ] as const) {
      const shape = { tasks, repeats, iterations, perIteration };
      const found = numbers(searches).map((number) => searchForNothing(shape, number));
      const candidates = found.reduce((sum, each) => sum + each.candidates.length - 1, 0) / searches;
      const others = found.filter(({ best }) => best?.seed === false).length;
      const claimed = found.filter(isFalseFind).length;
      const asked = `${candidates.toFixed(0)} (${iterations} x ${perIteration})`;
      console.log(`| ${sides} | ${repeats} | ${asked} | ${others} | ${claimed} |`);
      if (20 * claimed > searches) broken.push(`${sides}, ${repeats} copies: ${claimed} false finds`);
    }
  }
}

console.log(`\nOne candidate is better by 0.25, 30 / 20 tasks, 3 copies: of ${searches} searches\n`);
console.log("| it is among the first | of | proposed | best | of these with a mark |");
console.log("|---|---|---|---|---|");
for (const { iterations, perIteration, among } of [
  { iterations: 1, perIteration: 50, among: 50 },
  { iterations: 10, perIteration: 5, among: 5 },
  { iterations: 10, perIteration: 5, among: 50 },
]) {
  const shape = { tasks: 50, repeats: 3, iterations, perIteration };
  const all = numbers(searches).map((number) => searchForPlanted(shape, number, among));
  const proposed = all.filter(({ isProposed }) => isProposed).length;
  const best = all.filter(({ isBest }) => isBest);
  const marked = best.filter(({ search }) => search.mark !== null).length;
  console.log(`| ${among} | ${iterations} x ${perIteration} | ${proposed} | ${best.length} | ${marked} |`);
  if (10 * best.length < 9 * proposed) broken.push(`planted among ${among}: best in ${best.length} of ${proposed}`);
}

const withFaults = numbers(4 * searches).map(searchWithFaults);
const endings = new Map<string, number>();
for (const { search } of withFaults) endings.set(search.ending, (endings.get(search.ending) ?? 0) + 1);
broken.push(...withFaults.flatMap((each, n) => brokenPromises(each).map((promise) => `search ${n}: ${promise}`)));
console.log(`\n${4 * searches} searches with faults and random costs ended: `);
console.log([...endings].map(([ending, count]) => `${ending} ${count}`).join(", "));

if (broken.length > 0) {
  console.log(`\nbroken:\n${broken.join("\n")}`);
  process.exitCode = 1;
}
