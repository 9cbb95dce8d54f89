import type { Money } from "../../money.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import type { Allotments } from "./allotments.js";
import { heldOutReplays, MAX_HELD_OUT, type SearchBudget } from "./budget.js";
import { grantPart, type PartsToCome, paysParts, type SearchSpending } from "./ceiling.js";
import { endState, type SearchEnding } from "./ending.js";
import type { Objective } from "./objective.js";
import { type Contender, findLeader, hasGain, rankToHoldOut } from "./ranking.js";
import { endingOfReflection, type ReflectionOutcome } from "./reflection.js";

/** A candidate in the picture of a search. */
export interface PicturedCandidate extends Contender {
  /** The iteration that proposed it, from 1; null for the seed. */
  readonly iteration: number | null;
  /** The state of its replay on held-out runs; null until the replay starts, and for the seed. */
  readonly heldOutReplayState: ReplayState | null;
}

/** An iteration in the picture of a search. */
export interface PicturedIteration {
  /** Starts at 1. */
  readonly number: number;
  readonly kind: "propose" | "reflect";
  readonly state: "wanted" | "running" | "ended" | "failed";
  /** Number of candidates that it proposed and that were admitted. */
  readonly admitted: number;
  /** The outcome of a reflection; null until it ends, and for other iterations. */
  readonly outcome: ReflectionOutcome | null;
}

/** All data that decides the next step of a search, at one moment. */
export interface SearchPicture {
  readonly state: "seeding" | "searching" | "holding-out";
  /** Why it stopped searching; null until it holds out. */
  readonly ending: SearchEnding | null;
  readonly budget: SearchBudget;
  readonly objective: Objective;
  readonly allotments: Allotments;
  readonly spending: SearchSpending;
  /**
   * Whether the station's current config equals the snapshot from the start; `gone` if the station, line or team is
   * gone.
   */
  readonly live: "unchanged" | "changed" | "gone";
  /** The seed first, then the candidates in the order of admission. */
  readonly candidates: readonly PicturedCandidate[];
  /** Ordered by number. */
  readonly iterations: readonly PicturedIteration[];
}

/**
 * The next step of a search. The caller takes the step and asks again, until the step is `wait` or `end`:
 * - `wait`: work in progress decides. Ask again when a replay or an agent run of the search ends, when a candidate is
 *   admitted, or when the station leaves;
 * - `replay`: start the candidate's replay on the searched runs, under this ceiling;
 * - `propose`, `reflect`: start an iteration with this allotment for the agent's run. A reflection investigates the
 *   seed's failures, because no candidate beats the seed. Without failed tasks it ends at once (`no-failures`);
 * - `hold-out`: store the ending, hold out, and start the candidate's replay on the held-out runs;
 * - `end`: end the search in this state.
 *
 * From `seeding`, every step except `wait` and `end` moves the search to `searching`.
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

/** Decides the next step of a search. Pure. */
export function decideNext(picture: SearchPicture): NextStep {
  const seed = picture.candidates.find((each) => each.seed);
  if (picture.live === "gone") return end("station-left");
  if (picture.ending !== null) return holdOut(picture, picture.ending);
  if (isUnderWay(seed?.replayState ?? null)) return WAIT;
  // Without a scored copy of the seed, nothing can be compared with it.
  if (seed?.replayState !== "finished" || (seed.searched?.score ?? null) === null) return end("seed-failed");
  return replayNext(picture) ?? iterateNext(picture);
}

/** Starts the replay of the candidate that waits longest, or waits for work in progress; null if there is neither. */
function replayNext(picture: SearchPicture): NextStep | null {
  const { candidates, iterations } = picture;
  const waiting = candidates.find(({ seed, replayState }) => !seed && replayState === null);
  if (waiting !== undefined) {
    const ceiling = grantPart("searchReplay", termsOf(picture));
    if (ceiling !== null) return { step: "replay", candidateId: waiting.candidateId, ceiling };
  }
  const isBusy =
    candidates.some(({ replayState }) => replayState !== null && isUnderWay(replayState)) ||
    iterations.some(({ state }) => state === "wanted" || state === "running");
  if (isBusy) return WAIT;
  return waiting === undefined ? null : holdOut(picture, "ceiling");
}

/** Ends searching or starts an iteration. Called when no work is in progress. */
function iterateNext(picture: SearchPicture): NextStep {
  const ending = findEnding(picture);
  if (ending !== null) return holdOut(picture, ending);
  const allotted = grantPart("agentRun", termsOf(picture));
  if (allotted === null) return holdOut(picture, "ceiling");
  if (shallReflect(picture)) return { step: "reflect", allotted };
  return canPropose(picture) ? { step: "propose", allotted } : holdOut(picture, "ceiling");
}

/**
 * Returns why searching ends instead of starting an iteration, apart from its budget; null if it continues. The first
 * matching reason applies.
 */
function findEnding(picture: SearchPicture): SearchEnding | null {
  const { objective, iterations, candidates, live } = picture;
  const reflection = findReflection(picture);
  if (reflection?.outcome) {
    const ending = endingOfReflection(reflection.outcome, iterationsLeft(picture) > 0);
    if (ending !== null) return ending;
  }
  if (objective === "success" && isFlawless(candidates)) return "nothing-to-improve";
  const lastTwo = iterations.filter(({ kind }) => kind === "propose").slice(-2);
  if (lastTwo.length === 2 && lastTwo.every(({ admitted }) => admitted === 0)) {
    return lastTwo.every(({ state }) => state === "failed") ? "agent-failed" : "no-proposals";
  }
  const mayReflect = reflection === undefined && !hasGain(candidates, objective);
  if (countStale(picture) >= MAX_STALE && !mayReflect) return "no-improvement";
  if (iterationsLeft(picture) === 0) return "iterations-used";
  return live === "changed" ? "config-changed" : null;
}

/** Number of iterations in a row without a better candidate that end the search or start a reflection. */
const MAX_STALE = 2;

/**
 * Whether the next iteration reflects. A search reflects at most once: if candidates were proposed but none beats the
 * live config, and either two iterations in a row brought no improvement or only one iteration is left.
 */
function shallReflect(picture: SearchPicture): boolean {
  const { candidates, objective } = picture;
  if (findReflection(picture) !== undefined || hasGain(candidates, objective)) return false;
  const hasProposed = candidates.some(({ seed }) => !seed);
  return hasProposed && (countStale(picture) >= MAX_STALE || iterationsLeft(picture) === 1);
}

/**
 * Counts the latest proposing iterations in a row, since any reflection, without a candidate better than every earlier
 * config.
 */
function countStale({ iterations, candidates, objective }: SearchPicture): number {
  const reflected = iterations.find(({ kind }) => kind === "reflect")?.number ?? 0;
  const fruitless = ({ number }: PicturedIteration): boolean => {
    const upToIt = candidates.filter(({ iteration }) => (iteration ?? 0) <= number);
    return findLeader(upToIt, objective)?.iteration !== number;
  };
  const proposing = iterations.filter(({ kind, number }) => kind === "propose" && number > reflected).reverse();
  const lastFruitful = proposing.findIndex((iteration) => !fruitless(iteration));
  return lastFruitful === -1 ? proposing.length : lastFruitful;
}

function findReflection({ iterations }: SearchPicture): PicturedIteration | undefined {
  return iterations.find(({ kind }) => kind === "reflect");
}

/** Whether the seed succeeded on every scored copy of the searched runs. */
function isFlawless(candidates: readonly PicturedCandidate[]): boolean {
  return candidates.find(({ seed }) => seed)?.searched?.score === "1/1";
}

/** Whether an iteration is left, and the budget covers an agent run that proposes and one replay of a candidate. */
export function canPropose(picture: SearchPicture): boolean {
  const { allotments, spending } = picture;
  const parts = { searchReplay: 1, heldOutReplay: 0, agentRun: 1 };
  return iterationsLeft(picture) > 0 && paysParts(allotments, spending, parts);
}

/**
 * Starts the remaining held-out replays as far as the budget allows, waits for them, and then ends the search. If the
 * budget does not cover one of the best three, the later ones wait with it until no work in progress can free budget.
 */
function holdOut(picture: SearchPicture, ending: SearchEnding): NextStep {
  if (endState(ending) === "stopped") return end(ending);
  const next = listHeldOut(picture).find(({ heldOutReplayState }) => heldOutReplayState === null);
  if (next !== undefined) {
    const ceiling = grantPart("heldOutReplay", termsOf({ ...picture, ending }));
    if (ceiling !== null) return { step: "hold-out", ending, candidateId: next.candidateId, ceiling };
  }
  return picture.candidates.some(({ heldOutReplayState }) => isUnderWay(heldOutReplayState)) ? WAIT : end(ending);
}

/** Lists the candidates to hold out once searching ends: the best three on the frontier. */
function listHeldOut({ candidates, objective }: SearchPicture): readonly PicturedCandidate[] {
  return rankToHoldOut(candidates, objective).slice(0, MAX_HELD_OUT);
}

function end(ending: SearchEnding): NextStep {
  return { step: "end", ending, state: endState(ending) };
}

function isUnderWay(state: ReplayState | null): boolean {
  return state === "queued" || state === "running";
}

function iterationsLeft({ budget, iterations }: SearchPicture): number {
  return Math.max(0, budget.iterations - iterations.length);
}

function termsOf(picture: SearchPicture) {
  return { allotments: picture.allotments, spending: picture.spending, toCome: countToCome(picture) };
}

/** Counts the parts that a search may still start, at most. */
function countToCome(picture: SearchPicture): PartsToCome {
  const { budget, candidates, iterations } = picture;
  if (picture.ending !== null) {
    const left = listHeldOut(picture).filter(({ heldOutReplayState }) => heldOutReplayState === null).length;
    return { searchReplay: 0, heldOutReplay: left, agentRun: 0 };
  }
  const left = iterationsLeft(picture);
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
