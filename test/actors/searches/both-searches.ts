import { createHash } from "node:crypto";
import { toText } from "../../../actors/fraction.js";
import type { HeldOutFigures, SearchedFigures } from "../../../actors/searches/rules/candidate-figures.js";
import type { Objective } from "../../../actors/searches/rules/objective.js";
import { onlyOnSeenTasks } from "../../../actors/searches/rules/ranking.js";
import { createChance } from "../../simulation/chance.js";
import { InstantSearch } from "../../support/instant-search.js";
import { type Draws, Simulation, type World } from "./rules/simulated-search.js";
import type { Shape } from "./rules/simulated-worlds.js";

/** An ended search. A search by the machines and a search by the rules alone must agree on all these fields. */
export interface EndedSearch {
  readonly ending: string | null;
  readonly state: string;
  /**
   * `best` is the name of the best candidate, and `mark` is the mark of this candidate. Each is null if there is none.
   */
  readonly best: string | null;
  readonly mark: string | null;
  /** The amount counted against the ceiling, as a fraction. */
  readonly counted: string;
  readonly iterations: readonly {
    readonly kind: string;
    readonly state: string;
    readonly admitted: number;
    readonly outcome: string | null;
  }[];
  readonly candidates: readonly {
    readonly name: string;
    readonly iteration: number | null;
    readonly replayState: string | null;
    readonly heldOutReplayState: string | null;
    readonly searched: SearchedFigures | null;
    readonly heldOut: HeldOutFigures | null;
  }[];
}

/**
 * Returns a config's true success rate at a task. `place` is the task's position in the set, as a number from 0 to 1.
 * The config's name is `seed`, or `c1` and so on in the order of proposal.
 */
export type TrueRates = (candidate: string, place: number) => number;

/** All configs have the same success rates. The rates of the tasks range from 0 to 1. */
export const NO_GAIN: TrueRates = (_, place) => place;

/** The live config always succeeds; no other config ever succeeds. */
export const ALL_WORSE: TrueRates = (candidate) => (candidate === "seed" ? 1 : 0);

/** Gives the candidate `name` a success rate that is higher by 0.25 at each task than the rate of the other configs. */
export function plantedAt(name: string): TrueRates {
  return (candidate, place) => 0.75 * place + (candidate === name ? 0.25 : 0);
}

const CEILING = { amount: 1_000, currency: "EUR" };
const FINEST = 2 ** 32;

/** The objective is `success` by default. */
interface SearchedShape extends Shape {
  readonly objective?: Objective;
}

/** Runs a search through the machines with instant replays, and the same search through the rules alone. */
export function searchBoth(shape: SearchedShape, number: number, rates: TrueRates) {
  const draws = drawByName(number, (candidate, task) => rates(candidate, (task + 0.5) / shape.tasks));
  return { machines: searchByMachines(shape, number, draws), rules: searchByRules(shape, number, draws) };
}

/**
 * Derives the results of copies and the costs of copies and agents from names and a seed, so that both searches get the
 * same values.
 */
function drawByName(number: number, rates: TrueRates): Draws {
  const draw = (...of: readonly (string | number)[]) =>
    createHash("sha256")
      .update(JSON.stringify([number, ...of]))
      .digest()
      .readUInt32BE(0) / FINEST;
  return {
    copy: ({ candidate, task, repeat }) => ({
      succeeded: draw("result", candidate, task, repeat) < rates(candidate, task),
      amount: Math.round(draw("cost", candidate, task, repeat) * 200) / 1_000,
    }),
    agentAmount: (iteration) => Math.round(draw("agent", iteration) * 600) / 1_000,
  };
}

function searchByMachines(
  { tasks, repeats, iterations, perIteration, objective = "success" }: SearchedShape,
  number: number,
  draws: Draws,
): EndedSearch {
  const scene = new InstantSearch({
    setId: `rset_${number}`,
    tasks,
    budget: { repeats, iterations, perIteration },
    objective,
    ...draws,
    propose: (admitted) => Array.from({ length: perIteration }, (_, n) => `c${admitted + n + 1}`),
  });
  scene.run();
  const { ending, state, best } = scene.search;
  return {
    ending,
    state,
    best: best?.name ?? null,
    mark: best?.onlyOnSeenTasks ?? null,
    counted: scene.counted,
    iterations: scene.iterations.map(({ kind, state, proposed, reflection }) => ({
      kind,
      state,
      admitted: proposed.length,
      outcome: reflection?.outcome ?? null,
    })),
    candidates: scene.candidates.map(({ name, iteration, replayEnded, heldOutEnded, searched, heldOut }) => ({
      name,
      iteration,
      replayState: replayEnded,
      heldOutReplayState: heldOutEnded,
      searched,
      heldOut,
    })),
  };
}

function searchByRules(
  { tasks, repeats, iterations, perIteration, objective = "success" }: SearchedShape,
  number: number,
  draws: Draws,
): EndedSearch {
  const seed = { rates: Array.from({ length: tasks }, () => 0), costFactor: 1 };
  const world: World = {
    setId: `rset_${number}`,
    seed,
    objective,
    minGain: 0.05,
    draws,
    budget: { repeats, iterations, perIteration, ceiling: CEILING },
    propose: () => Array.from({ length: perIteration }, () => seed),
    nameRun: (task) => ({ runId: `run_${task + 1}`, taskId: `task_${task + 1}`, outcome: "other" }),
  };
  const found = new Simulation(world, createChance(number)).run();
  const { ending, state, best, spent } = found;
  return {
    ending,
    state,
    best: best?.candidateId ?? null,
    counted: toText(spent),
    mark: best === null ? null : onlyOnSeenTasks(best),
    iterations: found.iterations.map(({ kind, state, admitted, outcome }) => ({ kind, state, admitted, outcome })),
    candidates: found.candidates.map(
      ({ candidateId, iteration, replayState, heldOutReplayState, searched, heldOut }) => ({
        name: candidateId,
        iteration,
        replayState,
        heldOutReplayState,
        searched,
        heldOut,
      }),
    ),
  };
}
