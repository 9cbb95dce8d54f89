import type { Job } from "../../actors/runners/job.js";
import { runs } from "../../actors/runs/run.table.js";
import { searchIterationRef } from "../../actors/searches/iterations/search-iteration.messages.js";
import { findIteration } from "../../actors/searches/iterations/search-iteration.table.js";
import { toBlock } from "../../actors/searches/search/search.js";
import { getSearchInput } from "../../actors/searches/search/search.table.js";
import type { ReplayScene } from "./replay-scene.js";

const spent = { amount: 1, currency: "EUR" };
const finish = { kind: "finish", note: "" } as const;

/** An agent's proposals: one prompt per name. */
export type ProposedPrompts = Readonly<Record<string, string>>;

/**
 * Works on this many jobs of a search as the scene's runner: copies under a prompt in `better` succeed and all others
 * fail, and the agent proposes `prompts`. Each job costs 1 EUR.
 */
export async function workSearch(
  place: ReplayScene,
  jobs: number,
  { better = [], prompts = {} }: { readonly better?: readonly string[]; readonly prompts?: ProposedPrompts } = {},
): Promise<void> {
  for (let n = 0; n < jobs; n++) {
    const job = await place.peer.job();
    place.peer.start(job);
    if (job.search !== undefined) await proposePrompts(place, job, prompts);
    const succeeds = job.search !== undefined || better.includes(job.station.prompt);
    place.peer.step(job, 0);
    place.peer.end(job, { ending: succeeds ? finish : { kind: "ask", question: "Which one?" }, spent });
  }
}

/** Proposes candidates as the agent of a search's job. */
export async function proposePrompts(
  { service: { runtime }, workspaceId }: ReplayScene,
  job: Job,
  prompts: ProposedPrompts,
): Promise<void> {
  const { runId, fence } = job;
  const run = runs.get(runtime.reading, workspaceId, runId);
  const iteration = run === undefined ? undefined : findIteration(runtime.reading, workspaceId, run.owner.id);
  if (run === undefined || iteration === undefined) throw new Error("a job of no agent");
  const { config, block } = getSearchInput(runtime.reading, workspaceId, iteration.searchId);
  const candidates = Object.entries(prompts).map(([name, prompt]) => ({
    name,
    hypothesis: `Say ${prompt}`,
    station: { ...toBlock(config, block), prompt },
  }));
  const held = { runId, runnerId: run.runnerId ?? "", fence };
  const message = { type: "candidates.propose", ...held, proposed: { candidates } } as const;
  await runtime.ask(searchIterationRef(workspaceId, iteration.id), message);
}
