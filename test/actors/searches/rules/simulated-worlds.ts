import type { Objective } from "../../../../actors/searches/rules/objective.js";
import { createChance } from "../../../simulation/chance.js";
import { type SimulatedSearch, Simulation, type TrueConfig, type World } from "./simulated-search.js";

/** The size of a simulated search. */
export interface Shape {
  /** Number of tasks in the set: 20 means 12 searched and 8 held out. */
  readonly tasks: number;
  readonly repeats: number;
  readonly iterations: number;
  readonly perIteration: number;
}

const PLENTY = { amount: 1_000, currency: "EUR" };

/** Returns success rates spread evenly from 0 to `most`. */
function spreadRates(tasks: number, most: number): readonly number[] {
  return Array.from({ length: tasks }, (_, task) => (most * (task + 0.5)) / tasks);
}

function toWorld(shape: Shape, setId: string, parts: Pick<World, "seed" | "propose">): World {
  const { iterations, perIteration, repeats } = shape;
  const budget = { iterations, perIteration, repeats, ceiling: PLENTY };
  return { setId, budget, objective: "success", minGain: 0.05, ...parts };
}

/** Simulates a search whose candidates all perform and cost the same as the live config. */
export function searchForNothing(shape: Shape, number: number, objective: Objective = "success"): SimulatedSearch {
  const rates = spreadRates(shape.tasks, 1);
  // A search by cost needs runs that hardly ever fail.
  const seed: TrueConfig = {
    rates: objective === "cost" ? rates.map((rate) => 0.96 + 0.04 * rate) : rates,
    costFactor: 1,
  };
  const propose = () => Array.from({ length: shape.perIteration }, () => seed);
  const world = { ...toWorld(shape, `set-${number}`, { seed, propose }), objective };
  return new Simulation(world, createChance(1_000 * shape.tasks + number)).run();
}

/**
 * Whether a search of {@link searchForNothing} claims a gain: its best candidate is not the live config and has no
 * mark.
 */
export function isFalseFind({ best, mark }: SimulatedSearch): boolean {
  return best !== null && !best.seed && mark === null;
}

/**
 * The result of a search with one candidate that truly succeeds more often. All other candidates equal the live config.
 */
export interface PlantedSearch {
  readonly search: SimulatedSearch;
  /**
   * `isProposed`: whether the search continued until the planted candidate was proposed. `isBest`: whether that
   * candidate is the best.
   */
  readonly isProposed: boolean;
  readonly isBest: boolean;
}

/** Simulates a search whose planted candidate is one of the first `among` proposals. */
export function searchForPlanted(shape: Shape, number: number, among: number): PlantedSearch {
  const gain = 0.25;
  const rates = spreadRates(shape.tasks, 1 - gain);
  const [seed, planted] = [
    { rates, costFactor: 1 },
    { rates: rates.map((rate) => rate + gain), costFactor: 1 },
  ];
  const chance = createChance(7_000 + number);
  const place = chance.between(0, among - 1);
  let proposed = 0;
  const propose = () => Array.from({ length: shape.perIteration }, () => (proposed++ === place ? planted : seed));
  const search = new Simulation(toWorld(shape, `set-${number}`, { seed, propose }), chance).run();
  const isProposed = search.candidates.some(({ config }) => config === planted);
  return { search, isProposed, isBest: search.best?.config === planted };
}

/** Simulates a small search in which everything that can fail fails at random. The number is the random seed. */
export function searchWithFaults(number: number): { readonly search: SimulatedSearch; readonly world: World } {
  const chance = createChance(90_000 + number);
  const tasks = chance.between(5, 12);
  const anyRates = () => Array.from({ length: tasks }, () => chance.between(0, 100) / 100);
  const shape = {
    tasks,
    repeats: chance.between(1, 2),
    iterations: chance.between(1, 10),
    perIteration: chance.between(1, 5),
  };
  const rates = chance.onceIn(6) ? anyRates().map(() => 1) : anyRates();
  const propose = () =>
    Array.from({ length: chance.between(0, 2 * shape.perIteration) }, () => ({
      rates: chance.onceIn(3) ? anyRates() : rates,
      costFactor: chance.between(0, 30) / 10,
    }));
  // Expected cost of all possible replays and agent runs, as a number of runs.
  const { iterations, perIteration, repeats } = shape;
  const runs = tasks * repeats * (2.2 + 0.6 * iterations * perIteration) + 3 * iterations;
  const ceiling = { amount: Math.round(runs * chance.between(8, 40)) / 100, currency: "EUR" };
  const plain = toWorld(shape, `set-${number}`, { seed: { rates, costFactor: 1 }, propose });
  const world: World = {
    ...plain,
    budget: { ...plain.budget, ceiling },
    objective: chance.pick(["success", "cost"]),
    faults: {
      agentFails: 4,
      replayStops: 12,
      copyUnscored: chance.between(2, 20),
      configChanges: 60,
      stationLeaves: 150,
      costs: chance.between(1, 2),
      agentCosts: chance.pick([1, 1, 5, 20]),
      noConfigCause: 3,
    },
  };
  return { search: new Simulation(world, chance).run(), world };
}
