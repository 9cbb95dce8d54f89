import type { RunOwner } from "../runs/run-owner.js";

/**
 * Iterations of searches as owners of their agent's runs. Such a run has no task; nobody hears of it, takes part in it or
 * is asked.
 */
export const searchRunOwner: RunOwner = {
  ...{ kind: "search", hearsClaims: true, hasGate: false, hasHooks: false, handOver: "refused" },
  ...{ hasConversation: false, hasApprovals: false },
  assignee: () => null,
  brief: null,
  opener: null,
  eventSubject: () => null,
};
