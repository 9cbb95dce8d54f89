import type { RunConfig } from "../lines/fingerprint.js";
import type { StationBody } from "../lines/station.js";
import type { Money } from "../money.js";
import type { ConfigChange } from "../replays/config-changes.js";
import type { ReplayState } from "../replays/replay.js";
import type { Interval } from "../statistics/success.js";
import type { Allotments } from "./rules/allotments.js";
import type { BestReason } from "./rules/best.js";
import type { HeldOutFigures, SearchedFigures } from "./rules/candidate-figures.js";
import type { SearchEnding } from "./rules/ending.js";
import type { Objective } from "./rules/objective.js";
import type { FailedTask, FailureCause, ReflectionOutcome } from "./rules/reflection.js";
import type { OnlyOnSeenTasks } from "./rules/standing.js";
import type { SearchWarning } from "./rules/warnings.js";

/** The states of a search (replays, States and transitions). The last two are its ends. */
export const searchStates = ["seeding", "searching", "holding-out", "finished", "stopped"] as const;
export type SearchState = (typeof searchStates)[number];

export const iterationKinds = ["propose", "reflect"] as const;
export type IterationKind = (typeof iterationKinds)[number];

/** The states of an iteration. The last two are its ends. */
export const iterationStates = ["wanted", "running", "ended", "failed"] as const;
export type IterationState = (typeof iterationStates)[number];

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

/** The candidate that a search would choose, as its lists show it. */
export interface BestCandidate {
  readonly candidateId: string;
  readonly name: string;
  /** Whether it is the live config. */
  readonly seed: boolean;
  readonly searchScore: number | null;
  readonly searchInterval: Interval | null;
  /** How many tasks its scores are of. */
  readonly searchTasks: number;
  readonly heldOutScore: number | null;
  readonly heldOutInterval: Interval | null;
  readonly heldOutTasks: number;
  readonly costPerRun: Money | null;
  readonly onlyOnSeenTasks: OnlyOnSeenTasks | null;
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
  /** Iterations of which a runner took the agent's run. */
  readonly iterationsRun: number;
  /** Candidates that were admitted. */
  readonly proposed: number;
  /** Null until the seed's replay has ended. */
  readonly best: BestCandidate | null;
  /** Why it is the best; null like `best`. Absent where an earlier release noted the best. */
  readonly bestBecause?: BestReason | null;
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
  /** What each part of the search may spend. */
  readonly allotments: Allotments;
  /** The line, as jobs of the agent name it. */
  readonly line: { readonly key: string; readonly name: string };
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
  /** What its runs may spend. */
  readonly allotted: Money;
  /** What its runs reported; null until one did. */
  readonly agentSpent: Money | null;
  /** Whether one of them reported no cost in the ceiling's currency: what is allotted counts for it, once. */
  readonly unpriced: boolean;
  /** Why it failed, in a sentence; null when it did not. */
  readonly reason: string | null;
  /** Null where it proposes. */
  readonly reflection: Reflection | null;
  readonly wantedAt: string;
  /** When a runner took its run. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

export interface RecordedCause extends FailedTask {
  readonly cause: FailureCause;
  /** At most 4,000 characters. */
  readonly evidence: string;
  /** At most 4,000 characters. */
  readonly suggestion: string | null;
  readonly recordedAt: string;
}

/** What an iteration that reflects looks into, at most 10 tasks, and what its agent found: one cause a task. */
export interface Reflection {
  /** The candidate whose failures it looks into: the seed, as nothing beat it. */
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
  /** How its replays ended; null while they have not. One that could not be ordered was stopped. */
  readonly replayEnded: ReplayEnd | null;
  readonly heldOutEnded: ReplayEnd | null;
  /**
   * Figures of its replays, stored once they ended and again once their pairs are judged, since a replay may be removed
   * before the search. Null until then; the seed's are both of its one replay.
   */
  readonly searched: SearchedFigures | null;
  readonly heldOut: HeldOutFigures | null;
  readonly admittedAt: string;
}

/** How a replay ended. */
export type ReplayEnd = Extract<ReplayState, "finished" | "stopped" | "over-budget">;

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

/** The station block that a config was made of, with the rest of the block. */
export function toBlock(config: RunConfig, block: SearchInputRow["block"]): StationBody {
  return { ...config.station, ...block };
}
