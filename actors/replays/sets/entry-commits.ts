import type { Turn } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import { toArchiveId } from "../../archives/archive.js";
import { archiveRef } from "../../archives/archive.messages.js";
import { listBases, runInputs } from "../../runs/run-input.table.js";

/** Entries that an earlier release stored, whose commits have no hold yet. Key: `[team, set, run]`; value: true. */
export const dueHolds = table<true>("entry-commits-due");

/** A run whose commits a set or a replay needs. */
interface CommitHold {
  readonly runId: string;
  /** The id of the set or replay that needs the commits. The archives store a separate hold for each holder and run. */
  readonly holder: string;
}

/**
 * Makes the archives retain the commits that a run started from, until `holder` releases them. The commits stay
 * available even if branches change or disappear. Idempotent.
 */
export function holdCommits(turn: Turn, { runId, holder }: CommitHold): void {
  for (const { repository, commit } of listCommits(turn, runId)) {
    const to = archiveRef(turn.self.partition, toArchiveId(repository, commit));
    turn.send(to, { type: "archive.hold", holder: `${holder}/${runId}`, repository, commit });
  }
}

/**
 * Releases the holds of `holder` on the commits of a run. Call it in a turn that can read the run's input; each holder
 * pins this input.
 */
export function releaseCommits(turn: Turn, { runId, holder }: CommitHold): void {
  for (const { repository, commit } of listCommits(turn, runId)) {
    const to = archiveRef(turn.self.partition, toArchiveId(repository, commit));
    turn.send(to, { type: "archive.release", holder: `${holder}/${runId}` });
  }
}

/**
 * Adds the missing holds for a team's entries that an earlier release stored. Call it in a turn of the actor of the
 * team's sets.
 */
export function holdDueCommits(turn: Turn): void {
  const { partition, id: teamId } = turn.self;
  for (const { key } of dueHolds.entries(turn, partition, [teamId])) {
    const [setId = "", runId = ""] = key.slice(-2).map(String);
    holdCommits(turn, { runId, holder: setId });
    turn.remove(key);
  }
}

function listCommits(turn: Turn, runId: string) {
  const input = runInputs.get(turn, turn.self.partition, runId);
  return input === undefined ? [] : listBases(input);
}
