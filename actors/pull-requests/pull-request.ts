import type { Address } from "../../runtime/address.js";
import type { HostedReview } from "../outbound/hosted-pull-request.js";
import type { AskPullRequest } from "../runs/pull-request.messages.js";
import type { StoredText } from "../tables/text-blobs.js";
import { cutText } from "../well-formed.js";

/**
 * The states of a pull request. The first three are before it is at the code host, `failed` is one that did not get
 * there; pull requests of people have the other three.
 */
export const pullRequestStates = ["vetting", "pushing", "opening", "open", "closed", "merged", "failed"] as const;
export type PullRequestState = (typeof pullRequestStates)[number];

/** `own`: opened by the service for a task. `review`: of a person, and a task reviews it. `people`: every other. */
export const pullRequestRoles = ["own", "review", "people"] as const;
export type PullRequestRole = (typeof pullRequestRoles)[number];

/** A comment that the service keeps up to date. */
export interface KeptComment {
  /** Its number at the code host; null while it is not known. */
  readonly id: number | null;
  /** Digest of the text that it has there; null while that is not known. */
  readonly there: string | null;
  /** What it should be; empty for a comment that is withdrawn. */
  readonly text: StoredText;
  /** Attempts in a row that the code host did not answer as it should; absent for none. */
  readonly attempts?: number;
  /** Whether the task was told that the code host takes no more for now; absent for no. */
  readonly isLimited?: true;
  /** Why it is given up until its text changes, for people; absent where it is not. */
  readonly problem?: string;
}

/** A pull request in a repository of a team. */
export interface PullRequestRow {
  readonly id: string;
  readonly teamId: string;
  readonly role: PullRequestRole;
  /** Null for those of people. */
  readonly taskId: string | null;
  readonly lineId: string | null;
  readonly host: string;
  readonly installationId: number;
  /** `owner/name`, as the code host calls it. */
  readonly repository: string;
  /** The repository's number at the code host; absent while it is not known. */
  readonly repositoryId?: number;
  /** What runs of its task call the repository, where that is another name: the line names an earlier one. */
  readonly checkout?: string;
  /** Null while it is not at the code host. */
  readonly number: number | null;
  readonly url: string | null;
  readonly title: string;
  /** The login of who opened it there, and whether that is a person. */
  readonly author: { readonly login: string; readonly isPerson: boolean } | null;
  readonly branch: string;
  /** Its branch is of another repository; absent for no. */
  readonly fork?: boolean;
  /** The branch to merge into; null for the default branch, until it is there. */
  readonly base: string | null;
  readonly head: string | null;
  readonly draft: boolean;
  readonly state: PullRequestState;
  /** Times are texts, RFC 3339. When the service first knew of it. */
  readonly createdAt: string;
  readonly openedAt: string | null;
  readonly firstReviewAt: string | null;
  /** The commits that people reviewed, each once: as many as there were rounds. */
  readonly reviewedCommits: readonly string[];
  readonly mergedAt: string | null;
  readonly mergeCommit: string | null;
  readonly closedAt: string | null;
  /** Address of the merged pull request that reverts it. */
  readonly revertedBy: string | null;
  /** The code host's time of what is known of it. */
  readonly hostUpdatedAt: string | null;
  /** The same of the last look at it, which reads its reviews too; of people's alone, and absent before the first. */
  readonly lookedUpTo?: string | null;
  /** Whether it conflicts with its base. */
  readonly isDirty: boolean;
  /** Digest of the paths that it changes, a JSON list; null while they are not known. */
  readonly changed: string | null;
  /** Digest of the paths that hooks were asked about, a JSON list. */
  readonly vetted: string | null;
  /** The same of those that they are asked about now; null for none. */
  readonly asking: string | null;
  readonly body: StoredText;
  /** Why it is not at the code host, or is not as it should be there, for people. */
  readonly problem: string | null;
  /** Until when the code host takes no more. */
  readonly waitsUntil: string | null;
  readonly comments: Readonly<Record<string, KeptComment>>;
}

/** What runs of the pull request's task call its repository. */
export function toCheckout({ checkout, repository }: Pick<PullRequestRow, "checkout" | "repository">): string {
  return checkout ?? repository;
}

/** The row with what the code host calls its repository now. */
export function withRepository(
  row: PullRequestRow,
  { repository, repositoryId = row.repositoryId }: Pick<PullRequestRow, "repository" | "repositoryId">,
): PullRequestRow {
  const checkout = row.role === "own" && repository !== row.repository ? toCheckout(row) : row.checkout;
  return {
    ...{ ...row, repository },
    ...(repositoryId !== undefined && { repositoryId }),
    ...(checkout !== undefined && { checkout }),
  };
}

/** Most commits with reviews that are told apart; later ones count no more. */
export const MAX_ROUNDS = 100;

/** Longest title of a pull request, in characters, as GitHub takes it. */
export const MAX_TITLE_CHARACTERS = 256;
/** Most paths of a change that hooks are asked about; a larger one is not pushed, since a part would pass unseen. */
export const MAX_VETTED_PATHS = 3_000;
/** Most bytes of them. */
export const MAX_VETTED_BYTES = 512 * 1024;

const MAX_SLUG = 50;

/**
 * The branch of a task: `signalbox/<last 8 of its id>-<slug of its title>`; a later one ends with its number. Only
 * lower-case letters, digits and dashes of the title are in it.
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

/** A title of one line, without control characters; empty becomes "Untitled". */
export function toTitle(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const cut = cutText(line, MAX_TITLE_CHARACTERS).trimEnd();
  return cut === "" ? "Untitled" : cut;
}

/** Whether a push of these paths needs leave to change the code host's workflows. */
export function changesWorkflows(paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith(".github/workflows/"));
}

/** Whether a review counts: of a person, and not of who opened the pull request. */
export function isPeoplesReview({ by }: HostedReview, author: PullRequestRow["author"]): boolean {
  return by.isPerson && by.login !== author?.login;
}

/** The state of a pull request between turns. Small on purpose: readers use its row. */
export interface PullRequestContext {
  /** The run that waits to be told; null for none. */
  readonly run: AskingRun | null;
  /** Where its task is told. */
  readonly taskAddress: Address | null;
  /** What it was when a run asked: where it goes back to when nothing is pushed. */
  readonly was: "none" | "open" | "failed";
  /** Pushes of what the run asked that were not made. */
  readonly rejected: number;
  /** Attempts to open it. */
  readonly attempts: number;
  /** When the first of them was, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The tag of the code host's last answer about it. */
  readonly etag: string | null;
  /** The number of the last look; the result of an earlier one is not used. */
  readonly look: number;
  /** Looks in a row that the code host did not answer; absent for none. */
  readonly unanswered?: number;
  /** Attempts to read its paths after the merge. */
  readonly reads: number;
  /** What a run at its end asks once it is opened, or failed to be; null or absent for nothing. */
  readonly later?: AskPullRequest | null;
}

/** A run that asked. */
export interface AskingRun {
  readonly id: string;
  readonly wish: string | null;
  /** The id of the gate's question, and of the push that is allowed. */
  readonly push: string;
  /** What the run calls the repository; absent in what earlier releases stored. */
  readonly repository?: string;
  /** Whether that push changes workflows of the code host; absent for no. */
  readonly workflows?: boolean;
  /** When the code host makes a token for it again, in milliseconds since 1970; absent while it may make one. */
  readonly limitedUntilMs?: number;
}
