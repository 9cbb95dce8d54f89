import type { Reading } from "../../storage/store.js";
import { toTakenBranch } from "../runners/push.js";
import type { InputCheckout } from "../runs/run-input.table.js";
import { findTaskBranch } from "../runs/task-branch.table.js";
import type { TaskRow } from "./task.js";
import { taskCheckouts } from "./task.table.js";

/**
 * Returns the starting point of the task's next run in a repository:
 *
 * | the task there                            | its next run starts at                                                |
 * |-------------------------------------------|-----------------------------------------------------------------------|
 * | reviews a branch or pull request          | its head                                                              |
 * | has a branch that was pushed to           | its head, with people's commits. The base is merged in if they        |
 * |                                           | conflict. If the branch is missing: as in the next row                |
 * | has changes, but no such branch           | the commit and the changes of its last completed run                  |
 * | had its pull request merged               | the head of the branch that received the merge                        |
 * | is new                                    | the head of the task's `branch`, or else of the default branch        |
 *
 * At the code host, people can choose a base whose branch name no runner accepts. Such a base is not merged in, and
 * after a merge into it the run starts at the default branch.
 */
export function nextCheckout(
  reading: Reading,
  partition: string,
  task: Pick<TaskRow, "id" | "branch" | "reviews">,
  repository: string,
): InputCheckout {
  const { reviews } = task;
  if (reviews !== undefined && (reviews.repository ?? repository) === repository) {
    return { repository, base: null, diff: null, branch: reviews.ref };
  }
  const kept = taskCheckouts.get(reading, partition, task.id, repository);
  const known = { repository, base: kept?.base ?? null, diff: kept?.digest ?? null };
  const pushed = findTaskBranch(reading, partition, { taskId: task.id, repository });
  if (pushed === undefined) return kept === undefined ? { ...known, ...toStart(task.branch) } : known;
  const { branch, head, isDirty, pullRequestId } = pushed;
  const base = toTakenBranch(pushed.base);
  if (head !== null) {
    const merged = pushed.base === null ? "HEAD" : base;
    return { ...known, branch, ...(isDirty && merged !== null && { merges: { branch: merged, commit: null } }) };
  }
  return pullRequestId === null ? { repository, base: null, diff: null, ...toStart(base ?? undefined) } : known;
}

function toStart(branch: string | undefined): Pick<InputCheckout, "branch"> {
  return branch === undefined ? {} : { branch };
}
