import { searchBudgets } from "../../../../actors/replays/budget/search-budget.table.js";
import { replayCopies } from "../../../../actors/replays/copies/replay-copy.table.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { storeReasons } from "../../../../actors/replays/judging/stored-reasons.js";
import type { ReplayCopyRow } from "../../../../actors/replays/replay/replay.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { type ReplayEntry, replayInputs } from "../../../../actors/replays/replay/replay-input.table.js";
import type { RunRow } from "../../../../actors/runs/run.js";
import { runCheckouts, runs } from "../../../../actors/runs/run.table.js";
import { runInputs } from "../../../../actors/runs/run-input.table.js";
import { storeStep } from "../../../../actors/runs/run-steps.js";
import { findAgentContext } from "../../../../actors/searches/agent/agent-context.js";
import { findAgentFile, listFileNames } from "../../../../actors/searches/agent/agent-files.js";
import {
  searchCandidateInputs,
  searchCandidates,
} from "../../../../actors/searches/candidates/search-candidate.table.js";
import { searchIterations } from "../../../../actors/searches/iterations/search-iteration.table.js";
import { measureSearched } from "../../../../actors/searches/rules/candidate-figures.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "../../../../actors/searches/search/search.js";
import { searches, searchInputs } from "../../../../actors/searches/search/search.table.js";
import type { MeasuredCopy } from "../../../../actors/statistics/comparison.js";
import { storeText } from "../../../../actors/tables/text-blobs.js";
import { address } from "../../../../runtime/cells/address.js";
import { replayInput, replayRow } from "../../../support/replay-rows.js";
import { withStation } from "../../../support/run-config.js";
import { memoryRows, withTurn } from "../../../support/turn.js";
import { lineId, teamId, workspaceId } from "../../../support/work.js";

/**
 * The stored rows of a search. The search has replayed its live config and the candidate `bold`. It uses tasks 1 and 2,
 * and holds out task 3. Every stored text of task 3 contains the canary.
 */

export const CANARY = "canary-of-held-out-runs";
/** Returns a config without skills, because the scene stores no bodies for them. */
export const configWith = (station: Parameters<typeof withStation>[0]) => ({ ...withStation(station), skills: [] });
export const live = configWith({ prompt: "Build it." });
const bold = configWith({ prompt: "Be bold." });
const at = "2026-01-01T00:00:00.000Z";

/** Texts of a copy; each text of a held-out copy contains the canary. */
interface Texts {
  readonly title: string;
  readonly diff: string;
  readonly step: string;
  readonly output: string;
  readonly reason: string;
}

export interface AgentSceneOptions {
  readonly iteration?: Partial<SearchIterationRow>;
  /** Texts that replace the usual texts of the searched runs. */
  readonly texts?: Partial<Texts>;
  /** Steps per run. */
  readonly steps?: number;
  readonly live?: typeof live;
  /** Additional searched runs, and additional candidates. The copies of these runs have no steps, diffs or verdicts. */
  readonly large?: Large;
}

interface Large {
  readonly places: readonly number[];
  readonly taskOf: (place: number) => string;
  readonly candidates: number;
}

const usual = (place: number, of: string): Texts => ({
  title: `Mend ${place}`,
  diff: `+${of} ${place}\n`,
  step: `${of} read ${place}`,
  output: `${of} checked ${place}`,
  reason: `${of} left ${place} undone`,
});
const heldOut: Texts = {
  title: `${CANARY} title`,
  diff: `+${CANARY} diff\n`,
  step: `${CANARY} step`,
  output: `${CANARY} output`,
  reason: `${CANARY} reason`,
};

type Rows = ReturnType<typeof memoryRows>;

export class AgentScene {
  readonly rows: Rows = memoryRows();
  readonly iteration: SearchIterationRow;
  readonly #options: AgentSceneOptions;

  constructor(options: AgentSceneOptions = {}) {
    this.#options = options;
    for (const place of [1, 2, 3]) this.#putOriginal(place);
    this.#putReplay("rep_seed", [1, 2, 3]);
    this.#putReplay("rep_bold", [1, 2]);
    this.#putReplay("rep_held", [3]);
    this.#putSearch();
    if (options.large !== undefined) this.#enlarge(options.large);
    this.iteration = {
      id: "siter_2",
      searchId: "search_1",
      number: 2,
      kind: "propose",
      state: "running",
      runId: "run_agent",
      lostRunIds: [],
      attempts: 0,
      proposed: [],
      allotted: { amount: 1, currency: "EUR" },
      agentSpent: null,
      unpriced: false,
      reason: null,
      reflection: null,
      wantedAt: at,
      startedAt: at,
      endedAt: null,
      ...options.iteration,
    };
    searchIterations.insert(this.rows, workspaceId, this.iteration);
  }

  /** The data that an agent of the current iteration may see. */
  get sight() {
    const sight = findAgentContext(this.rows, workspaceId, this.iteration);
    if (sight === undefined) throw new Error("the search is gone");
    return sight;
  }

  /** The files shown to the agent, by path, in order. */
  get files(): ReadonlyMap<string, string> {
    const { sight } = this;
    return new Map(
      listFileNames(sight).flatMap((name) => {
        const file = findAgentFile(sight, name);
        return file === undefined ? [] : [[file.path, file.content] as const];
      }),
    );
  }

  json(path: string): Record<string, unknown> {
    return JSON.parse(this.files.get(path) ?? "null");
  }

  #toTexts(place: number, of: string): Texts {
    return place === 3 ? heldOut : { ...usual(place, of), ...this.#options.texts };
  }

  #putOriginal(place: number): void {
    const { title } = this.#toTexts(place, "original");
    const brief = { id: `task_${place}`, title, description: `All of ${title}`, url: "", marks: {}, notes: null };
    runInputs.insert(this.rows, workspaceId, {
      runId: `run_${place}`,
      config: live,
      claimed: { brief, secrets: {} },
      beginning: { line: { key: "dev", name: "Dev" }, station: NO_STATION, checkouts: [] },
    });
  }

  #putReplay(replayId: string, places: readonly number[]): void {
    const entries = places.map(
      (place): ReplayEntry => ({
        place,
        runId: `run_${place}`,
        taskId: `task_${place}`,
        refusal: null,
        title: this.#toTexts(place, "original").title,
      }),
    );
    replays.insert(this.rows, workspaceId, replayRow({ id: replayId, runs: places.length }));
    replayInputs.insert(this.rows, workspaceId, replayInput({ replayId, config: live, entries }));
    for (const place of places) this.#putCopy(replayId, place);
  }

  #putCopy(replayId: string, place: number): void {
    const texts = this.#toTexts(place, replayId);
    const runId = `run_${replayId}_${place}`;
    const copy: ReplayCopyRow = {
      replayId,
      place,
      repeat: 1,
      originalRunId: `run_${place}`,
      taskId: `task_${place}`,
      runId,
      state: "judged",
      lostRunIds: [],
      result: place === 1 ? "failed" : "succeeded",
      outcome: "completed",
      why: { code: "judge-failed", text: texts.reason },
      check: { passed: true, exitCode: 0, tail: texts.output },
      spent: { amount: 0.5, currency: "EUR" },
      priced: true,
      steps: 1,
      ms: 1_000,
      toolMisses: 0,
    };
    replayCopies.insert(this.rows, workspaceId, copy);
    this.#putRun(runId, texts);
    const reasons = storeReasons(this.rows, workspaceId, [{ text: texts.reason, claim: 0, citations: [] }]);
    replayVerdicts.insert(this.rows, workspaceId, {
      replayId,
      place,
      repeat: 1,
      which: "first",
      state: "judged",
      none: null,
      verdict: {
        scale: "claims",
        passed: place !== 1,
        score: 1,
        marks: [true],
        reasons,
        model: "m",
        promptVersion: 1,
        cut: false,
      },
      spent: { calls: 1, cost: null, isEstimate: false },
    });
  }

  #putRun(id: string, { step, diff, output }: Texts): void {
    const { steps = 1 } = this.#options;
    const row = {
      id,
      owner: { kind: "replay", id: "rep" },
      ownerAddress: address(workspaceId, "replay", "rep"),
      taskId: null,
      teamId,
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      state: "ended",
      steps,
      outcome: "completed",
      reason: null,
      runnerId: null,
      fence: 1,
      fingerprint: "f",
      passesTo: [],
      needs: { poolId: null, labels: [], harness: "command" },
      spent: null,
      handover: null,
      failure: null,
      ending: { kind: "finish", note: "" },
      queuedAtMs: 0,
      startedAt: at,
      endedAt: at,
      check: { passed: true, exitCode: 0, output },
    } satisfies RunRow;
    withTurn(
      address(workspaceId, "run", id),
      (turn) => {
        runs.insert(turn, workspaceId, row);
        for (let index = 0; index < steps; index++) {
          storeStep(turn, id, { index, kind: "message", text: `${index} ${step}`, tool: null, spent: null, at });
        }
        const digest = storeText(turn, workspaceId, diff);
        runCheckouts.insert(turn, workspaceId, { runId: id, repository: "acme/app", base: "b".repeat(40), digest });
      },
      { rows: this.rows },
    );
  }

  #putSearch(): void {
    const { live: config = live } = this.#options;
    const block = { name: "Work", passesTo: [], alerts: [], runners: { pool: null, labels: [] } };
    const prints = { fingerprint: "f", runningFingerprint: "r", scoringFingerprint: "s" };
    const place = { teamId, lineId, stationId: "sta_work", stationKey: "work", setId: "rset_1", setVersion: 3 };
    const ceiling = { amount: 10, currency: "EUR" };
    const search: SearchRow = {
      id: "search_1",
      ...place,
      state: "searching",
      ending: null,
      objective: "success",
      minGain: 0.05,
      agent: { harness: "command", model: null, effort: null },
      budget: { iterations: 3, perIteration: 2, ceiling, concurrency: 4, repeats: 1 },
      seedCandidateId: "cand_0",
      seedReplayId: "rep_seed",
      iterationsRun: 2,
      proposed: 1,
      best: null,
      startedAt: at,
      endedAt: null,
    };
    searches.insert(this.rows, workspaceId, search);
    const listRuns = (...places: number[]) => places.map((one) => ({ runId: `run_${one}`, taskId: `task_${one}` }));
    const money = { amount: 1, currency: "EUR" };
    searchInputs.insert(this.rows, workspaceId, {
      searchId: "search_1",
      config,
      block,
      ...prints,
      judgeModel: null,
      split: { searched: listRuns(1, 2), heldOut: listRuns(3) },
      allotments: { seed: money, searchReplay: money, heldOutReplay: money, agentRun: money },
      line: { key: "dev", name: "Dev" },
      warnings: [],
    });
    searchBudgets.put(this.rows, workspaceId, ["search_1"], {
      searchId: "search_1",
      ceiling,
      counted: "5/2",
      spent: "5/2",
    });
    const seed = { ...prints, ...unheld, candidateId: "cand_0", name: "seed", seed: true, replayId: "rep_seed" };
    this.#putCandidate({ ...seed, iteration: null, hypothesis: null, changes: [] });
    const held = { heldOutReplayId: "rep_held", heldOutEnded: "finished" } as const;
    const made = { ...prints, ...unheld, ...held, candidateId: "cand_1", name: "bold", seed: false };
    this.#putCandidate({
      ...made,
      runningFingerprint: "b",
      replayId: "rep_bold",
      iteration: 1,
      hypothesis: "It was shy.",
      changes: [{ part: "prompt", name: null, kind: "changed", was: null, now: null }],
    });
    searchCandidateInputs.insert(this.rows, workspaceId, {
      searchId: "search_1",
      candidateId: "cand_1",
      config: bold,
      block,
      judgeModel: null,
    });
  }

  #enlarge({ places, taskOf: toTask, candidates }: Large): void {
    const input = replayInputs.get(this.rows, workspaceId, "rep_seed");
    const search = searchInputs.get(this.rows, workspaceId, "search_1");
    const seed = searchCandidates.get(this.rows, workspaceId, "search_1", "cand_0");
    if (input === undefined || search === undefined || seed === undefined) throw new Error("there is no search");
    const more = places.map((place) => ({ place, runId: `run_${place}`, taskId: toTask(place) }));
    const entries = [...input.entries, ...more.map((entry) => ({ ...entry, title: "", refusal: null }))];
    replayInputs.put(this.rows, workspaceId, input, { ...input, entries });
    const searched = [...search.split.searched, ...more];
    searchInputs.put(this.rows, workspaceId, search, { ...search, split: { ...search.split, searched } });
    const figures = measureSearched(
      more.map(({ place, taskId }) => ({ ...measured(place, "failed"), taskId })),
      { seed: null, minGain: 0.05, currency: "EUR" },
    );
    const replayIds = ["rep_seed", ...Array.from({ length: candidates }, (_, n) => `rep_more_${n + 10}`)];
    for (const [n, replayId] of replayIds.entries()) {
      for (const entry of more) this.#putPlainCopy(replayId, entry);
      if (n === 0) continue;
      replayInputs.insert(this.rows, workspaceId, { ...input, replayId, entries });
      const name = `more-${"x".repeat(50)}-${n + 10}`;
      const row = { ...seed, candidateId: `cand_more_${n + 10}`, name, seed: false, replayId, searched: figures };
      searchCandidates.insert(this.rows, workspaceId, row);
      const { config, block } = search;
      const of = { searchId: "search_1", candidateId: row.candidateId };
      searchCandidateInputs.insert(this.rows, workspaceId, { ...of, config, block, judgeModel: null });
    }
  }

  #putPlainCopy(replayId: string, { place, runId, taskId }: Pick<ReplayEntry, "place" | "runId" | "taskId">): void {
    const of = replayCopies.get(this.rows, workspaceId, "rep_seed", 1, 1);
    if (of === undefined) throw new Error("there is no copy");
    const copy = { ...of, replayId, place, originalRunId: runId, taskId, runId: `run_${replayId}_${place}` };
    replayCopies.insert(this.rows, workspaceId, copy);
  }

  #putCandidate(row: Omit<SearchCandidateRow, "searched">): void {
    const terms = { seed: null, minGain: 0.05, currency: "EUR" };
    const searched = measureSearched([measured(1, "failed"), measured(2, "succeeded")], terms);
    searchCandidates.insert(this.rows, workspaceId, { ...row, searched });
  }
}

function measured(place: number, result: "succeeded" | "failed"): MeasuredCopy {
  return {
    taskId: `task_${place}`,
    originalRunId: `run_${place}`,
    repeat: 1,
    result,
    spent: { amount: 0.5, currency: "EUR" },
    priced: true,
    steps: 1,
    ms: 1_000,
    pairOutcome: null,
  };
}

const NO_STATION = { name: "Work", passesTo: [], next: [] };
const unheld: Pick<
  SearchCandidateRow,
  "searchId" | "heldOutReplayId" | "replayEnded" | "heldOutEnded" | "heldOut" | "admittedAt"
> = {
  searchId: "search_1",
  heldOutReplayId: null,
  replayEnded: "finished",
  heldOutEnded: null,
  heldOut: null,
  admittedAt: at,
};
