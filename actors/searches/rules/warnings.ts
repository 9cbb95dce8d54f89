import { compare, decimal, fraction, multiply } from "../../fraction.js";
import type { Money } from "../../money.js";
import type { SetHealth } from "../../replays/figures/set-health.js";
import { FEW } from "../../statistics/copy.js";
import { allotBudget, type CostedEntry, expectCosts, roundDown, sumCosts } from "./allotments.js";
import type { SearchBudget } from "./budget.js";
import { MIN_COST_TASKS } from "./held-out-cost.js";
import type { Objective } from "./objective.js";
import type { Split } from "./split.js";

/** A reason to doubt a search's results. Document 2, "Warnings", describes only the first six kinds. */
export type SearchWarning =
  | { readonly kind: "noise-unmeasured" }
  | {
      readonly kind: "noisy";
      readonly spread: number;
      readonly minGain: number;
      readonly neededRepeats: number;
      readonly suggestedRepeats: number;
    }
  | { readonly kind: "saturated"; readonly rate: number }
  | { readonly kind: "judge-unstable"; readonly agreement: number; readonly compared: number }
  | { readonly kind: "flaky-checks"; readonly flaky: number; readonly rechecked: number }
  | {
      readonly kind: "no-headroom";
      readonly gain: number;
      readonly low: number;
      readonly high: number;
      readonly answered: number;
    }
  /** The allotment of the live config's replay is below the expected cost of all its copies. */
  | { readonly kind: "thin-budget"; readonly allotted: Money; readonly expected: Money }
  /**
   * Too few tasks are held out. With objective `success`, they cannot confirm a gain (`onlyOnSeenTasks` is
   * `too-few-held-out`). With `cost`, they cannot confirm a lower cost, so the best is always the live config.
   */
  | { readonly kind: "too-few-to-confirm"; readonly heldOutTasks: number; readonly neededTasks: number }
  /** The station has a judge but no model is configured, so no copy that needs the judge is scored. */
  | { readonly kind: "judging-not-set-up" }
  /**
   * No run of the set reported a cost in the ceiling's currency, but some runs reported a cost in another currency. So
   * no known cost determines the allotments. The start of a replay has the same warning.
   */
  | { readonly kind: "other-currency" };

/** The data for a search's warnings. */
export interface WarningSources {
  /** The set's health under the current live config. */
  readonly health: SetHealth;
  readonly minGain: number;
  readonly objective: Objective;
  /** Whether the station has a judge but no model is configured. */
  readonly lacksModel: boolean;
  readonly budget: SearchBudget;
  readonly split: Split<CostedEntry>;
}

/** Lists the warnings: first the warnings of document 2 in its order, then the others. */
export function listWarnings(sources: WarningSources): readonly SearchWarning[] {
  return [
    ...warnOfNoise(sources),
    ...warnOfHealth(sources.health),
    ...warnOfBudget(sources),
    ...warnOfHeldOut(sources),
    ...(sources.lacksModel ? [{ kind: "judging-not-set-up" } as const] : []),
    ...warnOfCurrency(sources),
  ];
}

function warnOfNoise({ health: { noise }, minGain, budget }: WarningSources): readonly SearchWarning[] {
  if (noise === null) return [{ kind: "noise-unmeasured" }];
  const { spread, neededRepeats, suggestedRepeats } = noise;
  if (neededRepeats <= budget.repeats) return [];
  return [{ kind: "noisy", spread, minGain, neededRepeats, suggestedRepeats }];
}

function warnOfHealth({ saturation, judge, checks, oracle }: SetHealth): readonly SearchWarning[] {
  const warnings: SearchWarning[] = [];
  if (saturation?.saturated) warnings.push({ kind: "saturated", rate: saturation.rate });
  if (judge?.unstable && judge.agreement !== null) {
    warnings.push({ kind: "judge-unstable", agreement: judge.agreement, compared: judge.compared });
  }
  if (checks !== null && checks.flaky.length > 0) {
    warnings.push({ kind: "flaky-checks", flaky: checks.flaky.length, rechecked: checks.rechecked });
  }
  if (oracle?.roomToImprove === false && oracle.gain !== null) {
    const { gain, low, high } = oracle.gain;
    warnings.push({ kind: "no-headroom", gain, low, high, answered: oracle.answered });
  }
  return warnings;
}

function warnOfBudget({ budget, split }: WarningSources): readonly SearchWarning[] {
  const { currency } = budget.ceiling;
  const entries = [...split.searched, ...split.heldOut];
  const costs = expectCosts(entries, currency);
  const expected = roundDown(multiply(fraction(budget.repeats), sumCosts(costs, entries)), currency);
  const allotted = allotBudget(budget, split).seed;
  if (!costs.isKnown || compare(decimal(allotted.amount), decimal(expected.amount)) >= 0) return [];
  return [{ kind: "thin-budget", allotted, expected }];
}

function warnOfHeldOut({ split: { heldOutTasks }, objective }: WarningSources): readonly SearchWarning[] {
  const neededTasks = objective === "success" ? FEW : MIN_COST_TASKS;
  return heldOutTasks < neededTasks ? [{ kind: "too-few-to-confirm", heldOutTasks, neededTasks }] : [];
}

function warnOfCurrency({ budget: { ceiling }, split }: WarningSources): readonly SearchWarning[] {
  const reported = [...split.searched, ...split.heldOut].flatMap(({ spent }) => spent?.currency ?? []);
  return reported.length > 0 && !reported.includes(ceiling.currency) ? [{ kind: "other-currency" }] : [];
}
