/**
 * The protocol of pushes. The runner commits a run's changes and pushes them to a branch of the code host. Each push
 * has its own token. See `protocol.ts`, phase 11.
 *
 * A push sends a *snapshot* of the checkout. If `wish` is the id of an agent's pull request message, the snapshot is
 * from the time of that message. If `wish` is null, the snapshot is from the time of the run's end report.
 */
import { z } from "zod";
import { commitId } from "./commit-frames.js";
import { claim, MAX_REF_CHARACTERS } from "./job.js";

/** Maximum number of paths in one list of changes. The runner leaves out later paths. */
export const MAX_CHANGED_PATHS = 3_000;
/** Maximum length of a listed path, in characters. The runner leaves out longer paths. */
export const MAX_PATH_CHARACTERS = 4_096;
/** Maximum length of a pull request title, in characters. */
export const MAX_TITLE_CHARACTERS = 256;
/** Maximum length of a pull request body, in characters. */
export const MAX_BODY_CHARACTERS = 60_000;
/** Maximum length of the reason for a failed push, in characters. */
export const MAX_WHY_CHARACTERS = 2_000;

const repository = z.string().min(1).max(200);
/** An id that either end generates for a request. */
const requestId = z.string().min(1).max(100);
const changed = z.array(z.string().min(1).max(MAX_PATH_CHARACTERS)).max(MAX_CHANGED_PATHS);

/**
 * The agent wants a pull request now. Answered by `run.pull-request-answered` with the same id. `changed` lists the
 * paths that the run has changed in the checkout so far.
 */
export const pullRequestWish = z.object({
  type: z.literal("run.pull-request"),
  ...claim,
  id: requestId,
  repository,
  title: z.string().min(1).max(MAX_TITLE_CHARACTERS),
  body: z.string().max(MAX_BODY_CHARACTERS),
  changed,
});
export type PullRequestWish = z.infer<typeof pullRequestWish>;

/**
 * The branch is at `head` and contains the snapshot, which this push or an earlier push sent. `changed` lists the paths
 * that differ from the run's starting point.
 */
export const pushed = z.object({
  type: z.literal("run.pushed"),
  ...claim,
  /** The id of the `run.push`. */
  id: requestId,
  repository,
  head: commitId,
  changed,
});

/**
 * The reason for a failed push.
 * - `conflict`: the branch has changes that do not merge with the snapshot, or it moved again meanwhile
 * - `nothing`: the branch does not exist, and there are no changes to create it with
 * - `refused`: the code host refuses the push: because of the token, a branch rule, or the content
 * - `unreachable`: the code host did not answer as expected
 * - `untokened`: the code host issued no token for the push
 * - `failed`: anything else, such as a checkout whose folder is missing
 */
export const pushProblem = z.enum(["conflict", "nothing", "refused", "unreachable", "untokened", "failed"]);
export type PushProblem = z.infer<typeof pushProblem>;

export const pushRejected = z.object({
  type: z.literal("run.push-rejected"),
  ...claim,
  /** The id of the `run.push`. */
  id: requestId,
  repository,
  problem: pushProblem,
  /** One sentence for a person, and git's output, without the token. */
  why: z.string().max(MAX_WHY_CHARACTERS),
  /** The head of the branch, if the run's changes conflict with it; absent if unknown. */
  head: commitId.optional(),
});

/** A branch name that git allows. The name must not start with a hyphen. */
export const branchName = z
  .string()
  .min(1)
  .max(MAX_REF_CHARACTERS)
  .regex(/^(?![-/.])(?!.*(\.\.|\/\/|@\{|\/\.|\.lock(\/|$)|\.$|\/$))[^\p{Cc} ~^:?*[\\]+$/u, "must be a branch's name");

/**
 * Returns the branch name if runners accept it, otherwise null. The code host also allows names that runners reject.
 */
export function toTakenBranch(name: string | null): string | null {
  return branchName.safeParse(name).data ?? null;
}

/**
 * Orders the runner to push the snapshot to the branch, and to create the branch if it is missing. The runner answers
 * with `run.pushed` or `run.push-rejected`, with the same id. The service never stores an order with its token.
 */
export const pushOrder = z.object({
  type: z.literal("run.push"),
  ...claim,
  id: requestId,
  repository,
  /** The id of the `run.pull-request` whose snapshot to push; null for the snapshot at the run's end. */
  wish: requestId.nullable(),
  /** The repository's HTTP or HTTPS URL, without credentials. */
  url: z.string().max(2_000),
  /** A token for only this repository and push. Null if the code host issued none; then the runner pushes nothing. */
  token: z.string().min(1).max(4_096).nullable(),
  /**
   * The reason why the code host issued no token; absent if there is a token. The runner repeats this reason in its
   * answer.
   */
  why: z.string().max(MAX_WHY_CHARACTERS).optional(),
  branch: branchName,
  /**
   * The branch that the pull request merges into; null for the default branch. The runner never pushes to this branch.
   */
  base: branchName.nullable(),
  /** The first line of the commit message. */
  title: z.string().min(1).max(MAX_TITLE_CHARACTERS),
  /** The further lines of the commit message; absent for none. */
  message: z.string().max(MAX_BODY_CHARACTERS).optional(),
  /** The author and committer of the commit. If absent, the runner uses `Signalbox <signalbox@localhost>`. */
  author: z.object({ name: z.string().min(1).max(200), email: z.string().min(1).max(320) }).optional(),
});
export type PushOrder = z.infer<typeof pushOrder>;

/** The parts of an order that the service creates when it sends the order. */
export type MadePush = Pick<PushOrder, "url" | "token" | "why">;

/** The stored parts of an order. The URL and the token are created when the order is sent. */
export interface WaitingPush extends Omit<PushOrder, keyof MadePush> {
  /** The name of the code host, and the installation that issues the token. */
  readonly host: string;
  readonly installationId: number;
  /** Whether the token must allow the push to change the code host's workflow files. */
  readonly workflows: boolean;
  /**
   * The pull request that the push belongs to. It waits while the code host issues no token. Absent in orders of earlier
   * releases.
   */
  readonly pullRequestId?: string;
}

/** The answer to the agent's pull request message. Exactly one of `url` and `refused` is not null. */
export const pullRequestAnswered = z.object({
  type: z.literal("run.pull-request-answered"),
  ...claim,
  id: requestId,
  url: z.string().max(2_000).nullable(),
  /** The reason for a refusal, as text for the agent. The agent may continue after a refusal. */
  refused: z.string().max(20_000).nullable(),
});
export type PullRequestAnswered = z.infer<typeof pullRequestAnswered>;
