import type { Job } from "../../actors/runners/job.js";
import { listIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import type { SearchBudget, SearchIterationRow } from "../../actors/searches/search/search.js";
import { fillSet, type ReplayScene } from "./replay-scene.js";

/** A search of a {@link ReplayScene}. The test's own runner works on its replays and agents. */

interface StartedSearch {
  readonly searchId: string;
  readonly seedReplayId: string;
}

type SearchPlace = Pick<ReplayScene, "ada" | "service" | "workspaceId" | "teamId" | "lineId" | "stationId">;

/** Starts a search of a set as Ada, by default with two iterations of two candidates. */
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

/** Works on replay copies, which fail by default, until the runner gets the run of the search's agent. */
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

/** Opens a search of a set of five runs. Returns the search and the job of its first agent. */
export async function openSearch(place: ReplayScene, terms: Parameters<typeof startSearch>[2] = {}) {
  const { set, runIds } = await fillSet(place, 5);
  const started = await startSearch(place, set.slice(set.lastIndexOf("/") + 1), terms);
  return { ...started, set, runIds, job: await workUntilAgent(place) };
}

/** Returns the newest iteration of a search. */
export function newestIteration({ service, workspaceId }: SearchPlace, searchId: string): SearchIterationRow {
  const newest = listIterations(service.runtime.reading, workspaceId, searchId).at(-1);
  if (newest === undefined) throw new Error("the search has no iteration");
  return newest;
}
