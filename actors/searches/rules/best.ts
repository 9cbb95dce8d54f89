import type { Objective } from "./objective.js";
import { beatsSeed, bestFirst, type Contender, type Ranked, rank, toCriteria } from "./ranking.js";

/** Why a config is the best of a search. The first four reasons apply to the live config, the others to candidates. */
export const bestReasons = [
  "no-candidate",
  "none-better",
  "none-held-out",
  "none-confirmed",
  "only-confirmed",
  "highest-score",
  "cheapest",
  "greatest-held-out-gain",
  "first-admitted",
] as const;
export type BestReason = (typeof bestReasons)[number];

/** The best config of a search, and the reason. */
export interface Best<Each extends Contender> {
  readonly contender: Each;
  readonly because: BestReason;
}

/**
 * Chooses the best config of a search (document 2, "Search": `best`). Returns null until the seed's replay finishes.
 * The best is the seed, unless a candidate beats the seed on the searched runs and the held-out runs confirm the
 * candidate. For that, the held-out gain must be known and not `worse`.
 * - Objective `success`: a candidate beats the seed if its gain on the searched runs is `better`. The highest score
 * wins, then the lowest cost.
 * - Objective `cost`: a candidate beats the seed if it costs less per run and its gain on the searched runs is not
 * `worse`. It must also be cheaper on the held-out tasks, beyond chance. The lowest cost wins, then the highest score.
 * If either cost is unknown, the candidate is not cheaper.
 *
 * Between candidates with the same score and cost, the greatest held-out gain wins, then the first given.
 */
export function chooseBest<Each extends Contender>(
  contenders: readonly Each[],
  objective: Objective,
): Best<Each> | null {
  const ranked = rank(contenders);
  const seed = ranked.find(({ isSeed }) => isSeed);
  if (seed === undefined) return null;
  const candidates = ranked.filter(({ isSeed }) => !isSeed);
  const better = candidates.filter((each) => beatsSeed(each, seed, objective));
  const first = bestFirst(objective);
  const [best, second] = better
    .filter(({ contender }) => isConfirmed(contender, objective))
    .sort((a, b) => first(a, b) || toHeldOutGain(b) - toHeldOutGain(a));
  if (best === undefined) return { contender: seed.contender, because: whySeed(candidates, better) };
  return {
    contender: best.contender,
    because: second === undefined ? "only-confirmed" : whyBefore(best, second, objective),
  };
}

function whySeed(candidates: readonly Ranked<Contender>[], better: readonly Ranked<Contender>[]): BestReason {
  if (candidates.length === 0) return "no-candidate";
  if (better.length === 0) return "none-better";
  const isHeldOut = ({ contender }: Ranked<Contender>) => (contender.heldOut?.heldOutGain ?? null) !== null;
  return better.some(isHeldOut) ? "none-confirmed" : "none-held-out";
}

/** Returns the first criterion by which the best candidate is ahead of the next one. */
function whyBefore(best: Ranked<Contender>, next: Ranked<Contender>, objective: Objective): BestReason {
  const decides = toCriteria(objective).find(({ compare }) => compare(best, next) !== 0)?.by;
  if (decides !== undefined) return decides === "score" ? "highest-score" : "cheapest";
  return toHeldOutGain(best) > toHeldOutGain(next) ? "greatest-held-out-gain" : "first-admitted";
}

/**
 * Returns the held-out gain in the form that users see, so that the displayed gains explain the choice between two
 * candidates. Pass only contenders whose gain is known.
 */
function toHeldOutGain({ contender }: Ranked<Contender>): number {
  return contender.heldOut?.heldOutGain?.gain ?? -1;
}

/**
 * Whether the contender's held-out gain is known and not `worse`. With objective `cost`, the contender must also be
 * cheaper on the held-out tasks.
 */
function isConfirmed({ heldOut }: Contender, objective: Objective): boolean {
  const gain = heldOut?.heldOutGain ?? null;
  const isNotWorse = gain !== null && gain.verdict !== "worse";
  return isNotWorse && (objective === "success" || heldOut?.heldOutCost?.cheaper === true);
}

/** Sentences that explain each reason, for each objective. */
export const bestReasonTexts: Readonly<Record<BestReason, Readonly<Record<Objective, string>>>> = {
  "no-candidate": alike("No candidate's replay on the searched runs has finished, so the live config stays the best."),
  "none-better": {
    success: "No candidate is better than the live config on the searched runs beyond noise.",
    cost: "No candidate costs less than the live config on the searched runs without being worse there.",
  },
  "none-held-out": {
    success: "Candidates are better than the live config on the searched runs, but none of them has a held-out gain.",
    cost: "Candidates cost less than the live config on the searched runs, but none of them has a held-out gain.",
  },
  "none-confirmed": {
    success: "Candidates are better than the live config on the searched runs, but worse on the held-out runs.",
    cost:
      "Candidates cost less than the live config on the searched runs, but on the held-out runs they are worse, or not " +
      "cheaper beyond chance.",
  },
  "only-confirmed": {
    success: "It is the only candidate that is better on the searched runs and not worse on the held-out runs.",
    cost: "It is the only candidate that costs less and is not worse, on the searched and on the held-out runs.",
  },
  "highest-score": {
    success: "It has the highest score of the candidates that the held-out runs confirm.",
    cost: "It has the highest score of the cheapest candidates that the held-out runs confirm.",
  },
  cheapest: {
    success: "It is the cheapest of the candidates with the highest score that the held-out runs confirm.",
    cost: "It is the cheapest of the candidates that the held-out runs confirm.",
  },
  "greatest-held-out-gain": alike(
    "It has the greatest held-out gain of the confirmed candidates that lead with the same score and cost.",
  ),
  "first-admitted": alike(
    "It was admitted first of the confirmed candidates that lead with the same score, cost and held-out gain.",
  ),
};

function alike(text: string): Readonly<Record<Objective, string>> {
  return { success: text, cost: text };
}
