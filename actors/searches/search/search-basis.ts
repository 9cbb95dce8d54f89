import type { Reading } from "../../../storage/store.js";
import { DEFAULT_MIN_GAIN } from "../../lines/line.js";
import type { SetHealth } from "../../replays/figures/set-health.js";
import type { ReplaySetRow } from "../../replays/sets/replay-set.js";
import { replayEntries } from "../../replays/sets/replay-set.table.js";
import { findStationNow } from "../../replays/sets/run-refusal.js";
import { type HealthTerms, readHealth } from "../../replays/sets/set-health.queries.js";
import { runOutcomes } from "../../run-facts/run-outcome.table.js";
import { runs } from "../../runs/run.table.js";
import type { EstimatedEntry } from "../rules/estimate.js";
import type { SplitEntry } from "../rules/split.js";

/** A run of the set, with its cost, duration and outcome. */
export interface BasisEntry extends EstimatedEntry, SplitEntry {}

/** The data for a search's estimate, split and warnings. */
export interface SearchBasis {
  /** In the order of the set. */
  readonly entries: readonly BasisEntry[];
  readonly health: SetHealth;
  /** The smallest gain that the line counts as real. */
  readonly minGain: number;
  /** Whether the station has a judge but no model is configured. */
  readonly lacksModel: boolean;
}

/** Reads the current data of the set. */
export function readSearchBasis(
  reading: Reading,
  workspaceId: string,
  set: ReplaySetRow,
  terms: HealthTerms,
): SearchBasis {
  const { line, station } = findStationNow(reading, workspaceId, set);
  return {
    entries: replayEntries.list(reading, workspaceId, [set.id]).map(({ runId, taskId }) => {
      const run = runs.get(reading, workspaceId, runId);
      const { startedAt = null, endedAt = null, spent = null } = run ?? {};
      const ms = startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
      const outcome = runOutcomes.get(reading, workspaceId, runId)?.outcome ?? "other";
      return { runId, taskId, spent, ms, outcome };
    }),
    health: readHealth(reading, workspaceId, set, terms),
    minGain: line?.replayCheck?.minGain ?? DEFAULT_MIN_GAIN,
    lacksModel: (station?.judge ?? null) !== null && terms.judging.defaultModel === null,
  };
}
