import type { Client } from "./client.js";
import { type Configured, workStation } from "./configuration.js";
import { line } from "./show.js";
import { until } from "./until.js";

/**
 * A search over the first runs of all tasks, by a proposer that needs no model. The proposer proposes the better
 * prompt. Under this prompt, more searched tasks improve than chance explains, and the held-out tasks do not get worse.
 * So the prompt is the search's best candidate.
 */

const CEILING = { amount: 5, currency: "USD" };
const BUDGET = { iterations: 1, perIteration: 1, ceiling: CEILING, concurrency: 4, repeats: 1 };

interface PastRun {
  readonly runId: string;
  readonly title: string;
  readonly outcome: string;
}

interface Candidate {
  readonly candidateId: string;
  readonly name: string;
  readonly searchScore: number | null;
  readonly heldOutScore: number | null;
  readonly searchedGain: { readonly verdict: string } | null;
}

interface Search {
  readonly state: string;
  readonly ending: string | null;
  readonly spent: { readonly amount: number; readonly currency: string };
  readonly split: { readonly searchedTasks: number; readonly heldOutTasks: number };
  readonly best: { readonly candidateId: string; readonly name: string; readonly seed: boolean } | null;
  readonly bestBecause: { readonly text: string } | null;
  readonly seed: Candidate;
  readonly candidates: readonly Candidate[];
}

/** A search's best candidate. */
export interface Found {
  readonly searchId: string;
  readonly candidateId: string;
}

/** Searches and prints the results; returns the best candidate, or null if the results are unexpected. */
export async function showSearch(client: Client, configured: Configured, signal: AbortSignal): Promise<Found | null> {
  const team = `/api/teams/${configured.teamId}`;
  const setId = await openSet(client, configured);
  line("demo", "");
  line("demo", "a search looks for a better prompt over all tasks, with a proposer that needs no model:");
  const { body: started } = await client.post(`${configured.workStationPath}/searches`, {
    setId,
    budget: BUDGET,
    agent: { harness: workStation.harness },
    objective: "success",
  });
  const read = () => client.get<Search>(`${team}/searches/${started.id}`);
  const isOver = async () => {
    const search = await read();
    return hasEnded(search) ? null : `it is ${search.state}`;
  };
  await until("the search was not over", isOver, signal);
  const { split, seed, candidates, best, bestBecause, ending, spent } = await read();
  line("search", `${split.searchedTasks} tasks are searched, ${split.heldOutTasks} are held out, unseen by its agent`);
  for (const candidate of [seed, ...candidates]) show(candidate);
  line(
    "search",
    `it ended (${ending}) for ${spent.amount} ${spent.currency}; its best is ${best?.name}: ${bestBecause?.text}`,
  );
  if (best === null || best.seed || ending !== "iterations-used") return null;
  return { searchId: started.id, candidateId: best.candidateId };
}

function hasEnded({ state }: Search): boolean {
  return state === "finished" || state === "stopped";
}

function show({ name, searchScore, heldOutScore, searchedGain }: Candidate): void {
  const verdictText = searchedGain === null ? "" : ` (${searchedGain.verdict})`;
  line(
    "search",
    `${name}: ${share(searchScore)} of searched tasks${verdictText}, ${share(heldOutScore)} of held-out ones`,
  );
}

function share(score: number | null): string {
  return score === null ? "none" : `${Math.round(100 * score)} %`;
}

/** Opens a set with one run per task: the run that review sent back, if there is one. */
async function openSet(client: Client, { teamId, workStationPath }: Configured): Promise<string> {
  const past = await client.get<{ items: readonly PastRun[] }>(`${workStationPath}/replayable-runs`);
  const runs = new Map(past.items.map((run) => [run.title, run]));
  for (const run of past.items) if (run.outcome === "sent-back") runs.set(run.title, run);
  const { body: set } = await client.post(`${workStationPath}/replay-sets`, { name: "A run of each task" });
  const runIds = [...runs.values()].map(({ runId }) => runId);
  await client.post(`/api/teams/${teamId}/replay-sets/${set.id}/entries`, { runIds });
  return set.id;
}
