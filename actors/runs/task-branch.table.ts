import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { listNames } from "../code-host/hosted-repository.queries.js";

/**
 * The branch of a task in a repository. It is written by the task's pull request there, and read by whoever begins a run
 * of the task: from the first push on the branch is what the task has changed.
 */
export interface TaskBranch {
  /** The pull request that runs of the task ask; null when it is over, so that the next run begins another. */
  readonly pullRequestId: string | null;
  readonly branch: string;
  /** The branch to merge into; null for the default branch. */
  readonly base: string | null;
  /** The commit of the last push; null until there was one, and after the branch was merged. */
  readonly head: string | null;
  /** Whether the code host says that it conflicts with its base: the next run merges the base in. */
  readonly isDirty: boolean;
  /** How many branches the task had here; a branch after a merged one has another name. */
  readonly serial: number;
}

/** `[task, repository]` */
export const taskBranches = table<TaskBranch>("task-branch");

/** The branch of a task in a repository, from its first pull request on, by any name of the repository. */
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
