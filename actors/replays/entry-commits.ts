import type { Turn } from "../../runtime/turn.js";
import { table } from "../../storage/table.js";
import { toArchiveId } from "../archives/archive.js";
import { archiveRef } from "../archives/archive.messages.js";
import { basesOf, runInputs } from "../runs/run-input.table.js";

/** `[team, set, run]` -> true: entries of an earlier release, whose commits nobody holds yet. */
export const dueHolds = table<true>("entry-commits-due");

/** A run whose commits something needs. */
interface HeldRun {
  readonly runId: string;
  /** The id of the set or the replay that needs them; its hold is one of each run. */
  readonly holder: string;
}

/** Has the commits that a run began from kept for `holder`, whatever becomes of their branches; again is fine. */
export function holdCommits(turn: Turn, { runId, holder }: HeldRun): void {
  for (const { repository, commit } of listCommits(turn, runId)) {
    const to = archiveRef(turn.self.partition, toArchiveId(repository, commit));
    turn.send(to, { type: "archive.hold", holder: `${holder}/${runId}`, repository, commit });
  }
}

/** Ends it. In a turn that sees the run's input, which whoever holds its commits pins. */
export function letGoOfCommits(turn: Turn, { runId, holder }: HeldRun): void {
  for (const { repository, commit } of listCommits(turn, runId)) {
    const to = archiveRef(turn.self.partition, toArchiveId(repository, commit));
    turn.send(to, { type: "archive.release", holder: `${holder}/${runId}` });
  }
}

/** Holds the commits of a team's entries of an earlier release. In a turn of the team's sets. */
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
  return input === undefined ? [] : basesOf(input);
}
