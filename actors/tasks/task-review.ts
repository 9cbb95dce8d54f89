import type { LineFields } from "../lines/line.js";
import { invalid, type Refusal } from "../refusal.js";
import { MAX_REF_CHARACTERS } from "../runners/job.js";
import { branchName } from "../runners/push.js";

/**
 * What the runs of a task review instead of changing it: they begin at its head each time, and nothing is pushed from
 * them.
 */
export interface TaskReview {
  /** Null for each repository of the line. */
  readonly repository: string | null;
  /** A branch's name, or `refs/…`, which has to be there. */
  readonly ref: string;
  /** The pull request; null for a branch. */
  readonly url: string | null;
}

/** What a person wants reviewed: a pull request by its address, or a branch by its name. */
export interface WantedReview {
  readonly pullRequest?: string | undefined;
  readonly branch?: string | undefined;
}

const PULL_REQUEST = /^https?:\/\/[^/?#]+\/([^/?#]+\/[^/?#]+)\/pull\/([1-9]\d{0,9})\/?$/;

/** The review that is wanted; null for none. Refused for what no repository of the line has. */
export function toTaskReview(
  { repositories }: Pick<LineFields, "repositories">,
  { pullRequest, branch }: WantedReview,
): TaskReview | Refusal | null {
  if (pullRequest !== undefined && branch !== undefined) {
    return invalid("branch", "a pull request or a branch is reviewed, not both");
  }
  if (pullRequest !== undefined) {
    const [url = "", name = "", number = ""] = PULL_REQUEST.exec(pullRequest) ?? [];
    const found = repositories.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (found === undefined) return invalid("pullRequest", "must be a pull request of a repository of the line");
    return { repository: found.name, ref: `refs/pull/${number}/head`, url };
  }
  if (branch === undefined) return null;
  const ref = `refs/heads/${branch}`;
  if (!branchName.safeParse(branch).success || ref.length > MAX_REF_CHARACTERS)
    return invalid("branch", "must be a branch's name");
  const [only, ...others] = repositories;
  if (only === undefined) return invalid("branch", "the line has no repository");
  // With several, the branch may be in some of them alone.
  return others.length > 0 ? { repository: null, ref: branch, url: null } : { repository: only.name, ref, url: null };
}
