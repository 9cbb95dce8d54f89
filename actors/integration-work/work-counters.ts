/** Names of the counters of finished deliveries, polls and action runs since the process started, by result. */

export const deliveryCounters = {
  done: "deliveries.done",
  ignored: "deliveries.ignored",
  unrouted: "deliveries.unrouted",
  failed: "deliveries.failed",
} as const;

export const pollCounters = { answered: "polls.answered", failed: "polls.failed" } as const;

export const actionRunCounters = { done: "action-runs.done", failed: "action-runs.failed" } as const;
