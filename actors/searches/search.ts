import type { RunConfig } from "../lines/fingerprint.js";
import type { StationBody } from "../lines/station.js";
import type { Money } from "../money.js";
import type { ConfigChange } from "../replays/config-changes.js";
import type { Allotments } from "./rules/allotments.js";
import type { HeldOutFigures, SearchedFigures } from "./rules/candidate-figures.js";
import type { SearchWarning } from "./rules/warnings.js";

/** The states of a search (replays, States and transitions). The last two are its ends. */
export const searchStates = ["seeding", "searching", "holding-out", "finished", "stopped"] as const;
export type SearchState = (typeof searchStates)[number];

/** Why a search stopped searching. */
export const searchEndings = [
  ...(["iterations-used", "ceiling", "no-proposals", "no-improvement", "nothing-to-improve"] as const),
  ...(["no-config-cause", "agent-failed", "config-changed", "station-left", "seed-failed", "stopped"] as const),
] as const;
export type SearchEnding = (typeof searchEndings)[number];

/** What orders its frontier and its best. */
export const objectives = ["success", "cost"] as const;
export type Objective = (typeof objectives)[number];

export const iterationKinds = ["propose", "reflect"] as const;
export type IterationKind = (typeof iterationKinds)[number];

/** The states of an iteration. The last two are its ends. */
export const iterationStates = ["wanted", "running", "ended", "failed"] as const;
export type IterationState = (typeof iterationStates)[number];

/** What a reflection may find that a run failed by. */
export const causes = ["config", "task", "judge", "check", "infra"] as const;
export type Cause = (typeof causes)[number];

/** How a reflection turned out; the search ends after each but `went-on`. */
export const reflectionOutcomes = [
  "went-on",
  "no-config-cause",
  "no-failures",
  "did-not-run",
  "out-of-budget",
] as const;
export type ReflectionOutcome = (typeof reflectionOutcomes)[number];

/** How the agent that proposes is started. Null for the harness's default. */
export interface SearchAgent {
  readonly harness: string;
  readonly model: string | null;
  readonly effort: StationBody["effort"];
}

export interface SearchBudget {
  /** Times the agent runs: 1 to 10. */
  readonly iterations: number;
  /** Candidates that each of its runs may propose: 1 to 5. */
  readonly perIteration: number;
  /** The most that the whole search may spend. */
  readonly ceiling: Money;
  /** Copies of its replays that run at once: 1 to 10. */
  readonly concurrency: number;
  /** Copies of each run in each of its replays: 1 to 5. */
  readonly repeats: number;
}

/** A run of the set. */
export interface SplitRun {
  readonly runId: string;
  readonly taskId: string;
}

/** The set's runs, drawn apart by task. Nothing of the held-out ones is shown to the agent. */
export interface SearchSplit {
  readonly searched: readonly SplitRun[];
  readonly heldOut: readonly SplitRun[];
}

/** Success as it is shown, with its 95 % interval. */
export interface ShownInterval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The candidate that a search would choose, as its lists show it. */
export interface BestCandidate {
  readonly candidateId: string;
  readonly name: string;
  /** Whether it is the live config. */
  readonly seed: boolean;
  readonly searchScore: number | null;
  readonly searchInterval: ShownInterval | null;
  readonly heldOutScore: number | null;
  readonly heldOutInterval: ShownInterval | null;
  readonly costPerRun: Money | null;
  readonly onlyOnSeenTasks: "marked" | "too-few-held-out" | null;
}

/** A search at a station. What it froze at its start is its input. */
export interface SearchRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly setId: string;
  readonly setVersion: number;
  readonly state: SearchState;
  /** Null while it searches. */
  readonly ending: SearchEnding | null;
  readonly agent: SearchAgent;
  readonly budget: SearchBudget;
  readonly objective: Objective;
  /** The smallest gain that the line counted as real at the start. */
  readonly minGain: number;
  /** The live config as a candidate, and the replay of it over the whole set. */
  readonly seedCandidateId: string;
  readonly seedReplayId: string;
  /** Times its agent ran or is running. */
  readonly iterationsRun: number;
  /** Candidates that were admitted. */
  readonly proposed: number;
  /** Null until the seed's replay has ended. */
  readonly best: BestCandidate | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** What a search froze at its start. Skills are bodies, named by their digests. */
export interface SearchInputRow {
  readonly searchId: string;
  /** The live config, with the rest of the station block, and its fingerprints. */
  readonly config: RunConfig;
  readonly block: Pick<StationBody, "name" | "passesTo" | "alerts" | "runners">;
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  readonly judgeModel: string | null;
  readonly split: SearchSplit;
  readonly allotments: Allotments;
  /** What its start warned of. */
  readonly warnings: readonly SearchWarning[];
}

/** One run of the search's agent, repeated when its runner was lost. */
export interface SearchIterationRow {
  /** The actor of the iteration, which owns its runs. */
  readonly id: string;
  readonly searchId: string;
  /** From 1. */
  readonly number: number;
  readonly kind: IterationKind;
  readonly state: IterationState;
  /** The run of its newest attempt; null before the first. */
  readonly runId: string | null;
  /** The runs of earlier attempts, whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Proposals, refused ones too. */
  readonly attempts: number;
  /** The candidates that were admitted, in order. */
  readonly proposed: readonly string[];
  /** What its runs reported; null until one did. */
  readonly agentSpent: Money | null;
  /** Why it failed, in a sentence; null when it did not. */
  readonly reason: string | null;
  /** Null where it proposes. */
  readonly reflection: Reflection | null;
  readonly wantedAt: string;
  /** When a runner took its run. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** A searched task that a config failed, with the copy that shows it. */
export interface FailedTask {
  readonly taskId: string;
  readonly originalRunId: string;
  readonly replayRunId: string;
}

export interface RecordedCause extends FailedTask {
  readonly cause: Cause;
  /** At most 4,000 characters. */
  readonly evidence: string;
  /** At most 4,000 characters. */
  readonly suggestion: string | null;
  readonly recordedAt: string;
}

/** What an iteration that reflects looks into, at most 10 tasks, and what its agent found: one cause a task. */
export interface Reflection {
  /** The candidate whose failures it looks into. */
  readonly standing: string;
  readonly tasks: readonly FailedTask[];
  readonly causes: readonly RecordedCause[];
  /** Null until it ended. */
  readonly outcome: ReflectionOutcome | null;
}

/** A config of a search: its live config (the seed), or one that its agent proposed. */
export interface SearchCandidateRow {
  readonly searchId: string;
  readonly candidateId: string;
  /** The slug that the agent named it, or `seed`. */
  readonly name: string;
  readonly seed: boolean;
  /** The iteration that proposed it; null for the seed. */
  readonly iteration: number | null;
  readonly hypothesis: string | null;
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  /** From the live config. */
  readonly changes: readonly ConfigChange[];
  /** Its replay on the searched runs; the seed's is of the whole set. Null until it is ordered. */
  readonly replayId: string | null;
  /** Null until it is ordered, and for the seed. */
  readonly heldOutReplayId: string | null;
  /** How its replays ended; null while they have not. */
  readonly replayEnded: "finished" | "stopped" | "over-budget" | null;
  readonly heldOutEnded: "finished" | "stopped" | "over-budget" | null;
  /** How it did, stored once its replay ended and again once its pairs are judged: a replay may be removed before it. */
  readonly searched: SearchedFigures | null;
  /** The same of the held-out runs. */
  readonly heldOut: HeldOutFigures | null;
  readonly admittedAt: string;
}

/** The station block of a proposed candidate, and its config as it was admitted. */
export interface SearchCandidateInputRow {
  readonly searchId: string;
  readonly candidateId: string;
  readonly config: RunConfig;
  readonly block: Pick<StationBody, "name" | "passesTo" | "alerts" | "runners">;
  readonly judgeModel: string | null;
}

/** Whether it has not ended. */
export function isSearchUnderWay({ state }: Pick<SearchRow, "state">): boolean {
  return state === "seeding" || state === "searching" || state === "holding-out";
}
