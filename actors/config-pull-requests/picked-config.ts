import type { Reading } from "../../storage/store.js";
import type { StationBody } from "../lines/station.js";
import type { Money } from "../money.js";
import type { Gain } from "../statistics/gain.js";
import type { Interval } from "../statistics/success.js";
import type { PickedCandidate } from "./config-pull-request.js";

/** What a search knows of a candidate that was picked. Its area reads it; this one is given {@link FindPickedConfig}. */
export interface PickedConfig {
  /** The live config of the station when the search began, which the candidate was measured against. */
  readonly was: StationBody;
  readonly wanted: StationBody;
  readonly changes: readonly ShownChange[];
  /** What its agent said of it; null for nothing. */
  readonly hypothesis: string | null;
  readonly evidence: Evidence;
}

/** A difference of the two configs as the API shows it. */
export interface ShownChange {
  readonly part: string;
  /** Which of several; null when the part is a single value. */
  readonly name: string | null;
  readonly kind: "added" | "removed" | "changed";
  /** Null when the value is hidden, and when there is none. */
  readonly was: unknown;
  readonly now: unknown;
}

/** How a config did on some tasks. */
export interface SideFigures {
  readonly success: Interval | null;
  /** Copies that were scored, and of how many tasks. */
  readonly scored: number;
  readonly tasks: number;
  /** Of a scored copy; null where it is not known. */
  readonly cost: CostFigures | null;
}

/** What a scored copy cost, with its 95 % interval over the tasks whose cost is known. */
export interface CostFigures extends Money {
  /** In the same currency. */
  readonly low: number;
  readonly high: number;
}

/** Both sides on the same tasks. */
export interface ComparedFigures {
  readonly live: SideFigures;
  readonly candidate: SideFigures;
  readonly gain: Gain | null;
  /** Tasks that succeeded less often than under the live config, of those scored on both sides; null where not known. */
  readonly worse: { readonly tasks: number; readonly of: number } | null;
  /** Tasks that the judge found worse side by side with the live config, of those it compared; null where not known. */
  readonly judgedWorse: { readonly tasks: number; readonly of: number } | null;
}

/** Why a candidate is believed: figures alone. */
export interface Evidence {
  readonly objective: "success" | "cost";
  /** On the tasks that it was chosen by. */
  readonly searched: ComparedFigures | null;
  /** On those that nothing was chosen by; null until it was held out. */
  readonly heldOut: ComparedFigures | null;
  /** Whether a run on held-out tasks costs less beyond chance, and on how many tasks that is known. */
  readonly heldOutCost: { readonly tasks: number; readonly cheaper: boolean } | null;
  readonly onlyOnSeenTasks: "marked" | "too-few-held-out" | null;
  readonly replays: {
    readonly live: string | null;
    readonly searched: string | null;
    readonly heldOut: string | null;
  };
}

/** Finds what is known of a candidate; null when its search is gone. */
export type FindPickedConfig = (
  reading: Reading,
  workspaceId: string,
  candidate: Pick<PickedCandidate, "searchId" | "candidateId">,
) => PickedConfig | null;
