import { z } from "zod";
import {
  type HostedPullRequest,
  type HostedReview,
  hostedAuthorSchema,
  hostedPullRequestSchema,
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
const author = hostedAuthorSchema;
const timeMs = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const commit = z.string().regex(/^[0-9a-f]{40,64}$/);

const pullRequestEvent = place.extend({
  pull_request: z.object({ number: z.int().positive() }).loose(),
  review: z
    .object({ user: author, submitted_at: timeMs, commit_id: commit })
    .transform(({ user: by, submitted_at: atMs, commit_id }): HostedReview => ({ by, atMs, commit: commit_id }))
    .optional()
    .catch(undefined),
  comment: z
    .object({ user: author, created_at: timeMs })
    .transform(({ user: by, created_at: atMs }): HostedReview => ({ by, atMs, commit: null }))
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
  const about = {
    number: pull_request.number,
    picture: picture.success ? picture.data : null,
    reviews: [review ?? [], comment ?? []].flat(),
  };
  return [{ installationId: installation.id, repository: repository.full_name, about }];
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
