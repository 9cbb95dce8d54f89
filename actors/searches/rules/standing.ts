import { compare, type Fraction, fromText } from "../../fraction.js";
import type { ReplayState } from "../../replays/replay.js";
import { paretoFrontier } from "../../statistics/frontier.js";
import type { HeldOutFigures, SearchedFigures } from "./candidate-figures.js";
import type { Objective } from "./objective.js";

/** A candidate of a search, or its seed, as far as its place among the others is concerned. */
export interface Contender {
  readonly candidateId: string;
  /** The live config. */
  readonly seed: boolean;
  /** Of its replay on the searched runs, for the seed on all; null until it started. */
  readonly replayState: ReplayState | null;
  /** Null until its replay ended. */
  readonly searched: SearchedFigures | null;
  /** Null until its held-out replay ended; for the seed until its replay did. */
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

/** Those whose replays finished, in the order given: no other is ranked, held out or best. */
export function rank<Each extends Contender>(contenders: readonly Each[]): readonly Ranked<Each>[] {
  return contenders.flatMap((contender) => {
    const { candidateId: id, seed: isSeed, replayState, searched: figures } = contender;
    if (replayState !== "finished" || figures === null) return [];
    const [score, cost] = [figures.score, figures.cost].map((text) => (text === null ? null : fromText(text)));
    return [{ contender, id, isSeed, figures, score: score ?? null, cost: cost ?? null }];
  });
}

/**
 * The ids on the frontier of score and cost, cheapest first, the seed always among them once its replay finished
 * (document 2, "Search detail": `frontier`). With the objective `cost` only candidates that did not do worse than the
 * seed, as far as noise lets tell.
 */
export function searchFrontier(contenders: readonly Contender[], objective: Objective): readonly string[] {
  return frontierOf(rank(contenders), objective).map(({ id }) => id);
}

function frontierOf<Each extends Contender>(
  ranked: readonly Ranked<Each>[],
  objective: Objective,
): readonly Ranked<Each>[] {
  return paretoFrontier(ranked.filter((each) => each.isSeed || objective === "success" || isNotWorse(each)));
}

/** Whether its gain on searched runs is known, and not `worse`. */
function isNotWorse({ figures }: Pick<Ranked<Contender>, "figures">): boolean {
  return figures.searchedGain !== null && figures.searchedGain.verdict !== "worse";
}

/**
 * The candidates to be held out, best first: those on the frontier but the seed. By the objective `success` none that
 * did worse than the seed on searched runs, which could never be best; the highest score first, then the cheapest. By
 * `cost` the other way round. Equal ones in the order given. The caller takes three.
 */
export function rankToHoldOut<Each extends Contender>(
  contenders: readonly Each[],
  objective: Objective,
): readonly Each[] {
  const given = rank(contenders);
  const onFrontier = new Set(frontierOf(given, objective).map(({ id }) => id));
  return given
    .filter(({ id, isSeed, figures }) => !isSeed && onFrontier.has(id) && figures.searchedGain?.verdict !== "worse")
    .sort(bestFirst(objective))
    .map(({ contender }) => contender);
}

/** Compares two; below 0 when the first is better. */
type Comparing = (a: Ranked<Contender>, b: Ranked<Contender>) => number;

/** A criterion by which candidates are ordered. */
interface Criterion {
  readonly by: "score" | "cost";
  readonly compare: Comparing;
}

const byScore: Criterion = { by: "score", compare: (a, b) => compareOrNull(b.score, a.score, "null is less") };
const byCost: Criterion = { by: "cost", compare: (a, b) => compareOrNull(a.cost, b.cost, "null is more") };

/** What orders candidates, the criterion that decides first before the other. */
export function criteriaOf(objective: Objective): readonly [Criterion, Criterion] {
  return objective === "success" ? [byScore, byCost] : [byCost, byScore];
}

export function bestFirst(objective: Objective): Comparing {
  const [first, second] = criteriaOf(objective);
  return (a, b) => first.compare(a, b) || second.compare(a, b);
}

function compareOrNull(a: Fraction | null, b: Fraction | null, nulls: "null is less" | "null is more"): number {
  if (a !== null && b !== null) return compare(a, b);
  return (Number(b === null) - Number(a === null)) * (nulls === "null is less" ? 1 : -1);
}

/** Whether it did better on searched runs: by more than noise for `success`; for `cost` cheaper and not worse. */
export function beatsSeed(each: Ranked<Contender>, seed: Ranked<Contender>, objective: Objective): boolean {
  if (objective === "success") return each.figures.searchedGain?.verdict === "better";
  return isNotWorse(each) && isCheaper(each, seed);
}

function isCheaper(a: Ranked<Contender>, b: Ranked<Contender>): boolean {
  return a.cost !== null && b.cost !== null && compare(a.cost, b.cost) < 0;
}

/** Whether any candidate beats the seed on searched runs, held out or not. */
export function hasGain(contenders: readonly Contender[], objective: Objective): boolean {
  const ranked = rank(contenders);
  const seed = ranked.find(({ isSeed }) => isSeed);
  return seed !== undefined && ranked.some((each) => !each.isSeed && beatsSeed(each, seed, objective));
}

/**
 * The config that leads so far: of the seed and those before it in the order given, the one with the highest score; by
 * the objective `cost` the cheapest that did not do worse than the seed. The earlier one stays where another is as good.
 * Null until the seed's replay finished.
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

/** What is said of a candidate that did better on the runs it was tuned on. */
export type OnlyOnSeenTasks = "marked" | "too-few-held-out";

/**
 * Whether the gain of a candidate showed only on the tasks it was tuned on (document 2, "Candidate of a search"):
 * `too-few-held-out` when fewer than 5 held-out tasks can tell, `marked` when it did not do better on them. Null
 * otherwise, also until it was held out.
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
