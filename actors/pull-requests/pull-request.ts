import { z } from "zod";
import type { Address } from "../../runtime/cells/address.js";
import type { HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import type { AskPullRequest } from "../runs/pull-request.messages.js";
import type { StoredText } from "../tables/text-blobs.js";
import type { Stored } from "../view.js";
import { cutText } from "../well-formed.js";

/**
 * The states of a pull request. During a later push, an open pull request is `vetting` or `pushing` again. A person's
 * pull request is only `open`, `closed` or `merged`.
 */
export const pullRequestStates = ["vetting", "pushing", "opening", "open", "closed", "merged", "failed"] as const;
export type PullRequestState = (typeof pullRequestStates)[number];

/**
 * `own`: a pull request that the service opened for a task. `review`: a person's pull request that a task reviews.
 * `people`: any other pull request.
 */
export const pullRequestRoles = ["own", "review", "people"] as const;
export type PullRequestRole = (typeof pullRequestRoles)[number];

/** A comment that the service keeps up to date. */
export interface StoredComment {
  /** The comment's number at the code host; null while unknown. */
  readonly id: number | null;
  /** Digest of the comment's text at the code host; null while unknown. */
  readonly there: string | null;
  /** The wanted text. */
  readonly text: StoredText;
  /** Number of failed attempts in a row; absent for none. */
  readonly attempts?: number;
  /** Whether the task was notified about the code host's rate limit; absent for no. */
  readonly isLimited?: true;
  /**
   * The reason for which the service gave up the comment until its text changes, as text for people; absent if the
   * service did not give it up.
   */
  readonly problem?: string;
}

/** A pull request in lists. */
export const pullRequestSchema = z
  .strictObject({
    id: z.string().describe("The id of the pull request in this service (`pr_…`)."),
    teamId: z.string().describe("The team whose task or repository the pull request belongs to."),
    role: z
      .enum(pullRequestRoles)
      .describe(
        "`own`: opened by the service for a task. `review`: opened by a person and reviewed by a task. `people`: " +
          "all other pull requests of people.",
      ),
    taskId: z.string().nullable().describe("The task that opened or reviews the pull request; null for none."),
    repository: z.string().describe("The repository of the pull request, as `owner/name`."),
    number: z.int().nullable().describe("The pull request's number; null until it exists on the code host."),
    url: z.string().nullable().describe("The URL at the code host; null until the pull request exists there."),
    title: z.string().describe("The title of the pull request at the code host."),
    author: z.string().nullable().describe("The author's login on the code host; null if unknown."),
    branch: z.string().describe("The branch with the changes."),
    base: z.string().nullable().describe("The branch to merge into; null for the default branch."),
    head: z.string().nullable().describe("The latest commit of the branch; null if unknown."),
    state: z
      .enum(pullRequestStates)
      .describe(
        "`vetting`: hooks decide about the push. `pushing`: a runner pushes the branch. `opening`: the service " +
          "opens the pull request on the code host. `failed`: the pull request could not be opened; `problem` " +
          "has the reason.",
      ),
    draft: z.boolean().describe("Whether the pull request is a draft at the code host."),
    openedAt: z.string().nullable().describe("When the pull request was opened at the code host; null until then."),
    firstReviewAt: z.string().nullable().describe("The time of the first review by a person; null if there is none."),
    rounds: z.int().describe("Number of review rounds: reviews by people, grouped by the pushes between them."),
    mergedAt: z.string().nullable().describe("When the pull request was merged; null if it is not merged."),
    mergeCommit: z.string().nullable().describe("The commit of the merge, in hex; null if it is not merged."),
    closedAt: z.string().nullable().describe("When the pull request was closed without a merge; null if it was not."),
    revertedBy: z
      .string()
      .nullable()
      .describe("The URL of the merged pull request that reverts this one; null if there is none."),
    isDirty: z.boolean().describe("Whether the pull request conflicts with its base branch."),
    hostUpdatedAt: z
      .string()
      .nullable()
      .describe("When the code host last updated the pull request, according to the latest report; null if unknown."),
    problem: z
      .string()
      .nullable()
      .describe("Why the pull request could not be opened or updated, in one sentence; null if there is no problem."),
    waitsUntil: z
      .string()
      .nullable()
      .describe("When the code host accepts requests again; null if it accepts them now."),
  })
  .meta({ title: "pull-request" });

/** A pull request in a repository of a team. */
export interface PullRequestRow extends Stored<typeof pullRequestSchema, "author" | "rounds"> {
  readonly lineId: string | null;
  readonly host: string;
  readonly installationId: number;
  /** The repository's number at the code host; absent while unknown. */
  readonly repositoryId?: number;
  /**
   * The name of the repository in the task's runs. It may be a former name that the line still uses. Absent if it
   * equals `repository`.
   */
  readonly checkout?: string;
  /** The login of the author, and whether the author is a person. */
  readonly author: { readonly login: string; readonly isPerson: boolean } | null;
  /** Whether the branch belongs to another repository; absent for no. */
  readonly fork?: boolean;
  /** When the service first knew the pull request. Times are RFC 3339 texts. */
  readonly createdAt: string;
  /** The commits that people reviewed, without duplicates. Each commit counts as one review round. */
  readonly reviewedCommits: readonly string[];
  /**
   * The code host's update time of the pull request at the service's last read. Such a read includes the reviews.
   * Absent before the first read, and for pull requests of tasks.
   */
  readonly lookedUpTo?: string | null;
  /** Digest of the JSON list of the changed paths; null while unknown. */
  readonly changed: string | null;
  /** Digest of the JSON list of the paths that hooks have allowed; null for none. */
  readonly vetted: string | null;
  /** Digest of the JSON list of the paths that hooks are deciding about; null for none. */
  readonly asking: string | null;
  readonly body: StoredText;
  readonly comments: Readonly<Record<string, StoredComment>>;
}

/** Returns the repository's name in the runs of the pull request's task. */
export function toCheckout({ checkout, repository }: Pick<PullRequestRow, "checkout" | "repository">): string {
  return checkout ?? repository;
}

/** Returns the row with the repository's current name at the code host. */
export function withRepository(
  row: PullRequestRow,
  { repository, repositoryId = row.repositoryId }: Pick<PullRequestRow, "repository" | "repositoryId">,
): PullRequestRow {
  const checkout = row.role === "own" && repository !== row.repository ? toCheckout(row) : row.checkout;
  return {
    ...row,
    repository,
    ...(repositoryId !== undefined && { repositoryId }),
    ...(checkout !== undefined && { checkout }),
  };
}

/** Maximum number of reviewed commits to record. */
export const MAX_ROUNDS = 100;

/** Maximum length of a pull request title on GitHub, in characters. */
export const MAX_TITLE_CHARACTERS = 256;
/**
 * Minimum number of changed paths at which a change is not pushed, because hooks would see only a part of the paths.
 */
export const MAX_VETTED_PATHS = 3_000;
/** Maximum total size of the changed paths for hooks, in bytes. */
export const MAX_VETTED_BYTES = 512 * 1024;

const MAX_SLUG = 50;

/**
 * Returns the branch name of a task: `signalbox/<last 8 characters of its id>-<slug of its title>`. A later branch of
 * the task ends with a serial number. The slug has only lower-case letters, digits and hyphens.
 */
export function toBranch({ id, title }: { readonly id: string; readonly title: string }, serial: number): string {
  const slug = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, "");
  const parts = [id.slice(-8).toLowerCase(), slug, serial > 1 ? String(serial) : ""];
  return `signalbox/${parts.filter((part) => part !== "").join("-")}`;
}

/**
 * Returns a title of one line, without control characters, of at most {@link MAX_TITLE_CHARACTERS} characters. An empty
 * title becomes "Untitled".
 */
export function toTitle(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const cut = cutText(line, MAX_TITLE_CHARACTERS).trimEnd();
  return cut === "" ? "Untitled" : cut;
}

/** Whether a push of these paths needs the permission to change GitHub workflows. */
export function changesWorkflows(paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith(".github/workflows/"));
}

/** Whether a review counts as a review by people: its author is a person, and not the author of the pull request. */
export function isPeoplesReview({ by }: HostedReview, author: PullRequestRow["author"]): boolean {
  return by.isPerson && by.login !== author?.login;
}

/** The state of a pull request between turns. Kept small: other code reads the row instead. */
export interface PullRequestContext {
  /** The run that waits for the result; null for none. */
  readonly run: AskingRun | null;
  /** The address of the task, for notifications. */
  readonly taskAddress: Address | null;
  /**
   * The state of the pull request when the run requested a push. If nothing is pushed, the pull request returns to this
   * state.
   */
  readonly was: "none" | "open" | "failed";
  /** Number of failed pushes for the run's request. */
  readonly rejected: number;
  /** Number of attempts to open the pull request. */
  readonly attempts: number;
  /** Time of the first attempt, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The ETag of the code host's last answer. */
  readonly etag: string | null;
  /** The number of the last read. Results of earlier reads are ignored. */
  readonly look: number;
  /** Number of consecutive reads without an answer from the code host; absent for none. */
  readonly unanswered?: number;
  /** Number of attempts to read the paths after the merge. */
  readonly reads: number;
  /** The request of a run at its end, to be repeated after the opening ends; null or absent for none. */
  readonly later?: AskPullRequest | null;
}

/** A run that asked for a push. */
export interface AskingRun {
  readonly id: string;
  readonly wish: string | null;
  /** The id of the push. The gate's question has the same id. */
  readonly push: string;
  /** The repository's name in the run; absent in states of earlier releases. */
  readonly repository?: string;
  /** Whether the push changes workflows of the code host; absent for no. */
  readonly workflows?: boolean;
  /** When the code host issues tokens again, in milliseconds since 1970; absent if there is no limit. */
  readonly limitedUntilMs?: number;
}
