import { z } from "zod";
import { callAs, expectStatus, type RepositoryCallParts, type RepositoryThere } from "./code-host-repository.js";
import { readAs } from "./code-host-requests.js";
import { findOwnText, hostedTextSchema } from "./code-host-texts.js";

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
