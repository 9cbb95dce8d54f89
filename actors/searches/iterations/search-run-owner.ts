import type { RunOwner } from "../../runs/run-owner.js";

/** Makes search iterations owners of their agent's runs. Such a run has no task, hooks, conversation or approvals. */
export const searchRunOwner: RunOwner = {
  kind: "search",
  hearsClaims: true,
  hasGate: false,
  hasHooks: false,
  handOver: "refused",
  hasConversation: false,
  hasApprovals: false,
  assignee: () => null,
  brief: null,
  opener: null,
  eventSubject: () => null,
};
