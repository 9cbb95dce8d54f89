import type { LineFields } from "../lines/line.js";
import { invalid, type Refusal } from "../refusal.js";
import { MAX_REF_CHARACTERS } from "../runners/job.js";
import { branchName } from "../runners/push.js";

/**
 * The branch or pull request that a task's runs review instead of changing it. Each run starts at the current head of
 * the branch or pull request. The service does not push the run's changes.
 */
export interface TaskReview {
  /** The repository of the branch or pull request; null for every repository of the line. */
  readonly repository: string | null;
  /** A branch name, or a full `refs/…` name that must exist. */
  readonly ref: string;
  /** The URL of the pull request; null for a branch. */
  readonly url: string | null;
}

/** A person's request for a review: of a pull request, by its URL, or of a branch, by its name. */
export interface WantedReview {
  readonly pullRequest?: string | undefined;
  readonly branch?: string | undefined;
}

const PULL_REQUEST = /^https?:\/\/[^/?#]+\/([^/?#]+\/[^/?#]+)\/pull\/([1-9]\d{0,9})\/?$/;

/**
 * Returns the requested review; null if none is requested. Does not check whether the branch exists. Refuses these
 * requests:
 *
 * - A pull request outside the line's repositories.
 * - An invalid branch name.
 * - Both a pull request and a branch.
 */
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
  // If the line has several repositories, some of them may lack the branch. A `refs/…` name must exist in each
  // repository, so use the plain name.
  return others.length > 0 ? { repository: null, ref: branch, url: null } : { repository: only.name, ref, url: null };
}
