import type { Money } from "../../money.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import type { Allotments } from "./allotments.js";
import { heldOutReplays, MAX_HELD_OUT, type SearchBudget } from "./budget.js";
import { grantPart, type PartsToCome, paysParts, type SearchSpending } from "./ceiling.js";
import { endState, type SearchEnding } from "./ending.js";
import type { Objective } from "./objective.js";
import { type Contender, findLeader, hasGain, rankToHoldOut } from "./ranking.js";
import { endingOfReflection, type ReflectionOutcome } from "./reflection.js";

/** A candidate in the snapshot of a search. */
export interface SnapshotCandidate extends Contender {
  /** The number of the iteration that proposed the candidate, from 1; null for the seed. */
  readonly iteration: number | null;
  /** The state of the candidate's replay on held-out runs; null until the replay starts, and for the seed. */
  readonly heldOutReplayState: ReplayState | null;
}

/** An iteration in the snapshot of a search. */
export interface SnapshotIteration {
  /** Starts at 1. */
  readonly number: number;
  readonly kind: "propose" | "reflect";
  readonly state: "wanted" | "running" | "ended" | "failed";
  /** Number of the iteration's proposed candidates that were admitted. */
  readonly admitted: number;
  /** The outcome of a reflection; null until the reflection ends, and for other iterations. */
  readonly outcome: ReflectionOutcome | null;
}

/** All data that decides the next step of a search, at one moment. */
export interface SearchSnapshot {
  readonly state: "seeding" | "searching" | "holding-out";
  /** Why the search stopped searching; null until the held-out replays start. */
  readonly ending: SearchEnding | null;
  readonly budget: SearchBudget;
  readonly objective: Objective;
  readonly allotments: Allotments;
  readonly spending: SearchSpending;
  /**
   * - `unchanged`: the station's current config has the same running and scoring fingerprints as at the start of the
   *   search.
   * - `gone`: the station, its line or the set is gone.
   * - `changed`: all other cases.
   */
  readonly live: "unchanged" | "changed" | "gone";
  /** The seed first, then the candidates in the order of admission. */
  readonly candidates: readonly SnapshotCandidate[];
  /** Ordered by number. */
  readonly iterations: readonly SnapshotIteration[];
}

/**
 * The next step of a search. The caller takes the step and asks again, until the step is `wait` or `end`:
 * - `wait`: the next step depends on work in progress. Ask again when a replay or an agent run of the search ends, when
 * a candidate is admitted, or when the station's line changes;
 * - `replay`: start the candidate's replay on the searched runs, under this ceiling;
 * - `propose`, `reflect`: start an iteration with this allotment for the agent's run. A reflection investigates the
 * seed's failures, because no candidate beats the seed. A reflection without failed tasks ends at once (`no-failures`);
 * - `hold-out`: store the ending, and start the candidate's replay on the held-out runs;
 * - `end`: end the search in this state.
 *
 * `replay`, `propose` and `reflect` move the search to `searching`. `hold-out` moves it to `holding-out`.
 */
export type NextStep =
  | { readonly step: "wait" }
  | { readonly step: "replay"; readonly candidateId: string; readonly ceiling: Money }
  | { readonly step: "propose"; readonly allotted: Money }
  | { readonly step: "reflect"; readonly allotted: Money }
  | {
      readonly step: "hold-out";
      readonly ending: SearchEnding;
      readonly candidateId: string;
      readonly ceiling: Money;
    }
  | { readonly step: "end"; readonly ending: SearchEnding; readonly state: "finished" | "stopped" };

const WAIT: NextStep = { step: "wait" };

/** Decides the next step of a search. Has no side effects. */
export function decideNext(snapshot: SearchSnapshot): NextStep {
  const seed = snapshot.candidates.find((each) => each.seed);
  if (snapshot.live === "gone") return end("station-left");
  if (snapshot.ending !== null) return holdOut(snapshot, snapshot.ending);
  if (isUnderWay(seed?.replayState ?? null)) return WAIT;
  // Without a scored copy of the seed, no candidate can be compared with the seed.
  if (seed?.replayState !== "finished" || (seed.searched?.score ?? null) === null) return end("seed-failed");
  return replayNext(snapshot) ?? iterateNext(snapshot);
}

/**
 * Finds the candidate that has waited longest for its replay on the searched runs. Returns the first step that applies:
 * 1. `replay`, if a candidate waits and the budget covers the replay.
 * 2. `wait`, while work is in progress.
 * 3. The step that ends searching, if a candidate waits.
 * 4. Null, if no candidate waits.
 */
function replayNext(snapshot: SearchSnapshot): NextStep | null {
  const { candidates, iterations } = snapshot;
  const waiting = candidates.find(({ seed, replayState }) => !seed && replayState === null);
  if (waiting !== undefined) {
    const ceiling = grantPart("searchReplay", toTerms(snapshot));
    if (ceiling !== null) return { step: "replay", candidateId: waiting.candidateId, ceiling };
  }
  const isBusy =
    candidates.some(({ replayState }) => replayState !== null && isUnderWay(replayState)) ||
    iterations.some(({ state }) => state === "wanted" || state === "running");
  if (isBusy) return WAIT;
  return waiting === undefined ? null : holdOut(snapshot, "ceiling");
}

/** Ends searching or starts an iteration. Called when no work is in progress. */
function iterateNext(snapshot: SearchSnapshot): NextStep {
  const ending = findEnding(snapshot);
  if (ending !== null) return holdOut(snapshot, ending);
  const allotted = grantPart("agentRun", toTerms(snapshot));
  if (allotted === null) return holdOut(snapshot, "ceiling");
  if (shallReflect(snapshot)) return { step: "reflect", allotted };
  return canPropose(snapshot) ? { step: "propose", allotted } : holdOut(snapshot, "ceiling");
}

/**
 * Returns why the search stops searching instead of starting an iteration; null if the search continues. The first
 * matching reason applies. Does not check whether the ceiling covers an iteration.
 */
function findEnding(snapshot: SearchSnapshot): SearchEnding | null {
  const { objective, iterations, candidates, live } = snapshot;
  const reflection = findReflection(snapshot);
  if (reflection?.outcome) {
    const ending = endingOfReflection(reflection.outcome, iterationsLeft(snapshot) > 0);
    if (ending !== null) return ending;
  }
  if (objective === "success" && isFlawless(candidates)) return "nothing-to-improve";
  const lastTwo = iterations.filter(({ kind }) => kind === "propose").slice(-2);
  if (lastTwo.length === 2 && lastTwo.every(({ admitted }) => admitted === 0)) {
    return lastTwo.every(({ state }) => state === "failed") ? "agent-failed" : "no-proposals";
  }
  const mayReflect = reflection === undefined && !hasGain(candidates, objective);
  if (countStale(snapshot) >= MAX_STALE && !mayReflect) return "no-improvement";
  if (iterationsLeft(snapshot) === 0) return "iterations-used";
  return live === "changed" ? "config-changed" : null;
}

/** Number of iterations in a row without a better candidate that end the search or start a reflection. */
const MAX_STALE = 2;

/**
 * Whether the next iteration reflects. All of these must be true:
 * - The search has not reflected yet.
 * - Candidates were proposed, but none beats the live config.
 * - Two iterations in a row brought no improvement, or only one iteration is left.
 */
function shallReflect(snapshot: SearchSnapshot): boolean {
  const { candidates, objective } = snapshot;
  if (findReflection(snapshot) !== undefined || hasGain(candidates, objective)) return false;
  const hasProposed = candidates.some(({ seed }) => !seed);
  return hasProposed && (countStale(snapshot) >= MAX_STALE || iterationsLeft(snapshot) === 1);
}

/**
 * Counts the latest iterations in a row that proposed no candidate better than every earlier config. Does not count
 * iterations before a reflection.
 */
function countStale({ iterations, candidates, objective }: SearchSnapshot): number {
  const reflected = iterations.find(({ kind }) => kind === "reflect")?.number ?? 0;
  const fruitless = ({ number }: SnapshotIteration): boolean => {
    const upToIt = candidates.filter(({ iteration }) => (iteration ?? 0) <= number);
    return findLeader(upToIt, objective)?.iteration !== number;
  };
  const proposing = iterations.filter(({ kind, number }) => kind === "propose" && number > reflected).reverse();
  const lastFruitful = proposing.findIndex((iteration) => !fruitless(iteration));
  return lastFruitful === -1 ? proposing.length : lastFruitful;
}

function findReflection({ iterations }: SearchSnapshot): SnapshotIteration | undefined {
  return iterations.find(({ kind }) => kind === "reflect");
}

/** Whether the seed succeeded on every scored copy of the searched runs. */
function isFlawless(candidates: readonly SnapshotCandidate[]): boolean {
  return candidates.find(({ seed }) => seed)?.searched?.score === "1/1";
}

/**
 * Whether the search can propose more candidates: an iteration is left, and the budget covers an agent run and one
 * replay of a candidate.
 */
export function canPropose(snapshot: SearchSnapshot): boolean {
  const { allotments, spending } = snapshot;
  const parts = { searchReplay: 1, heldOutReplay: 0, agentRun: 1 };
  return iterationsLeft(snapshot) > 0 && paysParts(allotments, spending, parts);
}

/**
 * Starts the remaining held-out replays, waits for them, and then ends the search. If the budget does not cover the
 * next replay, waits for the replays in progress, which may free budget. If `ending` leads to the state `stopped`, ends
 * the search at once.
 */
function holdOut(snapshot: SearchSnapshot, ending: SearchEnding): NextStep {
  if (endState(ending) === "stopped") return end(ending);
  const next = listHeldOut(snapshot).find(({ heldOutReplayState }) => heldOutReplayState === null);
  if (next !== undefined) {
    const ceiling = grantPart("heldOutReplay", toTerms({ ...snapshot, ending }));
    if (ceiling !== null) return { step: "hold-out", ending, candidateId: next.candidateId, ceiling };
  }
  return snapshot.candidates.some(({ heldOutReplayState }) => isUnderWay(heldOutReplayState)) ? WAIT : end(ending);
}

/** Lists the candidates to replay on the held-out runs once searching ends: the best three on the frontier. */
function listHeldOut({ candidates, objective }: SearchSnapshot): readonly SnapshotCandidate[] {
  return rankToHoldOut(candidates, objective).slice(0, MAX_HELD_OUT);
}

function end(ending: SearchEnding): NextStep {
  return { step: "end", ending, state: endState(ending) };
}

function isUnderWay(state: ReplayState | null): boolean {
  return state === "queued" || state === "running";
}

function iterationsLeft({ budget, iterations }: SearchSnapshot): number {
  return Math.max(0, budget.iterations - iterations.length);
}

function toTerms(snapshot: SearchSnapshot) {
  return { allotments: snapshot.allotments, spending: snapshot.spending, toCome: countToCome(snapshot) };
}

/** Counts the parts that a search may still start, at most. */
function countToCome(snapshot: SearchSnapshot): PartsToCome {
  const { budget, candidates, iterations } = snapshot;
  if (snapshot.ending !== null) {
    const left = listHeldOut(snapshot).filter(({ heldOutReplayState }) => heldOutReplayState === null).length;
    return { searchReplay: 0, heldOutReplay: left, agentRun: 0 };
  }
  const left = iterationsLeft(snapshot);
  const open = iterations.filter(
    ({ kind, state }) => kind === "propose" && (state === "wanted" || state === "running"),
  );
  const toPropose = open.reduce((sum, { admitted }) => sum + Math.max(0, budget.perIteration - admitted), 0);
  const waiting = candidates.filter(({ seed, replayState }) => !seed && replayState === null).length;
  return {
    searchReplay: waiting + toPropose + left * budget.perIteration,
    heldOutReplay: heldOutReplays(budget),
    agentRun: left,
  };
}
