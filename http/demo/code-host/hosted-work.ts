import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookEventName } from "@octokit/webhooks-types";
import type { HostedAccount } from "./hosted-account.js";
import {
  commentJson,
  type HostedComment,
  type HostedPull,
  type HostedReview,
  type HostedReviewComment,
  pullJson,
  readEnds,
  repositoryJson,
  reviewCommentJson,
  reviewJson,
  userJson,
} from "./hosted-pulls.js";
import { type CommitWish, type FileChanges, HostedRepository } from "./hosted-repository.js";

/** An event of the code host, with the payload of its delivery. */
export interface HostedEvent {
  readonly event: WebhookEventName;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The fields of a new pull request. */
export interface PullWish {
  readonly title: string;
  readonly head: string;
  readonly base: string;
  readonly body?: string | null;
  readonly draft?: boolean;
  readonly by: HostedAccount;
}

/** The account of the app, in whose name the app's tokens act. */
export const appAccount: HostedAccount = { id: 9_999, login: "signalbox[bot]", type: "Bot" };

/**
 * The repositories, pull requests and comments of a code host, and the events about them. The methods perform people's
 * actions. The API's routes (`hosted-api.ts`) use the same methods.
 */
export class HostedWork {
  readonly repositories = new Map<string, HostedRepository>();
  /** Repositories by former name. A former name may be in use again. */
  readonly formerNames = new Map<string, HostedRepository>();
  readonly pulls: HostedPull[] = [];
  readonly comments: HostedComment[] = [];
  /** The events so far, oldest first. */
  readonly events: HostedEvent[] = [];
  /** Called with each event. */
  tell: (event: HostedEvent) => void = () => undefined;
  /** The address of the code host. */
  origin = "";
  /** All repositories that were created or adopted. {@link remove} closes them. */
  readonly #opened: HostedRepository[] = [];
  readonly #now: () => number;
  readonly #installationOf: (repository: string) => number | null;
  #folder: Promise<string> | null;
  readonly #isTemporary: boolean;
  #ids = 1_000;

  /** `folder` is the folder of the repositories; null for a temporary folder. */
  constructor(now: () => number, findInstallation: (repository: string) => number | null, folder: string | null) {
    this.#now = now;
    this.#installationOf = findInstallation;
    this.#folder = folder === null ? null : Promise.resolve(folder);
    this.#isTemporary = folder === null;
  }

  /** The folder of all repositories. */
  get folder(): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), "signalbox-host-"));
    return this.#folder;
  }

  /** Closes all repositories. Removes their folder, unless the constructor got this folder from the caller. */
  async remove(): Promise<void> {
    await Promise.all(this.#opened.map((repository) => repository.close()));
    if (this.#isTemporary && this.#folder !== null) await rm(await this.#folder, { recursive: true, force: true });
  }

  /** Creates a repository whose `main` branch has these files. */
  async addRepository(name: string, files: FileChanges = { "README.md": "hello\n" }): Promise<HostedRepository> {
    return this.#add(name, await HostedRepository.create(await this.folder, name, files));
  }

  /** Adopts an existing bare repository in the folder, named `<name>.git`. */
  async adopt(name: string): Promise<HostedRepository> {
    return this.#add(name, await HostedRepository.open(await this.folder, name));
  }

  #add(name: string, repository: HostedRepository): HostedRepository {
    this.#opened.push(repository);
    this.repositories.set(name, repository);
    return repository;
  }

  /** Renames or transfers a repository, and emits the event. Requests for the old name are redirected from then on. */
  async rename(repository: HostedRepository, name: string, by: HostedAccount): Promise<void> {
    const [owner = "", from = ""] = repository.name.split("/");
    await repository.moveTo(await this.folder, name);
    for (const comment of this.comments)
      if (comment.repository === `${owner}/${from}`) Object.assign(comment, { repository: name });
    this.repositories.delete(`${owner}/${from}`);
    this.repositories.set(name, repository);
    this.formerNames.set(`${owner}/${from}`, repository);
    const isTransfer = !name.startsWith(`${owner}/`);
    this.#happened("repository", repository, by, {
      action: isTransfer ? "transferred" : "renamed",
      changes: isTransfer
        ? { owner: { from: { organization: { login: owner } } } }
        : { repository: { name: { from } } },
    });
  }

  /** Commits to a branch as a person, and emits the push event. Returns the commit's id. */
  async push(repository: HostedRepository, wish: CommitWish & { readonly by: HostedAccount }): Promise<string> {
    const before = await repository.heads();
    const commit = await repository.commit(wish);
    await this.pushed(repository, before, wish.by);
    return commit;
  }

  /**
   * Emits a push event for each branch that is new or moved since `before`, and a `synchronize` event for each open
   * pull request from such a branch.
   */
  async pushed(repository: HostedRepository, before: ReadonlyMap<string, string>, by: HostedAccount): Promise<void> {
    for (const [branch, after] of await repository.heads()) {
      const from = before.get(branch) ?? "0".repeat(40);
      if (from === after) continue;
      this.#happened("push", repository, by, { ref: `refs/heads/${branch}`, before: from, after });
      for (const pull of this.pulls) {
        if (pull.repository !== repository || pull.state !== "open" || pull.head !== branch) continue;
        await this.#changed(pull, "synchronize", by, { before: from, after });
      }
    }
  }

  async open(repository: HostedRepository, { by, body = null, draft = false, ...wish }: PullWish): Promise<HostedPull> {
    const at = this.#time();
    const number = 1 + this.pulls.filter((pull) => pull.repository === repository).length;
    const pull: HostedPull = {
      id: this.#id(),
      number,
      repository,
      user: by,
      ...wish,
      body,
      draft,
      state: "open",
      created_at: at,
      updated_at: at,
      closed_at: null,
      merged_at: null,
      merge_commit_sha: null,
      merged_by: null,
      closedAt: null,
      reviews: [],
      reviewComments: [],
    };
    this.pulls.push(pull);
    await this.#changed(pull, "opened", by);
    return pull;
  }

  async edit(pull: HostedPull, fields: Partial<Pick<HostedPull, "title" | "body" | "base">>, by: HostedAccount) {
    Object.assign(pull, fields);
    await this.#changed(pull, "edited", by);
  }

  async close(pull: HostedPull, by: HostedAccount): Promise<void> {
    Object.assign(pull, { closedAt: await readEnds(pull), state: "closed", closed_at: this.#time() });
    await this.#changed(pull, "closed", by);
  }

  async reopen(pull: HostedPull, by: HostedAccount): Promise<void> {
    Object.assign(pull, { closedAt: null, state: "open", closed_at: null });
    await this.#changed(pull, "reopened", by);
  }

  /** Merges a pull request. Returns the merge commit; null if there is a conflict. */
  async merge(pull: HostedPull, by: HostedAccount): Promise<string | null> {
    const ends = await readEnds(pull);
    const before = await pull.repository.heads();
    const merge = await pull.repository.merge(pull.base, ends.head, `Merge pull request #${pull.number}`);
    if (merge === null) return null;
    const at = this.#time();
    Object.assign(pull, { closedAt: ends, state: "closed", closed_at: at, merged_at: at });
    Object.assign(pull, { merge_commit_sha: merge, merged_by: by });
    await this.#changed(pull, "closed", by);
    await this.pushed(pull.repository, before, by);
    return merge;
  }

  async review(
    pull: HostedPull,
    { state, body = "", by }: Pick<HostedReview, "state"> & { readonly body?: string; readonly by: HostedAccount },
  ): Promise<HostedReview> {
    const { head } = await readEnds(pull);
    const review = { id: this.#id(), state, body, user: by, submitted_at: this.#time(), commit_id: head };
    pull.reviews.push(review);
    const payload = { ...reviewJson(review, pull, this.origin), state: state.toLowerCase() };
    await this.#changed(pull, "submitted", by, { review: payload }, "pull_request_review");
    return review;
  }

  /** Adds a review comment, or replies to an existing review comment. */
  async commentInReview(
    pull: HostedPull,
    { body, by, to }: { readonly body: string; readonly by: HostedAccount; readonly to?: HostedReviewComment },
  ): Promise<HostedReviewComment> {
    const answers = to === undefined ? {} : { in_reply_to_id: to.in_reply_to_id ?? to.id };
    const comment = { id: this.#id(), body, user: by, created_at: this.#time(), ...answers };
    pull.reviewComments.push(comment);
    const payload = { comment: reviewCommentJson(comment, pull, this.origin) };
    await this.#changed(pull, "created", by, payload, "pull_request_review_comment");
    return comment;
  }

  /** Resolves the thread that the comment started. */
  async resolve(pull: HostedPull, { id }: HostedReviewComment, by: HostedAccount): Promise<void> {
    const of = pull.reviewComments.filter((one) => one.id === id || one.in_reply_to_id === id);
    const comments = of.map((one) => reviewCommentJson(one, pull, this.origin));
    const payload = { thread: { node_id: `thread ${id}`, comments }, updated_at: this.#time() };
    await this.#changed(pull, "resolved", by, payload, "pull_request_review_thread");
  }

  /** Comments on a pull request or an issue. */
  comment(repository: string, number: number, body: string, by: HostedAccount): HostedComment {
    const at = this.#time();
    const comment = { id: this.#id(), number, repository, body, user: by, created_at: at, updated_at: at };
    this.comments.push(comment);
    return comment;
  }

  commentsOn({ repository, number }: HostedPull): readonly HostedComment[] {
    return this.comments.filter((one) => one.repository === repository.name && one.number === number);
  }

  /** Returns a pull request in the API's form. */
  show(pull: HostedPull) {
    return pullJson(pull, { origin: this.origin, comments: this.commentsOn(pull).length });
  }

  /** Returns a comment in the API's form. */
  showComment(comment: HostedComment) {
    return commentJson(comment, this.origin);
  }

  /** The current time in the API's form. */
  get now(): string {
    return this.#time();
  }

  /** Returns the current time, to the second, in the API's form. */
  #time(): string {
    return `${new Date(this.#now()).toISOString().slice(0, 19)}Z`;
  }

  #id(): number {
    this.#ids += 1;
    return this.#ids;
  }

  async #changed(
    pull: HostedPull,
    action: string,
    by: HostedAccount,
    more: Readonly<Record<string, unknown>> = {},
    event: WebhookEventName = "pull_request",
  ): Promise<void> {
    pull.updated_at = this.#time();
    // The code host computes only after this event whether the pull request can be merged.
    const pull_request = { ...(await this.show(pull)), mergeable: null, mergeable_state: "unknown" };
    await pull.repository.point(`refs/pull/${pull.number}/head`, pull_request.head.sha);
    this.#happened(event, pull.repository, by, { action, number: pull.number, pull_request, ...more });
  }

  #happened(
    event: WebhookEventName,
    repository: HostedRepository,
    by: HostedAccount,
    more: Readonly<Record<string, unknown>>,
  ) {
    const id = this.#installationOf(repository.name);
    const about = { repository: repositoryJson(repository, this.origin), sender: userJson(by) };
    const happened = { event, payload: { ...more, ...about, ...(id === null ? {} : { installation: { id } }) } };
    this.events.push(happened);
    this.tell(happened);
  }
}
