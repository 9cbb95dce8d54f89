import type { Money } from "../../money.js";
import type { ReplayState } from "../../replays/replay.js";
import type { Allotments } from "./allotments.js";
import { heldOutReplays, MAX_HELD_OUT, type SearchBudget } from "./budget.js";
import { endState, type SearchEnding } from "./ending.js";
import type { Objective } from "./objective.js";
import { endingOfReflection, type ReflectionOutcome } from "./reflection.js";
import { grantPart, type PartsToCome, paysParts, type SearchSpending } from "./room.js";
import { type Contender, findLeader, hasGain, rankToHoldOut } from "./standing.js";

/** A candidate in a picture of a search. */
export interface PicturedCandidate extends Contender {
  /** The iteration that proposed it, from 1; null for the seed. */
  readonly iteration: number | null;
  /** Of its replay on held-out runs; null until it started, and for the seed. */
  readonly heldOutReplayState: ReplayState | null;
}

/** An iteration in a picture of a search. */
export interface PicturedIteration {
  /** From 1. */
  readonly number: number;
  readonly kind: "propose" | "reflect";
  readonly state: "wanted" | "running" | "ended" | "failed";
  /** How many candidates were admitted from it. */
  readonly admitted: number;
  /** What came of a reflection; null of others and until it ended. */
  readonly outcome: ReflectionOutcome | null;
}

/** All that decides what a search does next, at one moment. */
export interface SearchPicture {
  readonly state: "seeding" | "searching" | "holding-out";
  /** Why it stopped searching; null until it holds out. */
  readonly ending: SearchEnding | null;
  readonly budget: SearchBudget;
  readonly objective: Objective;
  readonly allotments: Allotments;
  readonly spending: SearchSpending;
  /** How the station's config is now beside the snapshot; `gone` with its station, line or team. */
  readonly live: "unchanged" | "changed" | "gone";
  /** The seed first, then the candidates as they were admitted. */
  readonly candidates: readonly PicturedCandidate[];
  /** In the order of their numbers. */
  readonly iterations: readonly PicturedIteration[];
}

/**
 * What a search does next. The caller does it and asks again, until it is told to wait or to end:
 * - `wait`: what is under way decides; ask again when a replay or an agent's run of the search ended, when a candidate
 *   was admitted, when the station left;
 * - `replay`: start the candidate's replay on the searched runs, under this ceiling;
 * - `propose`, `reflect`: start an iteration, of which the agent's run has this allotment. A reflection looks into what
 *   the seed failed, as nothing beats it; without any failed task it ends at once (`no-failures`);
 * - `hold-out`: store the ending, hold out, and start the candidate's replay on the held-out runs;
 * - `end`: the search ends in this state.
 * A search that is seeding moves to `searching` with any but `wait` and `end`.
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

export function decideNext(picture: SearchPicture): NextStep {
  const seed = picture.candidates.find((each) => each.seed);
  if (picture.live === "gone") return end("station-left");
  if (picture.ending !== null) return holdOut(picture, picture.ending);
  if (isUnderWay(seed?.replayState ?? null)) return WAIT;
  // Without a scored copy of the seed nothing can be measured against it.
  if (seed?.replayState !== "finished" || (seed.searched?.score ?? null) === null) return end("seed-failed");
  return replayNext(picture) ?? iterateNext(picture);
}

/** Starts the replay of the candidate that waits longest, or waits for what is under way; null when there is nothing of it. */
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

/** When nothing is under way: ends searching, or starts an iteration. */
function iterateNext(picture: SearchPicture): NextStep {
  const ending = findEnding(picture);
  if (ending !== null) return holdOut(picture, ending);
  const allotted = grantPart("agentRun", termsOf(picture));
  if (allotted === null) return holdOut(picture, "ceiling");
  if (shallReflect(picture)) return { step: "reflect", allotted };
  return canPropose(picture) ? { step: "propose", allotted } : holdOut(picture, "ceiling");
}

/** Why searching ends when an iteration would start, but for its money; null when it goes on. The first that holds. */
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

/** So many iterations in a row without a better candidate end the search, or have it reflect. */
const MAX_STALE = 2;

/**
 * Whether the next iteration reflects: once a search, when nothing beats the live config though candidates were proposed,
 * and two iterations in a row brought none better than every earlier one, or one is left.
 */
function shallReflect(picture: SearchPicture): boolean {
  const { candidates, objective } = picture;
  if (findReflection(picture) !== undefined || hasGain(candidates, objective)) return false;
  const hasProposed = candidates.some(({ seed }) => !seed);
  return hasProposed && (countStale(picture) >= MAX_STALE || iterationsLeft(picture) === 1);
}

/** How many proposing iterations in a row, since a reflection, brought no candidate better than every earlier config. */
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

/** Whether an iteration is left, and money for a proposing agent and the replay of what it proposes. */
export function canPropose(picture: SearchPicture): boolean {
  const { allotments, spending } = picture;
  const parts = { searchReplay: 1, heldOutReplay: 0, agentRun: 1 };
  return iterationsLeft(picture) > 0 && paysParts(allotments, spending, parts);
}

/**
 * Starts what is still to be held out, as far as money goes; waits for it; ends. Of the best three on the frontier those
 * after one that cannot be paid wait for it, until nothing is under way that could leave something.
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

/** The candidates that are held out once searching ended: the best three on the frontier. */
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

/** The most parts that a search may still start. */
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
