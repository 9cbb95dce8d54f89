/** The states of tasks, to filter by. */
export const TASK_STATES = ["queued", "running", "inbox", "done", "closed"] as const;

/** Selects inbox items by the person that they wait for. `none`: items of tasks without an assignee. */
export const ASSIGNEES = ["me", "none", "all"] as const;
