import { currencySchema, type StationBody, stationSchema } from "../../lines/station.js";
import type { FieldError } from "../../refusal.js";
import { MAX_CEILING } from "../../replays/starting/replay-plan.js";
import type { CostedEntry } from "../rules/allotments.js";
import { countRuns, isCeilingTooLow, splitDearest } from "../rules/estimate.js";
import type { Objective } from "../rules/objective.js";
import { objectives } from "../rules/objective.js";
import type { SearchAgent, SearchBudget } from "../search/search.js";
import type { SearchTerms } from "../search/search.messages.js";

/**
 * The functions that refuse invalid terms of a search, with the messages of document 2. They have no side effects. Both
 * a start and an estimate use them.
 */

/** Maximum length of a model name, in characters. */
const MAX_MODEL_CHARACTERS = 60;
/**
 * Maximum length of any name in a request, in characters. A model name above this limit is refused with the message
 * about this limit.
 */
const MAX_CHARACTERS = 200;

/** Lists the faults of a budget that do not depend on the set. */
export function refuseBudget({ iterations, perIteration, ceiling, concurrency, repeats }: SearchBudget): FieldError[] {
  return [
    ...refuseCount("iterations", "Search iterations", iterations, 10),
    ...refuseCount("perIteration", "Search candidates per iteration", perIteration, 5),
    ...refuseMoney(ceiling),
    ...refuseCount("concurrency", "Search concurrency", concurrency, 10),
    ...refuseCount("repeats", "Search repeats", repeats, 5),
  ];
}

function refuseCount(field: string, what: string, value: number, max: number): FieldError[] {
  if (Number.isInteger(value) && value >= 1 && value <= max) return [];
  return [{ path: `budget.${field}`, message: `${what} must be from 1 to ${max}.` }];
}

function refuseMoney({ amount, currency }: SearchBudget["ceiling"]): FieldError[] {
  const isAmount = Number.isFinite(amount) && amount > 0 && amount <= MAX_CEILING;
  const bounds = { path: "budget.ceiling.amount", message: `must be above 0 and at most ${MAX_CEILING}` };
  const named = { path: "budget.ceiling.currency", message: "must be a currency such as EUR" };
  return [...(isAmount ? [] : [bounds]), ...(currencySchema.safeParse(currency).success ? [] : [named])];
}

/** Returns the agent, or its faults. `harnesses` are the harnesses that a runner can start. */
export function toSearchAgent(
  { harness, model, effort }: SearchTerms["agent"],
  harnesses: readonly string[],
): SearchAgent | { readonly faults: readonly FieldError[] } {
  const known = toEffort(effort);
  const faults = [
    ...(harnesses.includes(harness) ? [] : [{ path: "agent.harness", message: harnessMessage(harnesses) }]),
    ...refuseModel(model),
    ...(known === undefined ? [{ path: "agent.effort", message: effortMessage }] : []),
  ];
  return known === undefined || faults.length > 0 ? { faults } : { harness, model, effort: known };
}

function harnessMessage(harnesses: readonly string[]): string {
  return `must be a harness that a runner can start: ${harnesses.join(", ")}`;
}

const effortMessage = "must be low, medium, high, xhigh or max";

/** Parses an effort level. Returns undefined for an invalid value. */
function toEffort(effort: string | null): StationBody["effort"] | undefined {
  const parsed = stationSchema.shape.effort.safeParse(effort);
  return parsed.success ? parsed.data : undefined;
}

function refuseModel(model: string | null): FieldError[] {
  if (model === null) return [];
  const { length } = model;
  if (length === 0 || length > MAX_CHARACTERS) {
    return [{ path: "agent.model", message: `must be 1 to ${MAX_CHARACTERS} characters` }];
  }
  if (length <= MAX_MODEL_CHARACTERS) return [];
  return [{ path: "agent.model", message: `Model must be 1 to ${MAX_MODEL_CHARACTERS} characters, or empty.` }];
}

/** Returns the objective, or null for null; undefined for an invalid value. */
export function toObjective(objective: string | null): Objective | null | undefined {
  return objective === null ? null : objectives.find((one) => one === objective);
}

/** Lists the faults of a budget that depend on the set. The budget must already have passed {@link refuseBudget}. */
export function refuseForSet(entries: readonly CostedEntry[], budget: SearchBudget): FieldError[] {
  const split = splitDearest(entries, budget.ceiling.currency);
  if (split === null) return [{ path: "setId", message: tooFewMessage }];
  const runs = countRuns(budget, split);
  if (!isCeilingTooLow(budget.ceiling, runs)) return [];
  const replayRuns = runs.seed + runs.searchReplays + runs.heldOutReplays;
  const message =
    `must allow at least 0.01 ${budget.ceiling.currency} for each of the ${replayRuns} replay runs: ` +
    `at least ${(replayRuns / 100).toFixed(2)}`;
  return [{ path: "budget.ceiling.amount", message }];
}

const tooFewMessage =
  "covers too few tasks: a search needs runs of at least 5 different tasks, 3 that are searched and 2 that are held out";
