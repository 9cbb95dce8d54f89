import type { Reading } from "../../../storage/store.js";
import { runOutcomes } from "../../run-facts/run-outcome.table.js";
import type { RunRow } from "../../runs/run.js";
import { runCheckouts, runs } from "../../runs/run.table.js";
import type { RunAnswer } from "../../runs/run-answer.js";
import type { TaskNote } from "../../tasks/task.js";
import { taskNotes } from "../../tasks/task.table.js";

/** Maximum number of notes, and of runs, to search for one task. The newest ones are searched. */
const MAX_SCANNED = 100;

/** An answer with the text of its note. A stored answer has the digest of the note instead. */
export interface FoundAnswer extends Pick<RunAnswer, "accepted"> {
  readonly note: string | null;
}

/**
 * Finds the expected result of an ended run:
 * - for an accepted run, its own change;
 * - for a run that was sent back, the note with the reason, and the change of the later run at the same station that
 *   was accepted.
 *
 * Returns null for any other run. Also returns null if neither a note nor a change is stored.
 */
export function findAnswer(reading: Reading, workspaceId: string, runId: string): FoundAnswer | null {
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined || run.taskId === null) return null;
  const outcome = findOutcome(reading, workspaceId, run);
  if (outcome === "accepted") return toAnswer(null, acceptedBy(reading, workspaceId, run));
  if (outcome !== "sent-back") return null;
  const later = listLater(reading, workspaceId, run);
  const accepted = later.findLast((one) => findOutcome(reading, workspaceId, one) === "accepted");
  const note = findNote(reading, workspaceId, run, later[0]);
  return toAnswer(note, accepted === undefined ? [] : acceptedBy(reading, workspaceId, accepted));
}

function toAnswer(note: string | null, accepted: RunAnswer["accepted"]): FoundAnswer | null {
  return note === null && accepted.length === 0 ? null : { note, accepted };
}

function findOutcome(reading: Reading, workspaceId: string, { id }: RunRow) {
  return runOutcomes.get(reading, workspaceId, id)?.outcome;
}

/** Lists the task's later runs at the same station, oldest first. */
function listLater(reading: Reading, workspaceId: string, { id, taskId, stationId }: RunRow): readonly RunRow[] {
  const fits = (run: RunRow): boolean => run.id > id && run.stationId === stationId;
  return runs.all(reading, workspaceId, { taskId }, { limit: MAX_SCANNED, fits }).toReversed();
}

function acceptedBy(reading: Reading, workspaceId: string, { id }: RunRow): RunAnswer["accepted"] {
  return runCheckouts
    .list(reading, workspaceId, [id])
    .flatMap(({ repository, digest }) => (digest === null ? [] : [{ repository, digest }]));
}

/**
 * Finds the response to a run's change: the last note by a person or another station between the run's end and the
 * start of the station's next run. Returns null if there is none.
 */
function findNote(reading: Reading, workspaceId: string, run: RunRow, next: RunRow | undefined): string | null {
  const { taskId, endedAt, stationKey } = run;
  const until = next?.startedAt ?? null;
  const isMeant = ({ at, from }: TaskNote): boolean =>
    at >= (endedAt ?? "") &&
    (until === null || at <= until) &&
    (from.startsWith("person ") || (from.startsWith("station ") && from !== `station ${stationKey}`));
  const newest = taskNotes.list(reading, workspaceId, [taskId ?? ""], { reverse: true, limit: MAX_SCANNED });
  return newest.find(isMeant)?.text ?? null;
}
