import { z } from "zod";
import { type CodeHostDeliveries, deliveryMethods } from "./code-host-deliveries.js";
import {
  type Call,
  callAs,
  expectStatus,
  MAX_PAGE_BYTES,
  ON_PAGE,
  type RepositoryCallParts,
  type RepositoryThere,
  readPages,
  readRepository,
  whyRefused,
} from "./code-host-repository.js";
import { isRefusedWith, readAs } from "./code-host-requests.js";
import { type CodeHostComments, type CodeHostReviews, commentMethods, reviewMethods } from "./code-host-texts.js";
import {
  type HostedPullRequest,
  type HostedReview,
  hostedCommentSchema,
  hostedPullRequestSchema,
  hostedReviewSchema,
} from "./hosted-pull-request.js";

/** A pull request to open. */
export interface WantedPullRequest {
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  /** Null for the default branch. */
  readonly base: string | null;
  readonly draft: boolean;
}

/** The result of reading a pull request with the entity tag of an earlier response. */
export type ReadPullRequest =
  | { readonly read: "changed"; readonly pullRequest: HostedPullRequest; readonly etag: string | null }
  | { readonly read: "same" }
  | { readonly read: "gone" };

/** An entry in the list of open pull requests. */
export interface OpenPullRequest {
  readonly number: number;
  /** When the pull request last changed, by the code host's clock, in milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** Code host operations on pull requests. The methods reject with `CodeHostRefused`. */
export interface CodeHostPullRequests extends CodeHostComments, CodeHostReviews, CodeHostDeliveries {
  /** Lists pull requests from a branch of the repository itself, in any state, newest first, at most 100. */
  listFrom(there: RepositoryThere, branch: string): Promise<readonly HostedPullRequest[]>;
  /**
   * Lists open pull requests, last changed first, at most 1,000. `isWhole` says whether the list is complete. Returns
   * null if the list has not changed since `etag`. A list has an entity tag only if it fits on one page.
   */
  listOpen(
    there: RepositoryThere,
    etag: string | null,
  ): Promise<{
    readonly open: readonly OpenPullRequest[];
    readonly isWhole: boolean;
    readonly etag: string | null;
  } | null>;
  /** Opens a pull request; null if the branch already has a pull request. */
  open(there: RepositoryThere, wanted: WantedPullRequest): Promise<HostedPullRequest | null>;
  read(there: RepositoryThere, number: number, etag: string | null): Promise<ReadPullRequest>;
  /** Lists the submitted reviews, then the review comments, oldest first; at most 1,000 of each. */
  reviews(there: RepositoryThere, number: number): Promise<readonly HostedReview[]>;
  /**
   * Lists the paths that the pull request changes, at most {@link MAX_FILES} files. A renamed file has both its old and
   * its new path.
   */
  files(there: RepositoryThere, number: number): Promise<readonly string[]>;
}

/** Maximum number of files to read for a pull request, the same as GitHub's limit. */
export const MAX_FILES = 3_000;
const MAX_REVIEW_PAGES = 10;
const MAX_LIST_PAGES = 10;

/** Creates a client for pull requests. */
export function createPullRequests(parts: RepositoryCallParts): CodeHostPullRequests {
  const { name } = parts;
  const call = (there: RepositoryThere, wanted: Call) => callAs(parts, there, wanted);
  return {
    async listFrom(there, branch) {
      const list = ({ repository }: RepositoryThere) => {
        const head = encodeURIComponent(`${repository.split("/")[0]}:${branch}`);
        const path = `/pulls?head=${head}&state=all&sort=created&direction=desc&per_page=${ON_PAGE}`;
        return call({ ...there, repository }, { what: "pull requests of a branch", path });
      };
      const listed = await list(there);
      // The query names the branch's owner. After a transfer the owner has changed, so ask again under the new name.
      const isFound = listed.isMoved === true && listed.status === 200;
      const moved = isFound ? await readRepository(parts, there) : null;
      const answer = moved === null ? listed : await list({ ...there, repository: moved.name });
      const found = readAs(name, z.array(hostedPullRequestSchema), expectStatus(name, answer, 200));
      return found.filter((one) => one.branch === branch);
    },
    async listOpen(there, etag) {
      const open: OpenPullRequest[] = [];
      for (let page = 1; page <= MAX_LIST_PAGES; page += 1) {
        const path = `/pulls?state=open&sort=updated&direction=desc&per_page=${ON_PAGE}&page=${page}`;
        const wanted = { what: "the open pull requests", path, maxBytes: MAX_PAGE_BYTES };
        const answer = await call(there, page === 1 ? { ...wanted, etag } : wanted);
        if (answer.status === 304) return null;
        const found = readAs(name, z.array(openSchema).max(ON_PAGE), expectStatus(name, answer, 200));
        open.push(...found);
        if (found.length < ON_PAGE) return { open, isWhole: true, etag: page === 1 ? answer.etag : null };
      }
      return { open, isWhole: false, etag: null };
    },
    async open(there, { base, branch, ...wanted }) {
      const into = base ?? (await readDefaultBranch(parts, there));
      await parts.paced(there.installationId);
      const json = { ...wanted, head: branch, base: into };
      const answer = await call(there, { what: "a new pull request", method: "POST", path: "/pulls", json });
      if (answer.status === 422 && isAlreadyExists(answer.json)) return null;
      return readAs(name, hostedPullRequestSchema, expectStatus(name, answer, 201));
    },
    async read(there, number, etag) {
      const answer = await call(there, { what: "a pull request", path: `/pulls/${number}`, etag });
      if (answer.status === 304) return { read: "same" };
      // A redirect status means that the redirect leads away from the code host's API, or that too many redirects were
      // followed before it.
      if ([301, 302, 307, 308, 404, 410].includes(answer.status)) return { read: "gone" };
      const pullRequest = readAs(name, hostedPullRequestSchema, expectStatus(name, answer, 200));
      return { read: "changed", pullRequest, etag: answer.etag };
    },
    async reviews(there, number) {
      const ofReviews = { what: "the reviews of a pull request", path: `/pulls/${number}/reviews` };
      const reviews = await readPages(parts, there, ofReviews, { schema: hostedReviewSchema, most: MAX_REVIEW_PAGES });
      const of = { what: "the comments of reviews", path: `/pulls/${number}/comments` };
      const comments = await readPages(parts, there, of, { schema: hostedCommentSchema, most: MAX_REVIEW_PAGES });
      return [...reviews.filter((review) => review !== null), ...comments];
    },
    async files(there, number) {
      const path = `/pulls/${number}/files`;
      const wanted = { what: "the files of a pull request", path };
      const found = await readPages(parts, there, wanted, { schema: fileSchema, most: MAX_FILES / ON_PAGE });
      return [
        ...new Set(found.flatMap(({ filename, previous_filename }) => [filename, previous_filename ?? filename])),
      ];
    },
    ...commentMethods(parts),
    ...reviewMethods(parts),
    ...deliveryMethods(parts),
  };
}

async function readDefaultBranch(parts: RepositoryCallParts, there: RepositoryThere): Promise<string> {
  const repository = await readRepository(parts, there);
  if (repository === null) throw isRefusedWith(parts.name, 404, `it does not return ${there.repository}`);
  return repository.defaultBranch;
}

function isAlreadyExists(json: unknown): boolean {
  return /already[ _]exists/i.test(whyRefused(json));
}

const openSchema = z
  .object({ number: z.int().positive(), updated_at: z.iso.datetime({ offset: true }) })
  .transform(({ number, updated_at }): OpenPullRequest => ({ number, updatedAtMs: Date.parse(updated_at) }));
const path = z.string().min(1).max(4_096);
const fileSchema = z.object({ filename: path, previous_filename: path.nullish() });
