import { z } from "zod";
import {
  type Call,
  callAs,
  expectStatus,
  type RepositoryCallParts,
  type RepositoryThere,
  readPages,
} from "./code-host-repository.js";
import { readAs } from "./code-host-requests.js";
import { hostedAuthorSchema } from "./hosted-pull-request.js";

/**
 * A text at the code host. The service's own texts start with a mark that people do not see. The service finds its own
 * texts by this mark.
 */
const hostedTextSchema = z.object({
  user: hostedAuthorSchema,
  body: z
    .string()
    .nullish()
    .transform((body) => body ?? ""),
});

type HostedText = z.output<typeof hostedTextSchema>;

/** Maximum number of pages to search: 1,000 texts per pull request. */
const MAX_PAGES = 10;

/**
 * Finds the text that starts with `mark` and that the app itself wrote; null if there is none. Anyone can write a mark,
 * so the author must be the app.
 */
async function findOwnText<Text extends HostedText>(
  parts: RepositoryCallParts,
  there: RepositoryThere,
  wanted: Call,
  { schema, mark }: { readonly schema: z.ZodType<Text>; readonly mark: string },
): Promise<Text | null> {
  const texts = await readPages(parts, there, wanted, { schema, most: MAX_PAGES });
  const marked = texts.filter(({ user, body }) => !user.isPerson && body.startsWith(mark));
  if (marked.length === 0) return null;
  const login = await readOwnLogin(parts);
  return marked.find(({ user }) => user.login === login) ?? null;
}

/** Returns the app's login. Asks each time, because an owner can rename the app. */
async function readOwnLogin({ ask, apiUrl, name, appToken }: RepositoryCallParts): Promise<string> {
  const answer = await ask({ what: "the app", url: `${apiUrl}/app`, authorization: `Bearer ${await appToken()}` });
  return `${readAs(name, appSchema, expectStatus(name, answer, 200)).slug}[bot]`;
}

const appSchema = z.object({ slug: z.string().min(1).max(255) });

interface HostedComment {
  readonly id: number;
  readonly body: string;
}

/** Code host operations on pull request comments. */
export interface CodeHostComments {
  /** Finds the app's own comment that starts with `mark`; null if there is none. */
  findComment(there: RepositoryThere, number: number, mark: string): Promise<HostedComment | null>;
  addComment(there: RepositoryThere, number: number, body: string): Promise<HostedComment>;
  /** Replaces the text of a comment; null if the comment no longer exists. */
  changeComment(there: RepositoryThere, id: number, body: string): Promise<HostedComment | null>;
}

export function commentMethods(parts: RepositoryCallParts): CodeHostComments {
  const { name } = parts;
  return {
    findComment(there, number, mark) {
      const wanted = { what: "the comments of a pull request", path: `/issues/${number}/comments` };
      return findOwnText(parts, there, wanted, { schema: commentSchema, mark });
    },
    async addComment(there, number, body) {
      await parts.paced(there.installationId);
      const path = `/issues/${number}/comments`;
      const answer = await callAs(parts, there, { what: "a new comment", method: "POST", path, json: { body } });
      return readAs(name, commentSchema, expectStatus(name, answer, 201));
    },
    async changeComment(there, id, body) {
      await parts.paced(there.installationId);
      const path = `/issues/comments/${id}`;
      const answer = await callAs(parts, there, { what: "a comment", method: "PATCH", path, json: { body } });
      if (answer.status === 404 || answer.status === 410) return null;
      return readAs(name, commentSchema, expectStatus(name, answer, 200));
    },
  };
}

const commentSchema = hostedTextSchema.extend({ id: z.int().positive() });

/**
 * Code host operations on the service's own reviews. These reviews only comment; they never approve or request changes.
 */
export interface CodeHostReviews {
  /** Finds the app's own review that starts with `mark` and returns its address; null if there is none. */
  findReview(there: RepositoryThere, number: number, mark: string): Promise<string | null>;
  /** Submits a review of kind `COMMENT` and returns its address. */
  addReview(there: RepositoryThere, number: number, body: string): Promise<string>;
}

export function reviewMethods(parts: RepositoryCallParts): CodeHostReviews {
  const { name } = parts;
  return {
    async findReview(there, number, mark) {
      const wanted = { what: "the reviews of a pull request", path: `/pulls/${number}/reviews` };
      return (await findOwnText(parts, there, wanted, { schema: reviewSchema, mark }))?.html_url ?? null;
    },
    async addReview(there, number, body) {
      await parts.paced(there.installationId);
      const path = `/pulls/${number}/reviews`;
      const json = { event: "COMMENT", body };
      const answer = await callAs(parts, there, { what: "a new review", method: "POST", path, json });
      return readAs(name, reviewSchema, expectStatus(name, answer, 200)).html_url;
    },
  };
}

const reviewSchema = hostedTextSchema.extend({ html_url: z.string().min(1).max(2_000) });
