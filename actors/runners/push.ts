/**
 * What the protocol says of pushes: the runner commits what a run has changed and pushes it to a branch of the code host,
 * with a token that it is given for that push. See `protocol.ts`, phase 11.
 *
 * A push is of a *snapshot*: of the checkout as it was when the agent wished for a pull request (`wish` names that
 * message), or as it was when the run was reported as ended (`wish` is null).
 */
import { z } from "zod";
import { claim, MAX_REF_CHARACTERS } from "./job.js";
import { commitId } from "./kept-commit.js";

/** Most paths that are told of one change; later ones, in their order, are left out. */
export const MAX_CHANGED_PATHS = 3_000;
/** Longest path that is told, in characters; longer ones are left out. */
export const MAX_PATH_CHARACTERS = 4_096;
/** Longest title of a pull request, in characters. */
export const MAX_TITLE_CHARACTERS = 256;
/** Longest body of a pull request, in characters. */
export const MAX_BODY_CHARACTERS = 60_000;
/** Longest reason of a push that was not made, in characters. */
export const MAX_WHY_CHARACTERS = 2_000;

const repository = z.string().min(1).max(200);
/** An id that either end makes for a request. */
const requestId = z.string().min(1).max(100);
const changed = z.array(z.string().min(1).max(MAX_PATH_CHARACTERS)).max(MAX_CHANGED_PATHS);

/**
 * The agent wants a pull request now; answered by `run.pull-request-answered` with the same id. `changed` are the paths
 * that the run has changed in the checkout so far.
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
 * The branch is at `head`, which has the snapshot; `changed` are the paths in which it is not what the run began from.
 * Also where the branch had the snapshot before.
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
 * Why a push was not made.
 * - `conflict`: the branch has changes that the snapshot's cannot be joined with, or moved again meanwhile
 * - `nothing`: there is no such branch, and nothing was changed that it would begin with
 * - `refused`: the code host does not take it: the token, a rule of the branch, what is in it
 * - `unreachable`: the code host did not answer as it should
 * - `untokened`: the service got no token for the push from the code host
 * - `failed`: anything else, such as a checkout that is no folder any more
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
  /** One sentence for a person, and what git said; without the token. */
  why: z.string().max(MAX_WHY_CHARACTERS),
  /** Where the branch was found, which the snapshot's changes cannot be joined with; absent where it was not looked at. */
  head: commitId.optional(),
});

/** A name of a branch, as git allows it; it begins with no dash. */
export const branchName = z
  .string()
  .min(1)
  .max(MAX_REF_CHARACTERS)
  .regex(/^(?![-/.])(?!.*(\.\.|\/\/|@\{|\/\.|\.lock(\/|$)|\.$|\/$))[^\p{Cc} ~^:?*[\\]+$/u, "must be a branch's name");

/** The name of a branch, where a runner takes it; else null. People give branches at the code host other names too. */
export function toTakenBranch(name: string | null): string | null {
  return branchName.safeParse(name).data ?? null;
}

/**
 * Push the snapshot to the branch, which is made where it is not there; answered by `run.pushed` or `run.push-rejected`
 * with the same id. Never stored with the token.
 */
export const pushOrder = z.object({
  type: z.literal("run.push"),
  ...claim,
  id: requestId,
  repository,
  /** The id of the `run.pull-request` whose snapshot is meant; null for that of the run's end. */
  wish: requestId.nullable(),
  /** The repository's http or https address, without credentials. */
  url: z.string().max(2_000),
  /** For this repository and this push alone; null where the code host gave none. Then nothing is pushed. */
  token: z.string().min(1).max(4_096).nullable(),
  /** Why there is no token, which the answer repeats; absent where there is one. */
  why: z.string().max(MAX_WHY_CHARACTERS).optional(),
  branch: branchName,
  /** The branch that the pull request is to be merged into, which is never pushed to; null for the default branch. */
  base: branchName.nullable(),
  /** The first line of the commit's message. */
  title: z.string().min(1).max(MAX_TITLE_CHARACTERS),
  /** Its further lines; absent for none. */
  message: z.string().max(MAX_BODY_CHARACTERS).optional(),
  /** Who the commit is by; absent for the runner's own name. */
  author: z.object({ name: z.string().min(1).max(200), email: z.string().min(1).max(320) }).optional(),
});
export type PushOrder = z.infer<typeof pushOrder>;

/** What of an order is made when it is sent. */
export type MadePush = Pick<PushOrder, "url" | "token" | "why">;

/** What of an order is stored: its address and its token are made when it is sent. */
export interface WaitingPush extends Omit<PushOrder, keyof MadePush> {
  /** The code host, by its name, and the installation there whose token it is. */
  readonly host: string;
  readonly installationId: number;
  /** Whether the token has to allow changes of the code host's workflows. */
  readonly workflows: boolean;
  /** The pull request, which waits where the code host makes no token for now; absent in orders of earlier releases. */
  readonly pullRequestId?: string;
}

/** The answer to a wish: exactly one of `url` and `refused` is not null. */
export const pullRequestAnswered = z.object({
  type: z.literal("run.pull-request-answered"),
  ...claim,
  id: requestId,
  url: z.string().max(2_000).nullable(),
  /** Why there is none, for the agent, which may go on. */
  refused: z.string().max(20_000).nullable(),
});
export type PullRequestAnswered = z.infer<typeof pullRequestAnswered>;
