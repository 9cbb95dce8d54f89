import { z } from "zod";
import {
  type HostedPullRequest,
  type HostedReview,
  hostedCommentSchema,
  hostedPullRequestSchema,
  hostedReviewSchema,
} from "../outbound/code-host/hosted-pull-request.js";

/** News about a pull request, a branch or a repository, from a delivery of the code host. */
export interface HostedNews {
  readonly installationId: number;
  /** The repository's current `owner/name` at the code host. */
  readonly repository: string;
  /** The repository's number at the code host; absent if not reported. */
  readonly repositoryId?: number | undefined;
  /**
   * When the repository had this name, by the code host's clock, in milliseconds since 1970. If absent, the name is the
   * current one.
   */
  readonly namedAtMs?: number | undefined;
  readonly about:
    | {
        readonly number: number;
        /** The pull request; null if the delivery has only a part of it, so that the service must fetch it. */
        readonly picture: HostedPullRequest | null;
        readonly reviews: readonly HostedReview[];
      }
    /** A push changed the branch. */
    | { readonly branch: string }
    /** The previous name of a repository that was renamed or transferred. */
    | { readonly formerName: string }
    /** The installation gained or lost access to the repository. */
    | "reach";
}

const timeMs = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const fullName = z
  .string()
  .regex(/^[^/]+\/[^/]+$/)
  .max(200);
const repositoryId = z.int().positive().optional().catch(undefined);
const place = z.object({
  installation: z.object({ id: z.int().positive() }),
  repository: z.object({ id: repositoryId, full_name: fullName, updated_at: timeMs.optional().catch(undefined) }),
});

/** Returns the fields that all news of an event share: the installation and the repository. */
function toPlace({ installation, repository }: z.output<typeof place>): Omit<HostedNews, "about"> {
  const { full_name, id, updated_at } = repository;
  return { installationId: installation.id, repository: full_name, repositoryId: id, namedAtMs: updated_at };
}

const pullRequestEvent = place.extend({
  action: z.string().optional().catch(undefined),
  updated_at: timeMs.optional().catch(undefined),
  pull_request: z.object({ number: z.int().positive() }).loose(),
  review: hostedReviewSchema.optional().catch(undefined),
  comment: hostedCommentSchema.optional().catch(undefined),
  thread: z
    .object({ comments: z.array(hostedCommentSchema).max(1_000) })
    .optional()
    .catch(undefined),
});
const pushEvent = place.extend({ ref: z.string().max(1_100) });
const reachEvent = z.object({
  installation: z.object({ id: z.int().positive() }),
  repositories_added: z.array(z.object({ id: repositoryId, full_name: fullName })).catch([]),
  repositories_removed: z.array(z.object({ id: repositoryId, full_name: fullName })).catch([]),
});
const renamed = z.object({ repository: z.object({ name: z.object({ from: z.string().min(1).max(100) }) }) });
const login = z.object({ login: z.string().min(1).max(100) });
const transferred = z.object({
  owner: z.object({ from: z.object({ user: login.nullish(), organization: login.nullish() }) }),
});
const repositoryEvent = place.extend({ changes: z.unknown() });

const PULL_REQUEST_EVENTS: readonly string[] = [
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
  "pull_request_review_thread",
];

/** Returns whether events with this name can contain news. */
export function isNewsEvent(event: string): boolean {
  return PULL_REQUEST_EVENTS.includes(event) || ["push", "repository", "installation_repositories"].includes(event);
}

/** Maximum number of repositories to read per delivery. */
const MAX_REPOSITORIES = 100;

/**
 * Returns the news in an event whose `x-github-event` header is `event`. Returns none for other events and for invalid
 * data.
 */
export function toHostedNews(event: string, json: unknown): readonly HostedNews[] {
  if (PULL_REQUEST_EVENTS.includes(event)) return toPullRequestNews(json);
  if (event === "push") return toPushNews(json);
  if (event === "repository") return toRepositoryNews(json);
  return event === "installation_repositories" ? toReachNews(json) : [];
}

function toPullRequestNews(json: unknown): HostedNews[] {
  const read = pullRequestEvent.safeParse(json);
  if (!read.success) return [];
  const { pull_request, review, comment } = read.data;
  const parsed = hostedPullRequestSchema.safeParse(pull_request);
  const resolved = toResolved(read.data, parsed.data?.updatedAtMs);
  const about = {
    number: pull_request.number,
    picture: parsed.success ? parsed.data : null,
    reviews: [review ?? [], comment ?? [], resolved ?? []].flat(),
  };
  return [{ ...toPlace(read.data), about }];
}

/**
 * Returns the first comment of a thread that was resolved or unresolved, with the thread's new state. Returns undefined
 * for other events. Uses `atMs` as the time if the event has no `updated_at`.
 */
function toResolved(
  { action, thread, updated_at }: z.output<typeof pullRequestEvent>,
  atMs: number | undefined,
): HostedReview | undefined {
  const first = thread?.comments.find((comment) => comment.thread !== undefined);
  if (first === undefined || (action !== "resolved" && action !== "unresolved")) return undefined;
  const isResolved = action === "resolved";
  return { ...first, thread: { isResolved, asOfMs: updated_at ?? atMs ?? first.atMs } };
}

const BRANCH = "refs/heads/";

function toPushNews(json: unknown): HostedNews[] {
  const read = pushEvent.safeParse(json);
  if (!read.success || !read.data.ref.startsWith(BRANCH)) return [];
  return [{ ...toPlace(read.data), about: { branch: read.data.ref.slice(BRANCH.length) } }];
}

/** Returns the previous name of a repository that was renamed or transferred; none for other repository events. */
function toRepositoryNews(json: unknown): HostedNews[] {
  const read = repositoryEvent.safeParse(json);
  if (!read.success) return [];
  const { repository, changes } = read.data;
  const [owner = "", name = ""] = repository.full_name.split("/");
  const from = transferred.safeParse(changes).data?.owner.from;
  const formerOwner = from?.organization?.login ?? from?.user?.login ?? owner;
  const formerName = `${formerOwner}/${renamed.safeParse(changes).data?.repository.name.from ?? name}`;
  return formerName === repository.full_name ? [] : [{ ...toPlace(read.data), about: { formerName } }];
}

function toReachNews(json: unknown): HostedNews[] {
  const read = reachEvent.safeParse(json);
  if (!read.success) return [];
  const { installation, repositories_added, repositories_removed } = read.data;
  return [...repositories_removed, ...repositories_added]
    .slice(0, MAX_REPOSITORIES)
    .map(({ id, full_name: repository }) => ({
      installationId: installation.id,
      repository,
      repositoryId: id,
      about: "reach",
    }));
}
