import { compare, type Fraction, fromText } from "../../fraction.js";
import { compareText } from "../../statistics/copy.js";
import type { Objective } from "./objective.js";
import { type Contender, rank } from "./ranking.js";

/** The best configs at a searched task. */
export interface TaskFrontier {
  readonly taskId: string;
  readonly candidateIds: readonly string[];
}

/** A config that an agent may start from, with the number of searched tasks on which no config is better. */
export interface Parent {
  readonly candidateId: string;
  readonly tasks: number;
}

/** The configs that an agent may start from. */
export interface Parents {
  /** Tasks that any config scored, ordered by id. */
  readonly tasks: readonly TaskFrontier[];
  /** Parents that are best at the most tasks come first. Ties keep the order of the contenders. */
  readonly parents: readonly Parent[];
}

/**
 * Computes the per-task frontier. For each searched task, it contains the configs with the highest success. With
 * objective `cost`, it contains only the cheapest of these configs. The seed competes like a candidate.
 *
 * A config is left out if another config is at least as good on every task and better on one. So a config that alone
 * solves a hard task is a parent even if another config scores higher overall.
 */
export function findParents(contenders: readonly Contender[], objective: Objective): Parents {
  const configs = rank(contenders).map(({ id, figures }) => ({ id, tasks: listTasks(figures.tasks, objective) }));
  const undominated = configs.filter(
    (config) => !configs.some((other) => other !== config && dominates(other, config)),
  );
  const taskIds = [...new Set(undominated.flatMap(({ tasks }) => [...tasks.keys()]))].sort(compareText);
  const tasks = taskIds.map((taskId) => ({ taskId, candidateIds: bestAt(taskId, undominated) }));
  const parents = undominated.map(({ id }) => ({
    candidateId: id,
    tasks: tasks.filter(({ candidateIds }) => candidateIds.includes(id)).length,
  }));
  return { tasks, parents: parents.filter((parent) => parent.tasks > 0).sort((a, b) => b.tasks - a.tasks) };
}

interface Place {
  readonly share: Fraction;
  /** Null with the objective `success`, and if the cost is unknown. An unknown cost ranks after any known cost. */
  readonly cost: Fraction | null;
}

interface Config {
  readonly id: string;
  readonly tasks: ReadonlyMap<string, Place>;
}

type TaskTexts = readonly { readonly taskId: string; readonly share: string | null; readonly cost: string | null }[];

function listTasks(tasks: TaskTexts, objective: Objective): ReadonlyMap<string, Place> {
  return new Map(
    tasks.flatMap(({ taskId, share, cost }) => {
      if (share === null) return [];
      const place = { share: fromText(share), cost: objective === "cost" && cost !== null ? fromText(cost) : null };
      return [[taskId, place] as const];
    }),
  );
}

/** Compares two configs' results at a task; positive if `a` is better. An unscored result is the worst. */
function comparePlaces(a: Place | undefined, b: Place | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  const better = compare(a.share, b.share);
  if (better !== 0) return better;
  if (a.cost === null || b.cost === null) return Number(b.cost === null) - Number(a.cost === null);
  return compare(b.cost, a.cost);
}

function dominates(config: Config, other: Config): boolean {
  const taskIds = [...new Set([...config.tasks.keys(), ...other.tasks.keys()])];
  const places = taskIds.map((taskId) => comparePlaces(config.tasks.get(taskId), other.tasks.get(taskId)));
  return places.every((place) => place >= 0) && places.some((place) => place > 0);
}

function bestAt(taskId: string, configs: readonly Config[]): readonly string[] {
  const best = configs.map(({ tasks }) => tasks.get(taskId)).reduce((a, b) => (comparePlaces(b, a) > 0 ? b : a));
  return configs.filter(({ tasks }) => comparePlaces(tasks.get(taskId), best) === 0).map(({ id }) => id);
}
