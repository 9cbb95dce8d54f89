import type { RunConfig } from "../../lines/fingerprint.js";
import type { StationBody } from "../../lines/station.js";
import type { Money } from "../../money.js";
import type { ReplayState } from "../../replays/replay/replay.js";
import type { Stored } from "../../view.js";
import type {
  SearchCandidateView,
  SearchIterationView,
  searchItemSchema,
  searchIterationSchema,
} from "../reads/search-schemas.js";
import type { Allotments } from "../rules/allotments.js";
import type { BestReason } from "../rules/best.js";
import type { HeldOutFigures, SearchedFigures } from "../rules/candidate-figures.js";
import type { SearchWarning } from "../rules/warnings.js";

/** A search at a station. Its input holds the data that never changes after the start. */
export interface SearchRow extends Stored<typeof searchItemSchema, "bestBecause" | "spent"> {
  readonly teamId: string;
  readonly setVersion: number;
  /** The smallest gain that the line counted as real at the start. */
  readonly minGain: number;
  /** The ids of the candidate for the live config, and of this candidate's replay over the whole set. */
  readonly seedCandidateId: string;
  readonly seedReplayId: string;
  /**
   * Why `best` is the best config. Null or absent if `best` is null; also absent if an earlier release stored `best`.
   */
  readonly bestBecause?: BestReason | null;
}

/** The configuration of the search's agent. A model or effort of null means the harness's default. */
export type SearchAgent = SearchRow["agent"];
/** The limits of a search. */
export type SearchBudget = SearchRow["budget"];
/** The best config of a search so far, as lists of searches show it. */
export type BestCandidate = NonNullable<SearchRow["best"]>;

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
  /** The line's key and name, for the agent's runs. */
  readonly line: { readonly key: string; readonly name: string };
  /** The warnings at the start. */
  readonly warnings: readonly SearchWarning[];
}

/** An iteration of a search: a run of the search's agent, which is repeated if the runner is lost. */
export interface SearchIterationRow extends Stored<typeof searchIterationSchema, "reflection"> {
  /** The id of the iteration's actor, which owns its runs. */
  readonly id: string;
  readonly searchId: string;
  /** The runs of earlier attempts whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** The budget of the iteration's runs. */
  readonly allotted: Money;
  /**
   * Whether a run of the iteration started its agent, but reported no cost in the ceiling's currency. If so, the
   * allotment counts once against the ceiling, in addition to the reported costs.
   */
  readonly unpriced: boolean;
  /** Null in an iteration that proposes. */
  readonly reflection: Reflection | null;
}

type ReflectionView = NonNullable<SearchIterationView["reflection"]>;

/**
 * The failed tasks that a reflection investigates, at most 10, and the causes that its agent recorded, one per task.
 */
export interface Reflection extends Omit<ReflectionView, "endedSearch"> {
  /** The candidate whose failures the reflection investigates: always the seed, because no candidate beat the seed. */
  readonly standing: string;
}

type StoredCandidate = Pick<
  SearchCandidateView,
  "candidateId" | "name" | "seed" | "iteration" | "hypothesis" | "changes" | "replayId" | "heldOutReplayId"
>;

/** A config of a search: the live config (the seed), or a config that the agent proposed. */
export interface SearchCandidateRow extends StoredCandidate {
  readonly searchId: string;
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  /**
   * How the candidate's replays ended; each is null until that replay ends. A replay that could not start counts as
   * stopped.
   */
  readonly replayEnded: ReplayEnd | null;
  readonly heldOutEnded: ReplayEnd | null;
  /**
   * The figures of the candidate's replays. The row stores figures when a replay ends, and again when the replay's
   * pairs are judged, because a replay may be removed before the search. Each is null until its replay ends. Both
   * figures of the seed come from the seed's single replay.
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
