import { searchBudgets } from "../../actors/replays/budget/search-budget.table.js";
import { searchCandidates } from "../../actors/searches/candidates/search-candidate.table.js";
import type {
  SearchCandidateRow,
  SearchInputRow,
  SearchIterationRow,
  SearchRow,
} from "../../actors/searches/search/search.js";
import { searches, searchInputs } from "../../actors/searches/search/search.table.js";
import type { Store } from "../../storage/store.js";
import { replayConfig, replayInput } from "./replay-rows.js";
import { memoryRows } from "./turn.js";
import { lineId, teamId } from "./work.js";

/** This file has rows of searches, for readers and for machines stepped by hand. */

const EUR = (amount: number) => ({ amount, currency: "EUR" });
const time = "2026-01-01T00:00:00.000Z";

/** Returns a search that has just started. */
export function searchRow(more: Partial<SearchRow> = {}): SearchRow {
  return {
    id: "srch_1",
    teamId,
    lineId,
    stationId: "sta_work",
    stationKey: "work",
    setId: "rset_1",
    setVersion: 10,
    state: "seeding",
    ending: null,
    agent: { harness: "command", model: null, effort: null },
    budget: { iterations: 10, perIteration: 5, ceiling: EUR(100), concurrency: 4, repeats: 1 },
    objective: "success",
    minGain: 0.05,
    seedCandidateId: "cand_0",
    seedReplayId: "rep_0",
    iterationsRun: 0,
    proposed: 0,
    best: null,
    startedAt: time,
    endedAt: null,
    ...more,
  };
}

/**
 * Returns the input of a search over a set of runs, each of a different task: `run_1` of `task_1` and so on. The last
 * runs are held out.
 */
export function searchInput(
  { searched = 6, heldOut = 4 }: { readonly searched?: number; readonly heldOut?: number } = {},
  more: Partial<SearchInputRow> = {},
): SearchInputRow {
  const runs = Array.from({ length: searched + heldOut }, (_, n) => ({
    runId: `run_${n + 1}`,
    taskId: `task_${n + 1}`,
  }));
  return {
    searchId: "srch_1",
    config: replayConfig,
    block: replayInput().block,
    fingerprint: "f",
    runningFingerprint: "r",
    scoringFingerprint: "s",
    judgeModel: null,
    split: { searched: runs.slice(0, searched), heldOut: runs.slice(searched) },
    allotments: { seed: EUR(10), searchReplay: EUR(5), heldOutReplay: EUR(4), agentRun: EUR(3) },
    line: { key: "dev", name: "Dev" },
    warnings: [{ kind: "noise-unmeasured" }],
    ...more,
  };
}

/** Returns the seed of the search. */
export function seedRow(more: Partial<SearchCandidateRow> = {}): SearchCandidateRow {
  return candidateRow({
    candidateId: "cand_0",
    name: "seed",
    seed: true,
    iteration: null,
    hypothesis: null,
    changes: [],
    replayId: "rep_0",
    ...more,
  });
}

/** Returns an admitted candidate without a replay. */
export function candidateRow(more: Partial<SearchCandidateRow> = {}): SearchCandidateRow {
  return {
    searchId: "srch_1",
    candidateId: "cand_1",
    name: "careful",
    seed: false,
    iteration: 1,
    hypothesis: "It should look twice.",
    fingerprint: "f1",
    runningFingerprint: "r1",
    scoringFingerprint: "s",
    changes: [{ part: "prompt", name: null, kind: "changed", was: null, now: null }],
    replayId: null,
    heldOutReplayId: null,
    replayEnded: null,
    heldOutEnded: null,
    searched: null,
    heldOut: null,
    admittedAt: time,
    ...more,
  };
}

export function iterationRow(more: Partial<SearchIterationRow> = {}): SearchIterationRow {
  return {
    id: "sit_1",
    searchId: "srch_1",
    number: 1,
    kind: "propose",
    state: "wanted",
    runId: null,
    lostRunIds: [],
    attempts: 0,
    proposed: [],
    allotted: EUR(3),
    agentSpent: null,
    unpriced: false,
    reason: null,
    reflection: null,
    wantedAt: time,
    startedAt: null,
    endedAt: null,
    ...more,
  };
}

/** Writes a search with its seed into a store; returns their ids. */
export async function storeSearch(
  store: Store,
  of: Partial<SearchRow> & { workspaceId: string },
): Promise<{ readonly searchId: string; readonly candidateId: string }> {
  const { workspaceId: partition, ...more } = of;
  const rows = memoryRows();
  const row = searchRow(more);
  searches.insert(rows, partition, row);
  searchInputs.insert(rows, partition, searchInput({}, { searchId: row.id }));
  searchCandidates.insert(rows, partition, seedRow({ searchId: row.id }));
  const none = { counted: "0/1", spent: "0/1" };
  searchBudgets.put(rows, partition, row.id, { searchId: row.id, ceiling: row.budget.ceiling, ...none });
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return { searchId: row.id, candidateId: row.seedCandidateId };
}
