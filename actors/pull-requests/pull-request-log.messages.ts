import { reference } from "../../runtime/cells/reference.js";
import type { Answered } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import type { HostedNews } from "../code-host/hosted-news.js";
import { findHosted, findLogId, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import type { ReviewOver, ReviewStarted } from "./pull-request.messages.js";

/**
 * News from the code host, in a delivery or an answer. The reply says whether the service now knows the pull request
 * that the news concerns. For a renamed repository, the reply says whether a team has a line on the repository.
 */
export interface TakeNews extends Answered<boolean> {
  readonly type: "host.news";
  readonly host: string;
  readonly news: HostedNews;
}

/** A log by workspace and id; see {@link findPullRequestLog}. */
export const pullRequestLogRef = reference<TakeNews | ReviewStarted | ReviewOver, [workspaceId: string, id: string]>(
  "pull-request-log",
  (workspaceId, id) => [workspaceId, id.toLowerCase()],
);

/** Finds the log of a repository. All current and former names lead to the same log. */
export function findPullRequestLog(reading: Reading, workspaceId: string, named: NamedRepository) {
  return pullRequestLogRef(workspaceId, findLogId(reading, workspaceId, named));
}

/** A repository in a code host's answer, and the name used in the request. */
interface ShownRepository {
  readonly host: string;
  readonly installationId: number;
  readonly repository: string;
  readonly repositoryId?: number | undefined;
  readonly askedAs: string;
}

/**
 * Returns the message that tells the log the repository's name in a code host's answer. Returns null if the log already
 * knows both this name and the name in the request, or if the answer has no repository number.
 */
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
