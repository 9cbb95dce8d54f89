import { z } from "zod";
import { cutText } from "../../well-formed.js";

/** A pull request as the code host describes it, in an answer or in a webhook delivery. */
export interface HostedPullRequest {
  /** The current name of the repository at the code host, `owner/name`. */
  readonly repository: string;
  /** The repository's number at the code host; absent if the host does not say. */
  readonly repositoryId?: number;
  readonly number: number;
  /** The address of the pull request's page. */
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly author: HostedAuthor;
  readonly branch: string;
  /** The repository that contains the branch; null if it no longer exists. */
  readonly from: string | null;
  readonly head: string;
  readonly base: string;
  readonly state: "open" | "closed" | "merged";
  readonly draft: boolean;
  /** Whether the pull request conflicts with its base; null if the code host does not say. */
  readonly isDirty: boolean | null;
  /** All times are the code host's, in milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly closedAtMs: number | null;
  readonly mergedAtMs: number | null;
  readonly mergeCommit: string | null;
}

export interface HostedAuthor {
  readonly login: string;
  /** False for apps and other bots. */
  readonly isPerson: boolean;
}

/** A submitted review, or a review comment. */
export interface HostedReview {
  readonly by: HostedAuthor;
  readonly atMs: number;
  /** The reviewed commit; null for a comment, which does not count as a review round. */
  readonly commit: string | null;
  /** The number of the review or comment at the code host; absent in data from earlier releases. */
  readonly id?: number;
  /** The review's verdict; absent if it has none. */
  readonly verdict?: "approved" | "changes-requested";
  /**
   * The state of the thread that this comment started; absent for a reply and for a review. Times are in milliseconds
   * since 1970.
   */
  readonly thread?: { readonly isResolved: boolean; readonly asOfMs: number };
}

const MAX_TEXT = 65_536;
const text = z
  .string()
  .nullish()
  .transform((given) => cutText(given ?? "", MAX_TEXT));
const timeMs = z.iso.datetime({ offset: true }).transform((given) => Date.parse(given));
const commit = z.string().regex(/^[0-9a-f]{40,64}$/);
/** A branch name. Its length is limited because it is part of a row's key. */
const ref = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= 1_024, "must be at most 1,024 bytes");

/** The author of a text. GitHub shows a deleted account as `ghost`. */
export const hostedAuthorSchema = z
  .object({ login: z.string().max(255), type: z.string().default("User") })
  .nullish()
  .transform((given) => toAuthor(given ?? { login: "ghost", type: "User" }));

function toAuthor({ login, type }: { readonly login: string; readonly type: string }): HostedAuthor {
  return { login, isPerson: type === "User" && !login.endsWith("[bot]") };
}

export const hostedPullRequestSchema = z
  .object({
    number: z.int().positive(),
    html_url: z.string().min(1).max(2_000),
    title: text,
    body: text,
    user: hostedAuthorSchema,
    state: z.enum(["open", "closed"]),
    draft: z.boolean().nullish(),
    head: z.object({ ref, sha: commit, repo: z.object({ full_name: z.string().max(500) }).nullish() }),
    base: z.object({
      ref,
      repo: z.object({ full_name: z.string().min(1).max(500), id: z.int().positive().optional().catch(undefined) }),
    }),
    created_at: timeMs,
    updated_at: timeMs,
    closed_at: timeMs.nullish(),
    merged_at: timeMs.nullish(),
    merge_commit_sha: commit.nullish(),
    mergeable_state: z.string().nullish(),
  })
  .transform((given): HostedPullRequest => {
    const mergedAtMs = given.merged_at ?? null;
    return {
      ...(given.base.repo.id !== undefined && { repositoryId: given.base.repo.id }),
      repository: given.base.repo.full_name,
      number: given.number,
      url: given.html_url,
      title: cutText(given.title, 1_000),
      body: given.body,
      author: given.user,
      branch: given.head.ref,
      from: given.head.repo?.full_name ?? null,
      head: given.head.sha,
      base: given.base.ref,
      state: mergedAtMs !== null ? "merged" : given.state,
      draft: given.draft ?? false,
      isDirty: isKnown(given.mergeable_state) ? given.mergeable_state === "dirty" : null,
      createdAtMs: given.created_at,
      updatedAtMs: given.updated_at,
      closedAtMs: given.closed_at ?? null,
      // Before the merge, `merge_commit_sha` is the commit of a trial merge.
      mergedAtMs,
      mergeCommit: mergedAtMs === null ? null : (given.merge_commit_sha ?? null),
    };
  });

/**
 * Whether GitHub has computed the mergeable state. Nearly every webhook delivery has `unknown`, because GitHub computes
 * the state later.
 */
function isKnown(mergeableState: string | null | undefined): boolean {
  return mergeableState !== null && mergeableState !== undefined && !["", "unknown"].includes(mergeableState);
}

const verdicts: Readonly<Record<string, HostedReview["verdict"]>> = {
  approved: "approved",
  changes_requested: "changes-requested",
};

/** A review; null if it is not submitted or names no commit. */
export const hostedReviewSchema = z
  .object({
    id: z.int().positive(),
    user: hostedAuthorSchema,
    submitted_at: timeMs.nullish(),
    commit_id: commit.nullish(),
    state: z.string().nullish(),
  })
  .transform(({ id, user, submitted_at, commit_id, state }): HostedReview | null => {
    if (!submitted_at || !commit_id) return null;
    // API answers contain the state in capitals; webhook deliveries do not.
    const verdict = verdicts[state?.toLowerCase() ?? ""];
    return { id, by: user, atMs: submitted_at, commit: commit_id, ...(verdict !== undefined && { verdict }) };
  });

/** A comment in a review. */
export const hostedCommentSchema = z
  .object({
    id: z.int().positive(),
    user: hostedAuthorSchema,
    created_at: timeMs,
    in_reply_to_id: z.int().nullish(),
  })
  .transform(({ id, user, created_at: atMs, in_reply_to_id }): HostedReview => {
    const isFirst = in_reply_to_id === null || in_reply_to_id === undefined;
    return { id, by: user, atMs, commit: null, ...(isFirst && { thread: { isResolved: false, asOfMs: atMs } }) };
  });
