import type { Reading } from "../../storage/store.js";
import type { FailureCode, Spent } from "../runners/protocol.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { CallTally } from "./call-tally.js";
import type { Opener } from "./opener.js";
import type { RunOutcomeRow, TaskOutcome } from "./run-outcome.table.js";
import { toDay } from "./stay.table.js";

/** The model of a run whose station names none. */
export const DEFAULT_MODEL = "~default";

/**
 * What figures need of an ended run of a task, in one row. It is written in the turn that ends the run, outlives the run,
 * and refers to nothing that it needs to be read. Only what became of the run changes later.
 */
export interface RunFact extends CallTally {
  readonly runId: string;
  readonly teamId: string;
  /** UTC day of the end, as `YYYY-MM-DD`. */
  readonly endedDay: string;
  /** Times are in milliseconds since 1970. */
  readonly endedMs: number;
  readonly queuedMs: number;
  /** When the agent started; null when it did not. */
  readonly startedMs: number | null;
  readonly taskId: string;
  /** Who opened the task; null where nothing says it. */
  readonly openedBy: Opener | null;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly outcome: "completed" | "failed" | "stopped" | "abandoned" | "withdrawn" | "superseded";
  readonly failure: FailureCode | null;
  /** What became of it in its task; null until the task has taken note of its end. */
  readonly taskOutcome: TaskOutcome | null;
  readonly next: RunOutcomeRow["next"];
  readonly harness: string;
  /** The model that the station names, or {@link DEFAULT_MODEL}. */
  readonly model: string;
  /** The model that the agent says it used; null when it says none. */
  readonly reportedModel: string | null;
  readonly effort: string | null;
  /** Key of the harness profile. */
  readonly profile: string | null;
  readonly fingerprint: string;
  readonly repositories: readonly string[];
  /** Keys of the skills that its config gave it. */
  readonly skillsGiven: readonly string[];
  /** By currency, as reported. */
  readonly spent: readonly Spent[];
  /** Whether anything was reported as spent. */
  readonly priced: boolean;
  readonly steps: number;
}

/** `[team, UTC day of the end, end (ms), run]`, and by station in the same order */
export const runFacts = indexedTable<RunFact>("run-fact", {
  ...{ under: ["teamId"], order: ["endedDay", "endedMs", "runId"] },
  indexes: { "run-fact-by-station": ["teamId", "stationId"] },
});

export const factRetention = retain(runFacts, {
  period: "facts",
  lineParts: 1,
  begunAtMs: ({ endedMs }) => endedMs,
  endedAtMs: ({ endedMs }) => endedMs,
  remove: (turn, fact) => {
    runFacts.remove(turn, turn.self.partition, fact);
    return true;
  },
});

/** The fact of an ended run; undefined for a run under way, and for one that ended before facts were recorded. */
export function findRunFact(
  reading: Reading,
  workspaceId: string,
  { id, teamId, endedAt }: { readonly id: string; readonly teamId: string; readonly endedAt: string | null },
): RunFact | undefined {
  if (endedAt === null) return undefined;
  const endedMs = Date.parse(endedAt);
  return runFacts.get(reading, workspaceId, teamId, toDay(endedMs), endedMs, id);
}
