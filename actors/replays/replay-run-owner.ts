import { readNotes, runInputs } from "../runs/run-input.table.js";
import type { RunOwner } from "../runs/run-owner.js";

/**
 * Replays as owners of runs. Nobody hears of such a run, takes part in it or is asked; a handover is accepted and
 * recorded, and not done.
 */
export const replayRunOwner: RunOwner = {
  ...{ kind: "replay", hearsClaims: true, hasGate: false, hasHooks: false, handOver: "accepted" },
  ...{ hasConversation: false, hasApprovals: false },
  assignee: () => null,
  // The agent is given the work as that of the repeated run was.
  brief: (reading, workspaceId, { id }) => {
    const repeats = runInputs.get(reading, workspaceId, id)?.beginning?.repeats ?? "";
    const brief = runInputs.get(reading, workspaceId, repeats)?.claimed?.brief ?? null;
    if (brief === null) throw new Error("a run of a replay that repeats nothing");
    return { ...brief, notes: readNotes(reading, workspaceId, brief.notes) };
  },
  opener: null,
  eventSubject: () => null,
};
