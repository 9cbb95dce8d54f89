import { isDeepStrictEqual } from "node:util";
import type { Objective } from "../../../actors/searches/rules/objective.js";
import { readArguments } from "../../support/command-line.js";
import { NO_GAIN, plantedAt, searchBoth } from "./both-searches.js";
import { brokenPromises } from "./rules/search-promises.js";
import {
  isFalseFind,
  type Shape,
  searchForNothing,
  searchForPlanted,
  searchWithFaults,
} from "./rules/simulated-worlds.js";

const USAGE = `npm run chances -- [--searches 250] [--machines 100]

  --searches N  searches of each kind by the rules alone; four times as many with faults
  --machines N  searches of each kind by the machines, and again by the rules`;

/**
 * `npm run chances` simulates searches and checks four promises. It takes some minutes, and exits with 1 if a promise
 * is broken.
 *
 * 1. Of the searches without a better candidate, at most 5 % claim a gain.
 * 2. Of the searches in which a better candidate is proposed, at least 90 % find it.
 * 3. A search keeps the promises of `search-promises.ts`, whatever fails in it.
 * 4. The machines agree with the rules. They are stepped in memory with instant replays.
 */
const { values } = readArguments(USAGE, {
  options: { searches: { type: "string", default: "250" }, machines: { type: "string", default: "100" } },
});
const searches = Number(values.searches);
const byMachines = Number(values.machines);
const broken: string[] = [];

/** Set sizes, with their searched and held-out tasks. */
const SETS = [
  { tasks: 20, sides: "12 / 8" },
  { tasks: 50, sides: "30 / 20" },
  { tasks: 10, sides: "6 / 4" },
];

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

function printRow(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

function printHead(title: string, ...columns: readonly string[]): void {
  console.log(`\n${title}\n`);
  printRow(...columns);
  printRow(...columns.map(() => "---"));
}

function noteFalse(claimed: number, of: number, what: string): void {
  if (20 * claimed > of) broken.push(`${what}: ${claimed} of ${of} claim a gain that is none`);
}

function notePlanted(found: number, of: number, what: string): void {
  if (10 * found < 9 * of) broken.push(`${what}: found in ${found} of ${of}`);
}

function searchNothing(objective: Objective): void {
  const columns = ["searched / held out", "copies", "candidates", "best is not the live config", "and carries no mark"];
  printHead(`No candidate is better, objective ${objective}, by the rules: of ${searches} searches`, ...columns);
  for (const { tasks, sides } of SETS) {
    for (const repeats of [1, 3]) {
      for (const [iterations = 0, perIteration = 0] of [
        [1, 50],
        [10, 5],
      ]) {
        const shape = { tasks, repeats, iterations, perIteration };
        const found = numbers(searches).map((number) => searchForNothing(shape, number, objective));
        const candidates = found.reduce((sum, each) => sum + each.candidates.length - 1, 0) / searches;
        const claimed = found.filter(isFalseFind).length;
        const others = found.filter(({ best }) => best?.seed === false).length;
        printRow(sides, repeats, `${candidates.toFixed(0)} (${iterations} x ${perIteration})`, others, claimed);
        noteFalse(claimed, searches, `${objective}, ${sides}, ${repeats} copies`);
      }
    }
  }
}

function searchPlanted(): void {
  const title = `One candidate is better by 0.25, 30 / 20 tasks, 3 copies, by the rules: of ${searches} searches`;
  printHead(title, "it is among the first", "of", "proposed", "best", "of these with a mark");
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
    printRow(among, `${iterations} x ${perIteration}`, proposed, best.length, marked);
    notePlanted(best.length, proposed, `planted among ${among}`);
  }
}

function searchByMachines(): void {
  const title = `By the machines, ${byMachines} searches each of 10 x 5 candidates`;
  printHead(
    title,
    "searched / held out",
    "copies",
    "one is better",
    "as by the rules",
    "best is not the live config",
    "and carries no mark",
    "the better one is best",
  );
  for (const { tasks, sides } of SETS) show({ tasks, repeats: 1, iterations: 10, perIteration: 5 }, sides, null);
  show({ tasks: 50, repeats: 3, iterations: 10, perIteration: 5 }, "30 / 20", "c3");
}

function show(shape: Shape, sides: string, planted: string | null): void {
  const rates = planted === null ? NO_GAIN : plantedAt(planted);
  const both = numbers(byMachines).map((number) => searchBoth(shape, number, rates));
  const found = both.map(({ machines }) => machines);
  const same = both.filter(({ machines, rules }) => isDeepStrictEqual(machines, rules)).length;
  const others = found.filter(({ best }) => best !== "seed");
  const claimed = others.filter(({ mark }) => mark === null).length;
  const best = found.filter((each) => each.best === planted).length;
  const of = planted === null ? ["no", ""] : ["yes", best];
  printRow(sides, shape.repeats, of[0] ?? "", same, others.length, claimed, of[1] ?? "");
  if (same < byMachines) broken.push(`${sides}: ${byMachines - same} searches by the machines end otherwise`);
  if (planted === null) noteFalse(claimed, byMachines, `${sides}, by the machines`);
  else notePlanted(best, byMachines, `${sides}, by the machines`);
}

function searchThroughFaults(): void {
  const all = numbers(4 * searches).map(searchWithFaults);
  const endings = new Map<string, number>();
  for (const { search } of all) endings.set(search.ending, (endings.get(search.ending) ?? 0) + 1);
  broken.push(...all.flatMap((each, n) => brokenPromises(each).map((promise) => `search ${n}: ${promise}`)));
  console.log(`\n${all.length} searches with faults and random costs, by the rules, ended:`);
  console.log([...endings].map(([ending, count]) => `${ending} ${count}`).join(", "));
}

searchNothing("success");
searchNothing("cost");
searchPlanted();
searchByMachines();
searchThroughFaults();
if (broken.length > 0) {
  console.log(`\nbroken:\n${broken.join("\n")}`);
  process.exitCode = 1;
}
