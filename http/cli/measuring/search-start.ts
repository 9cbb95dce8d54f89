import type { Body } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { inOptions } from "../command/in-options.js";
import { toFields } from "../command/table.js";
import { type Money, toCount, toMoney, toPercent, toPoints } from "./figures.js";
import { findPlace, type Place } from "./place.js";
import type { efforts, objectives } from "./search-options.js";
import { noteWarnings } from "./search-warnings.js";
import { findSet } from "./sets.js";

const ESTIMATE = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches/estimate";
const START = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches";

export interface EstimateOptions extends CommonOptions {
  readonly iterations: number;
  readonly perIteration: number;
  readonly repeats: number;
  readonly concurrency: number;
  readonly ceiling: Money;
  readonly objective?: (typeof objectives)[number];
}

export interface StartOptions extends EstimateOptions {
  readonly agent?: string;
  readonly model?: string;
  readonly effort?: (typeof efforts)[number];
}

/**
 * Estimates a search of a set: its runs, its cost, its duration, and the reasons why its result may be unreliable.
 * Starts nothing.
 */
export async function estimateSearch(
  context: Context,
  options: EstimateOptions,
  name: string | undefined,
): Promise<void> {
  const terms = toTerms(options);
  const { place, setId, setName } = await findSetPlace(context, name);
  const { path } = place;
  const call = context.client.post(ESTIMATE, { path, body: { setId, ...terms }, signal: context.signal });
  const estimate = await inOptions(call, toFieldNames(setName));
  noteWarnings(context.terminal, estimate.warnings);
  const { runs, ceiling, perReplayAllotments: allotted, estimatedDuration: ms } = estimate;
  const share = (part: Money) => `${toMoney(part)} (${toPercent(part.amount / ceiling.amount)} of the ceiling)`;
  context.show(estimate, () => [
    `at most ${runs.total} runs within ${toMoney(ceiling)}${ms === null ? "" : `, about ${toDuration(ms)}`}`,
    "",
    ...toFields(context.terminal, [
      ["objective", estimate.objective],
      ["searched tasks", estimate.searchedTasks],
      ["held-out tasks", estimate.heldOutTasks],
      ["live config", `${toCount(runs.seed, "run")}, at most ${share(allotted.seed)}`],
      ["candidates", `${toCount(runs.searchReplays, "run")}, each replay at most ${share(allotted.searchReplay)}`],
      ["confirmation", `${toCount(runs.heldOutReplays, "run")}, each replay at most ${share(allotted.heldOutReplay)}`],
      ["agent", `${toCount(runs.agent, "run")}, each at most ${share(allotted.agentRun)}`],
      ["smallest real gain", `${toPoints(estimate.minGain).replace("+", "")} points`],
    ]),
  ]);
}

/** Starts a search of a set. */
export async function startSearch(context: Context, options: StartOptions, name: string | undefined): Promise<void> {
  const terms = toTerms(options);
  const { place, setId, setName } = await findSetPlace(context, name);
  const station = place.line.stations.find(({ key }) => key === place.stationKey);
  const { agent: harness = station?.harness ?? "", model, effort } = options;
  const agent: Body<"post", typeof START>["agent"] = { harness, model: model ?? null, effort: effort ?? null };
  const body = { setId, ...terms, agent };
  const call = context.client.post(START, { path: place.path, body, signal: context.signal });
  const started = await inOptions(call, toFieldNames(setName));
  context.remember({ search: started.id });
  noteWarnings(context.terminal, started.warnings);
  context.show(started, () => [
    `started ${started.id}, objective: ${started.objective}`,
    "follow it with signalbox search watch",
  ]);
}

async function findSetPlace(
  context: Context,
  name: string | undefined,
): Promise<{ readonly place: Place; readonly setId: string; readonly setName: string }> {
  const { set } = await findSet(context, name);
  const place = await findPlace(context, { line: set.lineId, station: set.stationId });
  return { place, setId: set.id, setName: set.name };
}

/** The start of the error message for each body field. */
const toFieldNames = (setName: string) => ({
  setId: `the set "${setName}" `,
  "budget.iterations": "--iterations: ",
  "budget.perIteration": "--per-iteration: ",
  "budget.ceiling.amount": "--ceiling: ",
  "budget.ceiling.currency": "--ceiling: ",
  "budget.concurrency": "--concurrency: ",
  "budget.repeats": "--repeats: ",
  "agent.harness": "--agent: ",
  "agent.model": "--model: ",
  "agent.effort": "--effort: ",
  objective: "--objective: ",
});

function toTerms(options: EstimateOptions): Omit<Body<"post", typeof ESTIMATE>, "setId"> {
  const { iterations, perIteration, ceiling, concurrency, repeats, objective = null } = options;
  return { budget: { iterations, perIteration, ceiling, concurrency, repeats }, objective };
}

/** Formats a duration, such as `90 s`, `12 min` or `3.5 h`. */
function toDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Number((seconds / 3_600).toFixed(1))} h`;
}
