import type { Schema } from "../../client/entry.js";

/** The states of a firing. */
export const firingStates = ["attempting", "waiting", "delivered", "failed", "refused"] as const;

/** The events that hooks fire on. */
export const eventNames = [
  "task.opened",
  "task.moved",
  "run.starting",
  "run.ended",
  "handover.giving",
  "tool.using",
  "tool.used",
  "pull-request.opening",
  "pull-request.merged",
] as const satisfies readonly Schema<"Hook">["on"][];

export type EventName = (typeof eventNames)[number];
