import { readNotes, runInputs } from "../runs/run-input.table.js";
import type { RunOwner } from "../runs/run-owner.js";
import { findCopyOfRun } from "./replay-copy.table.js";

/**
 * Replays as owners of runs. Nobody hears of such a run, takes part in it or is asked; a handover is accepted and
 * recorded, and not done.
 */
export const replayRunOwner: RunOwner = {
  ...{ kind: "replay", hearsClaims: true, hasGate: false, hasHooks: false, handOver: "accepted" },
  ...{ hasConversation: false, hasApprovals: false },
  assignee: () => null,
  // The agent is given the work as the repeated run's was.
  brief: (reading, workspaceId, { id: runId, owner }) => {
    const copy = findCopyOfRun(reading, workspaceId, { replayId: owner.id, runId });
    const brief =
      copy === undefined ? null : (runInputs.get(reading, workspaceId, copy.originalRunId)?.claimed?.brief ?? null);
    if (brief === null) throw new Error("a run of a replay that repeats nothing");
    return { ...brief, notes: readNotes(reading, workspaceId, brief.notes) };
  },
  opener: null,
  eventSubject: () => null,
};
