/** What is counted since the start of integrations at work, by how it ended. */

export const deliveryCounters = {
  done: "deliveries.done",
  ignored: "deliveries.ignored",
  unrouted: "deliveries.unrouted",
  failed: "deliveries.failed",
} as const;

export const pollCounters = { answered: "polls.answered", failed: "polls.failed" } as const;

export const actionRunCounters = { done: "action-runs.done", failed: "action-runs.failed" } as const;
