import type { Reading } from "../../storage/store.js";
import type { Opener } from "../opener.js";
import type { FailureCode, Spent } from "../runners/protocol.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { CallTally } from "./call-tally.js";
import type { RunOutcomeRow, TaskOutcome } from "./run-outcome.table.js";
import { toDay } from "./stay.table.js";

/** The model in facts of runs whose station names no model. */
export const DEFAULT_MODEL = "~default";

/**
 * The data of an ended run of a task, in one row, for figures. The turn that ends the run writes the row. Later only
 * `taskOutcome`, `next` and the tally of calls change. The row outlives the run. Readers of the row need no other row.
 */
export interface RunFact extends CallTally {
  readonly runId: string;
  readonly teamId: string;
  /** UTC day of the end, as `YYYY-MM-DD`. */
  readonly endedDay: string;
  /** Times are in milliseconds since 1970. */
  readonly endedMs: number;
  readonly queuedMs: number;
  /** When the agent started; null if it did not. */
  readonly startedMs: number | null;
  readonly taskId: string;
  /** The opener of the task; null if unknown. */
  readonly openedBy: Opener | null;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly outcome: "completed" | "failed" | "stopped" | "abandoned" | "withdrawn" | "superseded";
  readonly failure: FailureCode | null;
  /** The outcome of the run in its task; null while unknown. */
  readonly taskOutcome: TaskOutcome | null;
  readonly next: RunOutcomeRow["next"];
  readonly harness: string;
  /** The model that the station names, or {@link DEFAULT_MODEL}. */
  readonly model: string;
  /** The model that the agent reported; null if it reported none. */
  readonly reportedModel: string | null;
  readonly effort: string | null;
  /** Key of the harness profile; null for none. */
  readonly profile: string | null;
  readonly fingerprint: string;
  readonly repositories: readonly string[];
  /** Keys of the skills in the run's config. */
  readonly skillsGiven: readonly string[];
  /** The reported cost, by currency. */
  readonly spent: readonly Spent[];
  /** Whether any cost was reported. */
  readonly priced: boolean;
  readonly steps: number;
}

/** Key: `[team, UTC day of the end, end (ms), run]`. The index by station has the same order. */
export const runFacts = indexedTable<RunFact>("run-fact", {
  under: ["teamId"],
  order: ["endedDay", "endedMs", "runId"],
  indexes: { "run-fact-by-station": ["teamId", "stationId"] },
});

export const factRetention = retain(runFacts, {
  period: "facts",
  lineParts: 1,
  startedAtMs: ({ endedMs }) => endedMs,
  endedAtMs: ({ endedMs }) => endedMs,
  remove: (turn, fact) => {
    runFacts.remove(turn, turn.self.partition, fact);
    return true;
  },
});

/**
 * Finds the fact of an ended run. Undefined for an active run, and for a run that ended before the service recorded
 * facts.
 */
export function findRunFact(
  reading: Reading,
  workspaceId: string,
  { id, teamId, endedAt }: { readonly id: string; readonly teamId: string; readonly endedAt: string | null },
): RunFact | undefined {
  if (endedAt === null) return undefined;
  const endedMs = Date.parse(endedAt);
  return runFacts.get(reading, workspaceId, teamId, toDay(endedMs), endedMs, id);
}
