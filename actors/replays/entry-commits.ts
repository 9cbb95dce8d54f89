import type { Turn } from "../../runtime/turn.js";
import { toArchiveId } from "../archives/archive.js";
import { archiveRef } from "../archives/archive.messages.js";
import { basesOf, runInputs } from "../runs/run-input.table.js";

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

function listCommits(turn: Turn, runId: string) {
  const input = runInputs.get(turn, turn.self.partition, runId);
  return input === undefined ? [] : basesOf(input);
}
