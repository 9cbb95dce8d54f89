import type { RunConfig } from "../../lines/fingerprint.js";
import type { StationBody } from "../../lines/station.js";
import type { Money } from "../../money.js";
import type { ConfigChange } from "../../replays/candidates/config-changes.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import type { Interval } from "../../statistics/success.js";
import type { Allotments } from "../rules/allotments.js";
import type { BestReason } from "../rules/best.js";
import type { HeldOutFigures, SearchedFigures } from "../rules/candidate-figures.js";
import type { SearchEnding } from "../rules/ending.js";
import type { Objective } from "../rules/objective.js";
import type { FailedTask, FailureCause, ReflectionOutcome } from "../rules/reflection.js";
import type { OnlyOnSeenTasks } from "../rules/standing.js";
import type { SearchWarning } from "../rules/warnings.js";

/** The states of a search (replays, States and transitions). The last two are end states. */
export const searchStates = ["seeding", "searching", "holding-out", "finished", "stopped"] as const;
export type SearchState = (typeof searchStates)[number];

export const iterationKinds = ["propose", "reflect"] as const;
export type IterationKind = (typeof iterationKinds)[number];

/** The states of an iteration. The last two are end states. */
export const iterationStates = ["wanted", "running", "ended", "failed"] as const;
export type IterationState = (typeof iterationStates)[number];

/** The configuration of the agent that proposes. Null means the harness's default. */
export interface SearchAgent {
  readonly harness: string;
  readonly model: string | null;
  readonly effort: StationBody["effort"];
}

/** The limits of a search. */
export interface SearchBudget {
  /** Maximum number of agent runs: 1 to 10. */
  readonly iterations: number;
  /** Maximum number of candidates that each agent run may propose: 1 to 5. */
  readonly perIteration: number;
  /** Maximum spending of the whole search. */
  readonly ceiling: Money;
  /** Maximum number of its replays' copies that run at once: 1 to 10. */
  readonly concurrency: number;
  /** Number of copies of each run in each of its replays: 1 to 5. */
  readonly repeats: number;
}

/** A run of the set. */
export interface SplitRun {
  readonly runId: string;
  readonly taskId: string;
}

/** The set's runs, split by task. The agent sees nothing of the held-out runs. */
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
  /** The number of tasks behind its scores. */
  readonly searchTasks: number;
  readonly heldOutScore: number | null;
  readonly heldOutInterval: Interval | null;
  readonly heldOutTasks: number;
  readonly costPerRun: Money | null;
  readonly onlyOnSeenTasks: OnlyOnSeenTasks | null;
}

/** A search at a station. Its input holds the data that never changes after the start. */
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
  /** The candidate for the live config, and its replay over the whole set. */
  readonly seedCandidateId: string;
  readonly seedReplayId: string;
  /** Number of iterations whose agent run a runner claimed. */
  readonly iterationsRun: number;
  /** Number of admitted candidates. */
  readonly proposed: number;
  /** Null until the seed's replay ends. */
  readonly best: BestCandidate | null;
  /** Why it is the best; null if `best` is null. Absent if an earlier release stored the best. */
  readonly bestBecause?: BestReason | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** The input that a search stores at its start and never changes. Skills are blobs, referenced by digest. */
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
  /** The budget of each part of the search. */
  readonly allotments: Allotments;
  /** The line's key and name, for the agent's jobs. */
  readonly line: { readonly key: string; readonly name: string };
  /** The warnings at the start. */
  readonly warnings: readonly SearchWarning[];
}

/** One run of the search's agent. It is repeated if its runner is lost. */
export interface SearchIterationRow {
  /** The id of the iteration's actor, which owns its runs. */
  readonly id: string;
  readonly searchId: string;
  /** Starts at 1. */
  readonly number: number;
  readonly kind: IterationKind;
  readonly state: IterationState;
  /** The run of its newest attempt; null before the first attempt. */
  readonly runId: string | null;
  /** The runs of earlier attempts whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Number of proposals, including refused ones. */
  readonly attempts: number;
  /** The ids of admitted candidates, in order. */
  readonly proposed: readonly string[];
  /** The budget of its runs. */
  readonly allotted: Money;
  /** The reported cost of its runs; null until one reports a cost. */
  readonly agentSpent: Money | null;
  /**
   * Whether one of its runs reported no cost in the ceiling's currency. If so, the allotment counts once in its place.
   */
  readonly unpriced: boolean;
  /** Why it failed, as a sentence; null if it did not fail. */
  readonly reason: string | null;
  /** Null in an iteration that proposes. */
  readonly reflection: Reflection | null;
  readonly wantedAt: string;
  /** When a runner claimed its run. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** The cause of a task's failure, as the agent recorded it. */
export interface RecordedCause extends FailedTask {
  readonly cause: FailureCause;
  /** At most 4,000 characters. */
  readonly evidence: string;
  /** At most 4,000 characters. */
  readonly suggestion: string | null;
  readonly recordedAt: string;
}

/**
 * The failed tasks that a reflection investigates, at most 10, and the causes that its agent recorded, one per task.
 */
export interface Reflection {
  /** The candidate whose failures it investigates: always the seed, because no candidate beat it. */
  readonly standing: string;
  readonly tasks: readonly FailedTask[];
  readonly causes: readonly RecordedCause[];
  /** Null until it ends. */
  readonly outcome: ReflectionOutcome | null;
}

/** A config of a search: the live config (the seed), or a config that the agent proposed. */
export interface SearchCandidateRow {
  readonly searchId: string;
  readonly candidateId: string;
  /** The name that the agent gave it, a slug; or `seed`. */
  readonly name: string;
  readonly seed: boolean;
  /** The iteration that proposed it; null for the seed. */
  readonly iteration: number | null;
  readonly hypothesis: string | null;
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  /** The changes relative to the live config. */
  readonly changes: readonly ConfigChange[];
  /** Its replay on the searched runs; for the seed, on the whole set. Null until the replay starts. */
  readonly replayId: string | null;
  /** Its replay on the held-out runs; null until the replay starts, and for the seed. */
  readonly heldOutReplayId: string | null;
  /** How its replays ended; null until they end. A replay that could not start counts as stopped. */
  readonly replayEnded: ReplayEnd | null;
  readonly heldOutEnded: ReplayEnd | null;
  /**
   * The figures of its replays, stored when they end and again when their pairs are judged, because a replay may be
   * removed before the search. Null until then. Both figures of the seed come from its one replay.
   */
  readonly searched: SearchedFigures | null;
  readonly heldOut: HeldOutFigures | null;
  readonly admittedAt: string;
}

/** How a replay ended. */
export type ReplayEnd = Extract<ReplayState, "finished" | "stopped" | "over-budget">;

/** The station block of a proposed candidate, and its config at its admission. */
export interface SearchCandidateInputRow {
  readonly searchId: string;
  readonly candidateId: string;
  readonly config: RunConfig;
  readonly block: Pick<StationBody, "name" | "passesTo" | "alerts" | "runners">;
  readonly judgeModel: string | null;
}

/** Whether the search has not ended. */
export function isSearchUnderWay({ state }: Pick<SearchRow, "state">): boolean {
  return state === "seeding" || state === "searching" || state === "holding-out";
}

/** Returns the station block that a config was made from. `block` holds the fields that a config lacks. */
export function toBlock(config: RunConfig, block: SearchInputRow["block"]): StationBody {
  return { ...config.station, ...block };
}
