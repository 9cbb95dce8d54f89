import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { RepositoryThere } from "../outbound/code-host/code-host-repository.js";
import type { HostedPullRequest, HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { codeHostLane } from "../outbound/http/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";

/** A pull request at the code host. */
export interface PullRequestThere extends RepositoryThere {
  readonly host: string;
  readonly number: number;
}

export interface LookInput extends PullRequestThere {
  /** The ETag of the last answer; null to get an answer in any case. */
  readonly etag: string | null;
}

export type LookResult =
  | {
      readonly problem: null;
      readonly seen: "changed";
      readonly picture: HostedPullRequest;
      readonly reviews: readonly HostedReview[];
      readonly etag: string | null;
    }
  | { readonly problem: null; readonly seen: "same" | "gone" }
  | CodeHostProblem;

/** Reads a pull request and its reviews. */
export const LOOK_AT_PULL_REQUEST = effect<LookInput, LookResult>("pull-request-look");

export type FilesResult = { readonly problem: null; readonly files: readonly string[] } | CodeHostProblem;

/** Reads the paths that a pull request changes. */
export const READ_FILES = effect<PullRequestThere, FilesResult>("pull-request-files");

/** Implements {@link LOOK_AT_PULL_REQUEST}. `codeHost` is null if none is set up. */
export function lookEffect(codeHost: CodeHost | null): Effect {
  return hostEffect(LOOK_AT_PULL_REQUEST, codeHostLane, codeHost, look);
}

async function look({ pullRequests }: CodeHost, { number, etag, ...there }: LookInput): Promise<LookResult> {
  const read = await pullRequests.read(there, number, etag);
  if (read.read !== "changed") return { problem: null, seen: read.read };
  const reviews = await pullRequests.reviews(there, number);
  return { problem: null, seen: "changed", picture: read.pullRequest, reviews, etag: read.etag };
}

/** Implements {@link READ_FILES}. */
export function filesEffect(codeHost: CodeHost | null): Effect {
  return hostEffect(READ_FILES, codeHostLane, codeHost, readFiles);
}

async function readFiles({ pullRequests }: CodeHost, input: PullRequestThere): Promise<FilesResult> {
  return { problem: null, files: await pullRequests.files(input, input.number) };
}
