import type { Opener } from "../run-facts/opener.js";
import type { RunFailure } from "../runners/protocol.js";
import type { StoredText } from "../tables/text-blobs.js";
import type { TaskReview } from "./task-review.js";

export type TaskState = "queued" | "running" | "inbox" | "done" | "closed";

/** The states of an open task. */
export const openStates = ["queued", "running", "inbox"] as const satisfies readonly TaskState[];

/** A pull request in the form that its task shows. */
export interface TaskPullRequest {
  readonly id: string;
  readonly repository: string;
  readonly number: number;
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
}

/** A stored task. */
export interface TaskRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly title: string;
  readonly description: StoredText;
  readonly url: string;
  /** Key of the current station. */
  readonly station: string;
  readonly state: TaskState;
  /** User id, or null. */
  readonly assignee: string | null;
  /** Null if unknown. */
  readonly openedBy: Opener | null;
  /** The value of each mark, by kind. */
  readonly marks: Readonly<Record<string, string>>;
  /** The branch at which the task's runs start; absent for the default branch. */
  readonly branch?: string;
  /** The review that the task's runs make; absent for a task that changes files. */
  readonly reviews?: TaskReview;
  /** The channel of the route that led to the task, by the integration's id; absent for none. */
  readonly channels?: Readonly<Record<string, string>>;
  /** The pull request with the task's changes: the open one, or else the latest one; null if there is none. */
  readonly pullRequest: TaskPullRequest | null;
  /** The active run, or else the latest one. */
  readonly runId: string | null;
  /** The question or notice that explains to the assignee why the task is in the inbox. */
  readonly asks: string | null;
  /** The failure of the last run, with the program's output. */
  readonly failure: RunFailure | null;
  readonly openedAt: string;
  readonly movedAt: string;
  /** Start of the current stay (state and station), in milliseconds since 1970; absent if unknown. */
  readonly partSinceMs?: number;
}

/** The context of a task's machine. */
export interface TaskContext {
  /** The active run, or null. */
  readonly runId: string | null;
  /** Number of runs that were abandoned in a row. */
  readonly abandoned: number;
  /** The ended runs whose outcome can still change (`ended-runs.ts`), ordered by their ends. */
  readonly ended: readonly EndedRun[];
  /** Pull requests that must be opened before the task is done. */
  readonly opening: readonly string[];
}

/** An ended run whose outcome can still change. */
export interface EndedRun {
  readonly runId: string;
  /** Key of the run's station. */
  readonly station: string;
  /** Whether the task continues with the run's change, which is neither accepted nor sent back yet. */
  readonly stands: boolean;
  /** Whether no person has acted on the task since. */
  readonly waits: boolean;
}

/** Where a task goes after a run. */
export interface NextStation {
  readonly next: "queued" | "inbox" | "done" | "opening";
  /** The station that the run handed over to; absent without a handover. */
  readonly to?: string;
  /** The question or notice for the assignee. */
  readonly asks?: string;
  /** The pull requests that the task waits for; absent if it waits for none. */
  readonly opening?: readonly string[];
}

/** Whether the task is neither done nor closed. */
export function isOpen<Task extends Pick<TaskRow, "state">>(
  task: Task,
): task is Task & { readonly state: (typeof openStates)[number] } {
  return openStates.some((state) => state === task.state);
}
