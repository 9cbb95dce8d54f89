import type { Client, Schema } from "../client/entry.js";
import { type Configured, workStation } from "./configuration.js";
import { line } from "./progress.js";
import { until } from "./until.js";

/**
 * In this part, the demo searches over the first runs of all tasks, with a proposer that needs no model. The proposer
 * proposes the better prompt. This prompt becomes the search's best candidate: more searched tasks improve than chance
 * explains, and the held-out tasks do not get worse.
 */

const CEILING = { amount: 5, currency: "USD" };
const BUDGET = { iterations: 1, perIteration: 1, ceiling: CEILING, concurrency: 4, repeats: 1 };

/** A search's best candidate. */
export interface Found {
  readonly searchId: string;
  readonly candidateId: string;
}

/** Searches and prints the results; returns the best candidate, or null if the results are unexpected. */
export async function showSearch(client: Client, configured: Configured, signal: AbortSignal): Promise<Found | null> {
  const { teamId, lineId, stationId } = configured;
  const setId = await openSet(client, configured);
  line("demo", "");
  line("demo", "search: an agent, which needs no model here, looks for a better prompt over all tasks:");
  const started = await client.post("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches", {
    path: { teamId, lineId, stationId },
    body: { setId, budget: BUDGET, agent: { harness: workStation.harness }, objective: "success" },
  });
  const read = () => client.get("/api/teams/{teamId}/searches/{searchId}", { path: { teamId, searchId: started.id } });
  const isOver = async () => {
    const search = await read();
    if (hasEnded(search)) return null;
    const { items } = await client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", { path: { teamId, setId } });
    const count = (name: "settled" | "of") => items.reduce((sum, { progress }) => sum + progress[name], 0);
    return `search: ${count("settled")} of ${count("of")} replay runs ended; the search is ${search.state}`;
  };
  await until("the search", isOver, signal);
  const { split, seed, candidates, best, bestBecause, ending, spent } = await read();
  line(
    "search",
    `${split.searchedTasks} tasks are searched, ${split.heldOutTasks} are held out and hidden from its agent`,
  );
  for (const candidate of [seed, ...candidates]) show(candidate);
  line(
    "search",
    `it ended (${ending}) for ${spent.amount} ${spent.currency}; its best is ${best?.name}: ${bestBecause?.text}`,
  );
  if (best === null || best.seed || ending !== "iterations-used") return null;
  return { searchId: started.id, candidateId: best.candidateId };
}

function hasEnded({ state }: Schema<"Search">): boolean {
  return state === "finished" || state === "stopped";
}

function show({ name, searchScore, heldOutScore, searchedGain }: Schema<"SearchCandidate">): void {
  const verdictText = searchedGain === null ? "" : ` (${searchedGain.verdict})`;
  line(
    "search",
    `${name}: ${share(searchScore)} of searched tasks${verdictText}, ${share(heldOutScore)} of held-out ones`,
  );
}

function share(score: number | null): string {
  return score === null ? "none" : `${Math.round(100 * score)} %`;
}

/** Opens a set with one run per task, preferably the run that review sent back. Returns the set's id. */
async function openSet(client: Client, { teamId, lineId, stationId }: Configured): Promise<string> {
  const station = { teamId, lineId, stationId };
  const past = await client.get("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replayable-runs", {
    path: station,
  });
  const runs = new Map(past.items.map((run) => [run.title, run]));
  for (const run of past.items) if (run.outcome === "sent-back") runs.set(run.title, run);
  const set = await client.post("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path: station,
    body: { name: "A run of each task" },
  });
  const runIds = [...runs.values()].map(({ runId }) => runId);
  await client.post("/api/teams/{teamId}/replay-sets/{setId}/entries", {
    path: { teamId, setId: set.id },
    body: { runIds },
  });
  return set.id;
}
