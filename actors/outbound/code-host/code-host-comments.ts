import { z } from "zod";
import { callAs, expectStatus, type RepositoryCallParts, type RepositoryThere } from "./code-host-repository.js";
import { readAs } from "./code-host-requests.js";
import { findOwnText, hostedTextSchema } from "./code-host-texts.js";

/** A comment on a pull request. */
export interface HostedComment {
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
