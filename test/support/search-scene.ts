import type { Job } from "../../actors/runners/job.js";
import { listIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import type { SearchBudget, SearchIterationRow } from "../../actors/searches/search/search.js";
import { fillSet, type ReplayScene } from "./replay-scene.js";

/** A search of a {@link ReplayScene}, whose replays and agents the test's own runner works. */

interface StartedSearch {
  readonly searchId: string;
  readonly seedReplayId: string;
}

type SearchPlace = Pick<ReplayScene, "ada" | "service" | "workspaceId" | "teamId" | "lineId" | "stationId">;

/** Starts a search of a set by ada: two iterations of two candidates, unless the terms say otherwise. */
export async function startSearch(
  { ada, teamId, lineId, stationId }: Pick<SearchPlace, "ada" | "teamId" | "lineId" | "stationId">,
  setId: string,
  terms: { readonly budget?: Partial<SearchBudget> } = {},
): Promise<StartedSearch> {
  const ceiling = { amount: 50, currency: "EUR" };
  const started = await ada.request("POST", `/api/teams/${teamId}/lines/${lineId}/stations/${stationId}/searches`, {
    setId,
    agent: { harness: "command" },
    objective: "success",
    budget: { iterations: 2, perIteration: 2, ceiling, concurrency: 4, repeats: 1, ...terms.budget },
  });
  if (started.status !== 201) throw new Error(`starting a search answered ${started.status} ${started.text}`);
  return { searchId: String(started.body?.id), seedReplayId: String(started.body?.seedReplayId) };
}

const FAILED = {
  outcome: "failed",
  failure: { code: "harness-failed", message: "It ended with 1.", output: "" },
} as const;

/** Works copies of replays, which fail unless the test says otherwise, until the runner is given the run of a search's agent. */
export async function workUntilAgent(
  { peer }: Pick<ReplayScene, "peer">,
  work: (job: Job) => void = (job) => peer.end(job, FAILED),
): Promise<Job> {
  for (;;) {
    const job = await peer.job();
    if (job.search !== undefined) return job;
    peer.start(job);
    work(job);
  }
}

/** A search of a set of five runs, with the job of its first agent. */
export async function openSearch(place: ReplayScene, terms: Parameters<typeof startSearch>[2] = {}) {
  const { set, runIds } = await fillSet(place, 5);
  const started = await startSearch(place, set.slice(set.lastIndexOf("/") + 1), terms);
  return { ...started, set, runIds, job: await workUntilAgent(place) };
}

/** The newest iteration of a search. */
export function newestIteration({ service, workspaceId }: SearchPlace, searchId: string): SearchIterationRow {
  const newest = listIterations(service.runtime.reading, workspaceId, searchId).at(-1);
  if (newest === undefined) throw new Error("the search has no iteration");
  return newest;
}
