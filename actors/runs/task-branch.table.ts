import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { listNames } from "../code-host/hosted-repository.queries.js";

/**
 * The branch of a task in a repository. The actor of the task's pull request writes this row, and the start of each run
 * reads it. From the first push on, the branch holds the task's changes.
 */
export interface TaskBranch {
  /**
   * The pull request to which the task's runs send their requests. Null after that pull request has ended; the next run
   * then starts a new one.
   */
  readonly pullRequestId: string | null;
  readonly branch: string;
  /** The branch to merge into; null for the default branch. */
  readonly base: string | null;
  /** The commit of the last push. Null before the first push, and after a merge of the branch. */
  readonly head: string | null;
  /** Whether the code host reports a conflict with the base. The next run then merges the base in. */
  readonly isDirty: boolean;
  /**
   * Number of branches that the task has had in the repository. After a branch is merged, the task's next branch gets a
   * new name with this number.
   */
  readonly serial: number;
}

/** Key: `[task, repository]`. */
export const taskBranches = table<TaskBranch>("task-branch");

/**
 * Finds the branch of a task in a repository. Accepts earlier names of the repository too. Returns undefined before the
 * task's first pull request in the repository.
 */
export function findTaskBranch(
  reading: Reading,
  workspaceId: string,
  { taskId, repository }: { readonly taskId: string; readonly repository: string },
): TaskBranch | undefined {
  const known = taskBranches.get(reading, workspaceId, taskId, repository);
  if (known !== undefined) return known;
  const names = listNames(reading, workspaceId, { repository });
  const others = taskBranches.entries(reading, workspaceId, [taskId]);
  return others.find(({ key }) => names.includes(String(key.at(-1)).toLowerCase()))?.value;
}
