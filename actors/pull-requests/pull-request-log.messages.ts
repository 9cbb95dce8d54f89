import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import type { HostedNews } from "../code-host/hosted-news.js";
import { findHosted, findLogId, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import type { ReviewBegun, ReviewOver } from "./pull-request.messages.js";

/**
 * What the code host told, in a delivery or an answer. Answered with whether it was about a pull request that is known,
 * or is now.
 */
export interface TakeNews extends Answered<boolean> {
  readonly type: "host.news";
  readonly host: string;
  readonly news: HostedNews;
}

/** By workspace and id, see {@link findPullRequestLog}. */
export const pullRequestLogRef = reference<TakeNews | ReviewBegun | ReviewOver, [workspaceId: string, id: string]>(
  "pull-request-log",
  (workspaceId, id) => [workspaceId, id.toLowerCase()],
);

/** The log of a repository, which is one whatever the repository is or was called. */
export function findPullRequestLog(reading: Reading, workspaceId: string, named: NamedRepository) {
  return pullRequestLogRef(workspaceId, findLogId(reading, workspaceId, named));
}

/** A repository as the code host shows it in an answer, and what it was asked for by. */
interface ShownRepository {
  readonly host: string;
  readonly installationId: number;
  readonly repository: string;
  readonly repositoryId?: number | undefined;
  readonly askedAs: string;
}

/** What is news to the repository's log of how the code host calls it; null for nothing. */
export function toNameNews(
  reading: Reading,
  workspaceId: string,
  { host, installationId, repository, repositoryId, askedAs }: ShownRepository,
): TakeNews | null {
  if (repositoryId === undefined) return null;
  const known = findHosted(reading, workspaceId, { host, repository, repositoryId });
  const isNews = known?.name !== repository || findHosted(reading, workspaceId, { repository: askedAs }) === undefined;
  const news: HostedNews = { installationId, repository, repositoryId, about: { formerName: askedAs } };
  return isNews ? { type: "host.news", host, news } : null;
}
