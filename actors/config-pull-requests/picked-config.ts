import type { Reading } from "../../storage/store.js";
import type { StationBody } from "../lines/station.js";
import type { Money } from "../money.js";
import type { Gain } from "../statistics/gain.js";
import type { Interval } from "../statistics/success.js";
import type { PickedCandidate } from "./config-pull-request.js";

/**
 * A search's data about a picked candidate. The `searches` area implements {@link FindPickedConfig}, which reads the
 * data.
 */
export interface PickedConfig {
  /** The station's live config when the search began. The search compared the candidate with it. */
  readonly was: StationBody;
  readonly wanted: StationBody;
  readonly changes: readonly ShownChange[];
  /** The search agent's hypothesis about the candidate; null if the agent gave none. */
  readonly hypothesis: string | null;
  readonly evidence: Evidence;
}

/** A difference between the two configs, as the API shows it. */
export interface ShownChange {
  readonly part: string;
  /** The name of the changed element if the part has several elements; null if the part is a single value. */
  readonly name: string | null;
  readonly kind: "added" | "removed" | "changed";
  /** Null if the value is hidden, or if there is no value. */
  readonly was: unknown;
  readonly now: unknown;
}

/** The results of a config on some tasks. */
export interface SideFigures {
  readonly success: Interval | null;
  /** The number of scored copies, and the number of tasks that these copies belong to. */
  readonly scored: number;
  readonly tasks: number;
  /** The cost of a scored copy; null if unknown. */
  readonly cost: CostFigures | null;
}

/** The mean cost of a scored copy, with its 95 % confidence interval over the tasks whose cost is known. */
export interface CostFigures extends Money {
  /** The bounds of the interval, in the same currency. */
  readonly low: number;
  readonly high: number;
}

/** The results of both configs on the same tasks. */
export interface ComparedFigures {
  readonly live: SideFigures;
  readonly candidate: SideFigures;
  readonly gain: Gain | null;
  /**
   * The tasks that both configs scored. `of` is their number; `tasks` is the number of them that succeeded less often
   * under the candidate's config than under the live config. Null if unknown.
   */
  readonly worse: { readonly tasks: number; readonly of: number } | null;
  /**
   * The tasks that the judge compared. `of` is their number; `tasks` is the number of them that were worse under the
   * candidate's config than under the live config. Null if unknown.
   */
  readonly judgedWorse: { readonly tasks: number; readonly of: number } | null;
}

/** The measured results of a candidate. */
export interface Evidence {
  readonly objective: "success" | "cost";
  /** The results on the tasks that were used to select the candidate. */
  readonly searched: ComparedFigures | null;
  /** The results on held-out tasks, which were not used for selection; null until they are measured. */
  readonly heldOut: ComparedFigures | null;
  /**
   * Whether a run on held-out tasks costs significantly less under the candidate's config than under the live config,
   * and the number of tasks with known costs; null if unknown.
   */
  readonly heldOutCost: { readonly tasks: number; readonly cheaper: boolean } | null;
  readonly onlyOnSeenTasks: "marked" | "too-few-held-out" | null;
  readonly replays: {
    readonly live: string | null;
    readonly searched: string | null;
    readonly heldOut: string | null;
  };
}

/** Finds a search's data about a candidate; null if some of the data is no longer stored. */
export type FindPickedConfig = (
  reading: Reading,
  workspaceId: string,
  candidate: Pick<PickedCandidate, "searchId" | "candidateId">,
) => PickedConfig | null;
