import type { Opener } from "../run-facts/opener.js";
import type { RunFailure } from "../runners/protocol.js";
import type { StoredText } from "../tables/text-blobs.js";
import type { TaskReview } from "./task-review.js";

export type TaskState = "queued" | "running" | "inbox" | "done" | "closed";

/** The states of an open task. */
export const openStates = ["queued", "running", "inbox"] as const satisfies readonly TaskState[];

/** A pull request of a task, as the task shows it. */
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
  /** Key of its current station. */
  readonly station: string;
  readonly state: TaskState;
  /** User id, or null. */
  readonly assignee: string | null;
  /** Null where nothing says it. */
  readonly openedBy: Opener | null;
  /** The value of each kind. */
  readonly marks: Readonly<Record<string, string>>;
  /** The branch at which its runs start; absent for the default branch. */
  readonly branch?: string;
  /** What its runs review; absent for a task that changes things. */
  readonly reviews?: TaskReview;
  /** The channel of the route that led to it, by the integration's id; absent for none. */
  readonly channels?: Readonly<Record<string, string>>;
  /** The pull request of its changes: one that is open, else the last; null while there is none. */
  readonly pullRequest: TaskPullRequest | null;
  /** The run under way, or the last one. */
  readonly runId: string | null;
  /** Why it is in the inbox: the question or notice for its assignee. */
  readonly asks: string | null;
  /** The failure of the last run, with the program's output. */
  readonly failure: RunFailure | null;
  readonly openedAt: string;
  readonly movedAt: string;
  /** Since when it has its state at its station, in milliseconds since 1970; absent where nothing says it. */
  readonly partSinceMs?: number;
}

/** The context of a task's machine. */
export interface TaskContext {
  /** The run under way, or null. */
  readonly runId: string | null;
  /** Runs abandoned in a row. */
  readonly abandoned: number;
  /** Its ended runs of which something may still become (`ended-runs.ts`), in the order of their ends. */
  readonly ended: readonly EndedRun[];
  /** Pull requests that are being opened, before it is done. */
  readonly opening: readonly string[];
}

/** A run that is over, as long as something may still become of it. */
export interface EndedRun {
  readonly runId: string;
  /** Key of the station that it ran at. */
  readonly station: string;
  /** Whether its change goes on with the task, neither accepted nor sent back yet. */
  readonly stands: boolean;
  /** Whether no person has done anything with the task since. */
  readonly waits: boolean;
}

/** Where a task goes after its run is over. */
export interface NextStation {
  readonly next: "queued" | "inbox" | "done" | "opening";
  /** The station it moves to, when the run handed over. */
  readonly to?: string;
  /** The question or notice for the assignee. */
  readonly asks?: string;
  /** The pull requests that are being opened, where the task waits for them. */
  readonly opening?: readonly string[];
}

/** Whether the task is neither done nor closed. */
export function isOpen<Task extends Pick<TaskRow, "state">>(
  task: Task,
): task is Task & { readonly state: (typeof openStates)[number] } {
  return openStates.some((state) => state === task.state);
}
