import { z } from "zod";
import {
  type HostedPullRequest,
  type HostedReview,
  hostedCommentSchema,
  hostedPullRequestSchema,
  hostedReviewSchema,
} from "../outbound/hosted-pull-request.js";

/** What a delivery of the code host says of pull requests in a repository. */
export interface HostedNews {
  readonly installationId: number;
  /** `owner/name` */
  readonly repository: string;
  readonly about:
    | {
        readonly number: number;
        /** Null where the delivery does not show it whole: the code host has to be asked. */
        readonly picture: HostedPullRequest | null;
        readonly reviews: readonly HostedReview[];
      }
    /** Something was pushed to a branch. */
    | { readonly branch: string }
    /** The installation reaches it no more, or again. */
    | "reach";
}

const place = z.object({
  installation: z.object({ id: z.int().positive() }),
  repository: z.object({ full_name: z.string().min(3).max(200) }),
});
const timeMs = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

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
  repositories_added: z.array(z.object({ full_name: z.string().max(200) })).catch([]),
  repositories_removed: z.array(z.object({ full_name: z.string().max(200) })).catch([]),
});

const PULL_REQUEST_EVENTS: readonly string[] = [
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
  "pull_request_review_thread",
];

/** Whether events of this name say something of pull requests. */
export function isNewsEvent(event: string): boolean {
  return PULL_REQUEST_EVENTS.includes(event) || event === "push" || event === "installation_repositories";
}

/** Most repositories of one delivery that are looked at. */
const MAX_REPOSITORIES = 100;

/** What an event says of pull requests, by its name in `x-github-event`; nothing for any other, and for what is no such. */
export function toHostedNews(event: string, json: unknown): readonly HostedNews[] {
  if (PULL_REQUEST_EVENTS.includes(event)) return toPullRequestNews(json);
  if (event === "push") return toPushNews(json);
  return event === "installation_repositories" ? toReachNews(json) : [];
}

function toPullRequestNews(json: unknown): HostedNews[] {
  const read = pullRequestEvent.safeParse(json);
  if (!read.success) return [];
  const { installation, repository, pull_request, review, comment } = read.data;
  const picture = hostedPullRequestSchema.safeParse(pull_request);
  const resolved = toResolved(read.data, picture.data?.updatedAtMs);
  const about = {
    number: pull_request.number,
    picture: picture.success ? picture.data : null,
    reviews: [review ?? [], comment ?? [], resolved ?? []].flat(),
  };
  return [{ installationId: installation.id, repository: repository.full_name, about }];
}

/** The comment that began the thread which is resolved, or is not any more; `atMs` is the time of the pull request. */
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
  const { installation, repository, ref } = read.data;
  return [
    { installationId: installation.id, repository: repository.full_name, about: { branch: ref.slice(BRANCH.length) } },
  ];
}

function toReachNews(json: unknown): HostedNews[] {
  const read = reachEvent.safeParse(json);
  if (!read.success) return [];
  const { installation, repositories_added, repositories_removed } = read.data;
  return [...repositories_removed, ...repositories_added]
    .slice(0, MAX_REPOSITORIES)
    .map(({ full_name: repository }) => ({ installationId: installation.id, repository, about: "reach" }));
}
