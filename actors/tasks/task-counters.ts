/** Names of the counters of tasks that ended since the process started, by state. */
export const endedTaskCounters = { done: "tasks.done", closed: "tasks.closed" } as const;
