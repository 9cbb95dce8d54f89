import { createHash } from "node:crypto";
import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import { codeHostWriteLane } from "../outbound/http/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";
import { toMark, toMarkedText } from "./hosted-text.js";
import type { PullRequestThere } from "./look.effects.js";

/** The wanted state of a comment. */
interface CommentInput extends PullRequestThere {
  readonly taskId: string;
  readonly purpose: string;
  /** The comment's number at the code host; null while unknown. */
  readonly id: number | null;
  readonly text: string;
}

export type CommentResult = { readonly problem: null; readonly id: number; readonly digest: string } | CodeHostProblem;

/** Creates or updates a comment at the code host. */
export const COMMENT_EFFECT = effect<CommentInput, CommentResult>("pull-request-comment");

/** Returns the digest of a comment's text. */
export function toCommentDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Creates the effect that writes a comment. The effect changes the comment with the known number. If the number is
 * unknown or the comment was deleted, the effect searches for the comment by its mark, or else creates a new comment.
 * Safe to repeat after a crash.
 */
export function commentEffect(codeHost: CodeHost | null): Effect {
  return hostEffect(COMMENT_EFFECT, codeHostWriteLane, codeHost, writeComment);
}

async function writeComment({ pullRequests }: CodeHost, input: CommentInput): Promise<CommentResult> {
  const { number, id, text } = input;
  const mark = toMark(input);
  const body = toMarkedText(mark, text);
  const digest = toCommentDigest(text);
  const changed = id === null ? null : await pullRequests.changeComment(input, id, body);
  if (changed !== null) return { problem: null, id: changed.id, digest };
  const found = await pullRequests.findComment(input, number, mark);
  const known = found === null ? null : await pullRequests.changeComment(input, found.id, body);
  const { id: madeId } = known ?? (await pullRequests.addComment(input, number, body));
  return { problem: null, id: madeId, digest };
}
