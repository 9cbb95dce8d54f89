import { findCopyOfRun } from "../../actors/replays/copies/replay-copy.table.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import { searchIterationRef } from "../../actors/searches/iterations/search-iteration.messages.js";
import type { SearchIterationRow } from "../../actors/searches/search/search.js";
import { toBlock } from "../../actors/searches/search/search.js";
import { getSearchInput } from "../../actors/searches/search/search.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { SEARCH_ID, type SteppedRun, type SteppedSearch } from "./stepped-search.js";
import { workspaceId } from "./work.js";

/** How runners handle a stepped search. */
export interface Driving {
  /** Whether a copy succeeds, and its cost; null for an unreported cost. */
  copy?(candidate: string, taskId: string): { readonly succeeds?: boolean; readonly amount?: number | null };
  /** The agent's proposals, one prompt per name, and how its run ends. */
  agent?(iteration: SearchIterationRow): AgentRun;
}

export interface AgentRun {
  readonly proposes?: Readonly<Record<string, string>>;
  readonly causes?: readonly Readonly<Record<string, unknown>>[];
  readonly amount?: number | null;
  readonly currency?: string;
  readonly does?: "complete" | "fail" | "get-lost";
}

/** Works as the runners until no run is claimable, or until `isEnough` returns true. */
export function drive(scene: SteppedSearch, driving: Driving = {}, isEnough: () => boolean = () => false): void {
  scene.settle();
  for (let run = scene.claimable()[0]; run !== undefined && !isEnough(); run = scene.claimable()[0]) {
    scene.claim(run);
    scene.settle();
    if (!scene.claimed.has(run.runId)) continue;
    workOn(scene, run, driving);
    scene.settle();
  }
}

/** Works on a claimed run as its runner. */
export function workOn(scene: SteppedSearch, run: SteppedRun, driving: Driving = {}): void {
  scene.say(run, { type: "run.started" });
  scene.settle();
  const iteration = scene.iterations.find(({ runId }) => runId === run.runId);
  if (iteration === undefined) workOnCopy(scene, run, driving);
  else workOnAgent(scene, run, { iteration, ...driving.agent?.(iteration) });
}

function workOnCopy(scene: SteppedSearch, run: SteppedRun, { copy }: Driving): void {
  const replayId = scene.run(run.runId)?.owner.id ?? "";
  const found = findCopyOfRun(scene.rows, workspaceId, { replayId, runId: run.runId });
  const name = replays.get(scene.rows, workspaceId, replayId)?.search?.candidateName ?? "";
  const { succeeds = true, amount = 1 } = copy?.(name, found?.taskId ?? "") ?? {};
  end(scene, run, { fails: !succeeds, spent: amount === null ? null : { amount, currency: "EUR" } });
}

function workOnAgent(
  scene: SteppedSearch,
  run: SteppedRun,
  {
    iteration,
    proposes,
    causes = [],
    amount = 1,
    currency = "EUR",
    does = "complete",
  }: AgentRun & { iteration: SearchIterationRow },
): void {
  if (proposes !== undefined) propose(scene, run, iteration.id, proposes);
  for (const cause of causes) tell(scene, run, iteration.id, { type: "cause.record", suggestion: null, ...cause });
  scene.settle();
  if (does === "get-lost") return scene.lose(run);
  end(scene, run, { fails: does === "fail", spent: amount === null ? null : { amount, currency } });
}

/** Proposes candidates as the agent of a run; returns the answer. */
export function propose(
  scene: SteppedSearch,
  run: SteppedRun,
  iterationId: string,
  prompts: Readonly<Record<string, string>>,
): unknown {
  const { config, block } = getSearchInput(scene.rows, workspaceId, SEARCH_ID);
  const candidates = Object.entries(prompts).map(([name, prompt]) => {
    return { name, hypothesis: null, station: { ...toBlock(config, block), prompt } };
  });
  return tell(scene, run, iterationId, { type: "candidates.propose", proposed: { candidates } });
}

/** Sends the iteration a message from its run's runner; returns the answer. */
export function tell(scene: SteppedSearch, { runId }: SteppedRun, iterationId: string, message: object): unknown {
  const held = { runId, runnerId: "runner_1", fence: scene.run(runId)?.fence ?? 0 };
  return scene.ask(searchIterationRef(workspaceId, iterationId), { ...held, ...message } as unknown as Message);
}

function end(
  scene: SteppedSearch,
  run: SteppedRun,
  { fails, spent }: { readonly fails: boolean; readonly spent: object | null },
): void {
  const failure = { code: "harness-failed", message: "It failed.", output: "" };
  const report = fails ? { outcome: "failed", ending: null, failure } : { outcome: "completed", failure: null };
  const ending = fails ? null : { kind: "finish", note: "" };
  scene.say(run, { type: "run.ended", checkouts: [], check: null, spent, ending, ...report });
}
