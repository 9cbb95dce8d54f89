import type { Body } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { toFields } from "../command/table.js";
import { type Money, toMoney, toPoints } from "./figures.js";
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

/** Estimates a search of a set: runs, money, time, and what makes its result unreliable. Starts nothing. */
export async function estimateSearch(
  context: Context,
  options: EstimateOptions,
  name: string | undefined,
): Promise<void> {
  const terms = toTerms(options);
  const { place, setId } = await findSetPlace(context, name);
  const { path } = place;
  const estimate = await context.client.post(ESTIMATE, { path, body: { setId, ...terms }, signal: context.signal });
  noteWarnings(context.terminal, estimate.warnings);
  const { runs, ceiling, perReplayAllotments: allotted, estimatedDuration: ms } = estimate;
  context.show(estimate, () => [
    `at most ${runs.total} runs within ${toMoney(ceiling)}${ms === null ? "" : `, about ${toDuration(ms)}`}`,
    "",
    ...toFields(context.terminal, [
      ["objective", estimate.objective],
      ["searched tasks", estimate.searchedTasks],
      ["held-out tasks", estimate.heldOutTasks],
      ["live config", `${runs.seed} runs, ${toMoney(allotted.seed)}`],
      ["candidates", `${runs.searchReplays} runs, ${toMoney(allotted.searchReplay)} each replay`],
      ["confirmation", `${runs.heldOutReplays} runs, ${toMoney(allotted.heldOutReplay)} each replay`],
      ["agent", `${runs.agent} runs, ${toMoney(allotted.agentRun)} each`],
      ["smallest real gain", `${toPoints(estimate.minGain).replace("+", "")} points`],
    ]),
  ]);
}

/** Starts a search of a set. */
export async function startSearch(context: Context, options: StartOptions, name: string | undefined): Promise<void> {
  const terms = toTerms(options);
  const { place, setId } = await findSetPlace(context, name);
  const station = place.line.stations.find(({ key }) => key === place.stationKey);
  const { agent: harness = station?.harness ?? "", model, effort } = options;
  const agent: Body<"post", typeof START>["agent"] = { harness, model: model ?? null, effort: effort ?? null };
  const started = await context.client.post(START, {
    path: place.path,
    body: { setId, ...terms, agent },
    signal: context.signal,
  });
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
): Promise<{ readonly place: Place; readonly setId: string }> {
  const { set } = await findSet(context, name);
  return { place: await findPlace(context, { line: set.lineId, station: set.stationId }), setId: set.id };
}

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
