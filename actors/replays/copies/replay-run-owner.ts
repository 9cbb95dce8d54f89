import { readNotes, runInputs } from "../../runs/run-input.table.js";
import type { RunOwner } from "../../runs/run-owner.js";

/**
 * Makes replays owners of runs. Such runs have no hooks, conversation or approvals. A handover is accepted and
 * recorded, but has no effect.
 */
export const replayRunOwner: RunOwner = {
  kind: "replay",
  hearsClaims: true,
  hasGate: false,
  hasHooks: false,
  handOver: "accepted",
  hasConversation: false,
  hasApprovals: false,
  assignee: () => null,
  // The agent receives the same work as the original run.
  brief: (reading, workspaceId, { id }) => {
    const repeats = runInputs.get(reading, workspaceId, id)?.beginning?.repeats ?? "";
    const brief = runInputs.get(reading, workspaceId, repeats)?.claimed?.brief ?? null;
    if (brief === null) throw new Error("a run of a replay that repeats nothing");
    return { ...brief, notes: readNotes(reading, workspaceId, brief.notes) };
  },
  opener: null,
  eventSubject: () => null,
};
