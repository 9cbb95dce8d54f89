import type { HostedAccount } from "./hosted-account.js";
import type { HostedRepository } from "./hosted-repository.js";

/** A comment on a pull request or an issue. */
export interface HostedComment {
  readonly id: number;
  readonly number: number;
  readonly repository: string;
  body: string;
  readonly user: HostedAccount;
  readonly created_at: string;
  updated_at: string;
}

/** A submitted review. */
export interface HostedReview {
  readonly id: number;
  readonly body: string;
  readonly user: HostedAccount;
  readonly state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED";
  readonly submitted_at: string;
  readonly commit_id: string;
}

/** A comment in a review. */
export interface HostedReviewComment {
  readonly id: number;
  readonly body: string;
  readonly user: HostedAccount;
  readonly created_at: string;
  /** The id of the thread's first comment. Absent in the first comment itself. */
  readonly in_reply_to_id?: number;
}

/** A pull request of a repository. */
export interface HostedPull {
  readonly id: number;
  readonly number: number;
  readonly repository: HostedRepository;
  readonly user: HostedAccount;
  readonly head: string;
  base: string;
  title: string;
  body: string | null;
  draft: boolean;
  state: "open" | "closed";
  readonly created_at: string;
  updated_at: string;
  closed_at: string | null;
  merged_at: string | null;
  merge_commit_sha: string | null;
  merged_by: HostedAccount | null;
  /** The heads of the pull request's branches when it was closed; null while it is open. */
  closedAt: { readonly base: string; readonly head: string } | null;
  readonly reviews: HostedReview[];
  readonly reviewComments: HostedReviewComment[];
}

/** Returns a user in the API's form. */
export function userJson({ id, login, type }: HostedAccount): HostedAccount {
  return { id, login, type };
}

/** Returns a repository in the API's form. */
export function repositoryJson(repository: HostedRepository, origin: string) {
  const { id, name: full_name, defaultBranch: default_branch } = repository;
  const html_url = `${origin}/${full_name}`;
  const name = full_name.split("/")[1] ?? "";
  return { id, name, full_name, private: true, default_branch, html_url, clone_url: `${html_url}.git` };
}

/** Returns a pull request in the API's form. */
export async function pullJson(pull: HostedPull, { origin, comments }: { origin: string; comments: number }) {
  const { repository, number, user } = pull;
  const at = await readEnds(pull);
  const isOpen = pull.state === "open";
  const tree = isOpen ? await repository.joined(at.base, at.head) : null;
  const fields = {
    id: pull.id,
    number,
    title: pull.title,
    body: pull.body,
    draft: pull.draft,
    state: pull.state,
    url: `${origin}/api/v3/repos/${repository.name}/pulls/${number}`,
    html_url: `${origin}/${repository.name}/pull/${number}`,
    locked: false,
    maintainer_can_modify: false,
    merged: pull.merged_at !== null,
    created_at: pull.created_at,
    updated_at: pull.updated_at,
    closed_at: pull.closed_at,
    merged_at: pull.merged_at,
    merge_commit_sha: pull.merge_commit_sha,
    mergeable: isOpen ? tree !== null : null,
    mergeable_state: toState(isOpen, tree),
    commits: (await repository.commits(at.base, at.head)).length,
    changed_files: (await repository.changed(at.base, at.head)).length,
    comments,
    review_comments: 0,
  };
  const repo = repositoryJson(repository, origin);
  const end = (ref: string, sha: string) => ({ label: `${toOwner(repository)}:${ref}`, ref, sha, repo });
  return {
    ...fields,
    user: userJson(user),
    merged_by: pull.merged_by === null ? null : userJson(pull.merged_by),
    head: end(pull.head, at.head),
    base: end(pull.base, at.base),
  };
}

function toState(isOpen: boolean, tree: string | null): string {
  if (!isOpen) return "unknown";
  return tree === null ? "dirty" : "clean";
}

/**
 * Returns the head commits of the pull request's two branches. For a closed pull request, returns the heads at the time
 * of closing. A missing branch has the head "".
 */
export async function readEnds(pull: HostedPull): Promise<{ readonly base: string; readonly head: string }> {
  if (pull.closedAt !== null) return pull.closedAt;
  const { repository } = pull;
  return { base: (await repository.head(pull.base)) ?? "", head: (await repository.head(pull.head)) ?? "" };
}

/** Returns the owner in a repository's name. */
export function toOwner({ name }: HostedRepository): string {
  return name.split("/")[0] ?? "";
}

/** Returns a file changed by a pull request, in the API's form. */
export function fileJson({ path, status }: { path: string; status: string }) {
  const known = { A: "added", D: "removed" } as const;
  const named = status === "A" || status === "D" ? known[status] : "modified";
  return { filename: path, status: named, sha: "0".repeat(40), additions: 1, deletions: 0, changes: 1 };
}

/** Returns a comment in the API's form. */
export function commentJson(
  { id, body, user, created_at, updated_at, repository, number }: HostedComment,
  origin: string,
) {
  const within = `${origin}/api/v3/repos/${repository}/issues`;
  return {
    id,
    body,
    created_at,
    updated_at,
    user: userJson(user),
    url: `${within}/comments/${id}`,
    issue_url: `${within}/${number}`,
    html_url: `${origin}/${repository}/pull/${number}#issuecomment-${id}`,
  };
}

/** Returns a review in the API's form. */
export function reviewJson({ user, ...review }: HostedReview, pull: HostedPull, origin: string) {
  const html_url = `${origin}/${pull.repository.name}/pull/${pull.number}#pullrequestreview-${review.id}`;
  return { ...review, html_url, user: userJson(user) };
}

/** Returns a comment in a review, in the API's form. */
export function reviewCommentJson({ user, ...comment }: HostedReviewComment, pull: HostedPull, origin: string) {
  const html_url = `${origin}/${pull.repository.name}/pull/${pull.number}#discussion_r${comment.id}`;
  return { ...comment, updated_at: comment.created_at, html_url, user: userJson(user) };
}
