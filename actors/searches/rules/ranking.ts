import { compare, type Fraction, fromText } from "../../fraction.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import { paretoFrontier } from "../../statistics/frontier.js";
import type { HeldOutFigures, SearchedFigures } from "./candidate-figures.js";
import type { Objective } from "./objective.js";

/** The fields of a candidate or the seed that its rank in the search depends on. */
export interface Contender {
  readonly candidateId: string;
  /** Whether the contender is the live config. */
  readonly seed: boolean;
  /**
   * The state of the contender's replay on the searched runs, or for the seed on all runs. Null until the replay
   * starts; some callers pass null until it ends.
   */
  readonly replayState: ReplayState | null;
  /** Null while unknown. */
  readonly searched: SearchedFigures | null;
  /** Null while unknown. The figures of the seed come from its replay of all runs. */
  readonly heldOut: HeldOutFigures | null;
}

/** A contender whose replay finished, with its exact score and cost. */
export interface Ranked<Each extends Contender> {
  readonly contender: Each;
  readonly id: string;
  readonly isSeed: boolean;
  readonly figures: SearchedFigures;
  readonly score: Fraction | null;
  readonly cost: Fraction | null;
}

/**
 * Returns the contenders whose replays finished, in the order given. Only these are ranked, replayed on the held-out
 * runs or chosen as best.
 */
export function rank<Each extends Contender>(contenders: readonly Each[]): readonly Ranked<Each>[] {
  return contenders.flatMap((contender) => {
    const { candidateId: id, seed: isSeed, replayState, searched: figures } = contender;
    if (replayState !== "finished" || figures === null) return [];
    const [score, cost] = [figures.score, figures.cost].map((text) => (text === null ? null : fromText(text)));
    return [{ contender, id, isSeed, figures, score: score ?? null, cost: cost ?? null }];
  });
}

/**
 * Returns the ids on the frontier of score and cost, cheapest first (document 2, "Search detail": `frontier`). The
 * frontier always includes the seed once the seed's replay has finished. With objective `cost`, the frontier includes
 * only candidates that are not `worse` than the seed.
 */
export function searchFrontier(contenders: readonly Contender[], objective: Objective): readonly string[] {
  return toFrontier(rank(contenders), objective).map(({ id }) => id);
}

function toFrontier<Each extends Contender>(
  ranked: readonly Ranked<Each>[],
  objective: Objective,
): readonly Ranked<Each>[] {
  return paretoFrontier(ranked.filter((each) => each.isSeed || objective === "success" || isNotWorse(each)));
}

/** Whether the contender's gain on searched runs is known, and not `worse`. */
function isNotWorse({ figures }: Pick<Ranked<Contender>, "figures">): boolean {
  return figures.searchedGain !== null && figures.searchedGain.verdict !== "worse";
}

/**
 * Ranks the candidates to replay on the held-out runs, best first. Only candidates on the frontier are ranked, without
 * the seed. Candidates that are `worse` than the seed on searched runs are omitted too, because they could never be
 * best.
 *
 * With objective `success`, the highest score comes first, then the lowest cost. With `cost`, the lowest cost comes
 * first, then the highest score. Ties keep the order given. The caller replays only the first three.
 */
export function rankToHoldOut<Each extends Contender>(
  contenders: readonly Each[],
  objective: Objective,
): readonly Each[] {
  const given = rank(contenders);
  const onFrontier = new Set(toFrontier(given, objective).map(({ id }) => id));
  return given
    .filter(({ id, isSeed, figures }) => !isSeed && onFrontier.has(id) && figures.searchedGain?.verdict !== "worse")
    .sort(bestFirst(objective))
    .map(({ contender }) => contender);
}

/** Compares two contenders; negative if the first is better. */
type Comparing = (a: Ranked<Contender>, b: Ranked<Contender>) => number;

/** A criterion for ordering candidates. */
interface Criterion {
  readonly by: "score" | "cost";
  readonly compare: Comparing;
}

const byScore: Criterion = { by: "score", compare: (a, b) => compareOrNull(b.score, a.score, "null is less") };
const byCost: Criterion = { by: "cost", compare: (a, b) => compareOrNull(a.cost, b.cost, "null is more") };

/** Returns the criteria for ordering candidates, the decisive one first. */
export function toCriteria(objective: Objective): readonly [Criterion, Criterion] {
  return objective === "success" ? [byScore, byCost] : [byCost, byScore];
}

/** Returns the comparison that puts the best contender first. */
export function bestFirst(objective: Objective): Comparing {
  const [first, second] = toCriteria(objective);
  return (a, b) => first.compare(a, b) || second.compare(a, b);
}

function compareOrNull(a: Fraction | null, b: Fraction | null, nulls: "null is less" | "null is more"): number {
  if (a !== null && b !== null) return compare(a, b);
  return (Number(b === null) - Number(a === null)) * (nulls === "null is less" ? 1 : -1);
}

/**
 * Whether a contender beats the seed on searched runs. With objective `success`, the contender's gain must be `better`.
 * With `cost`, the contender must be cheaper than the seed, and its gain must not be `worse`.
 */
export function beatsSeed(each: Ranked<Contender>, seed: Ranked<Contender>, objective: Objective): boolean {
  if (objective === "success") return each.figures.searchedGain?.verdict === "better";
  return isNotWorse(each) && isCheaper(each, seed);
}

function isCheaper(a: Ranked<Contender>, b: Ranked<Contender>): boolean {
  return a.cost !== null && b.cost !== null && compare(a.cost, b.cost) < 0;
}

/** Whether any candidate beats the seed on searched runs, with or without a replay on held-out runs. */
export function hasGain(contenders: readonly Contender[], objective: Objective): boolean {
  const ranked = rank(contenders);
  const seed = ranked.find(({ isSeed }) => isSeed);
  return seed !== undefined && ranked.some((each) => !each.isSeed && beatsSeed(each, seed, objective));
}

/**
 * Returns the config that leads so far; null until the seed's replay finishes. With objective `success`, this is the
 * config with the highest score. With `cost`, it is the cheapest config that is not `worse` than the seed. Ties go to
 * the earlier config.
 */
export function findLeader<Each extends Contender>(contenders: readonly Each[], objective: Objective): Each | null {
  const ranked = rank(contenders);
  const seed = ranked.find(({ isSeed }) => isSeed);
  if (seed === undefined) return null;
  const leads = (each: Ranked<Each>, leader: Ranked<Each>): boolean =>
    objective === "cost"
      ? isNotWorse(each) && isCheaper(each, leader)
      : compareOrNull(each.score, leader.score, "null is less") > 0;
  return ranked.filter(({ isSeed }) => !isSeed).reduce((leader, each) => (leads(each, leader) ? each : leader), seed)
    .contender;
}

/** Marks a candidate whose gain on searched runs is not confirmed: the held-out tasks show no gain, or are too few. */
export type OnlyOnSeenTasks = "marked" | "too-few-held-out";

/**
 * Determines whether a candidate's gain shows only on the searched tasks, on which the candidate was tuned (document 2,
 * "Candidate of a search"). The first case that applies counts:
 * 1. The candidate is not `better` on the searched tasks, or has no held-out gain yet: null.
 * 2. The held-out gain covers fewer than 5 tasks: `too-few-held-out`.
 * 3. The candidate is not `better` on the held-out tasks: `marked`.
 * 4. Otherwise null.
 */
export function onlyOnSeenTasks({
  searched,
  heldOut,
}: Pick<Contender, "searched" | "heldOut">): OnlyOnSeenTasks | null {
  const gain = heldOut?.heldOutGain ?? null;
  if (searched?.searchedGain?.verdict !== "better" || gain === null) return null;
  if (gain.few) return "too-few-held-out";
  return gain.verdict === "better" ? null : "marked";
}
