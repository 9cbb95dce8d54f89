import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { OpenPullRequest } from "../outbound/code-host/code-host-pull-requests.js";
import type { RepositoryThere } from "../outbound/code-host/code-host-repository.js";
import { codeHostLane } from "../outbound/http/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";

export interface ListOpenInput extends RepositoryThere {
  readonly host: string;
  /** The ETag of the last list; null to get the list in any case. */
  readonly etag: string | null;
}

export type ListOpenResult =
  | {
      readonly problem: null;
      readonly listed: "changed";
      readonly open: readonly OpenPullRequest[];
      /** Whether the list has all open pull requests of the repository. */
      readonly isWhole: boolean;
      readonly etag: string | null;
    }
  | { readonly problem: null; readonly listed: "same" }
  | CodeHostProblem;

/** Lists the open pull requests of a repository, most recently changed first. */
export const LIST_OPEN = effect<ListOpenInput, ListOpenResult>("pull-requests-open");

/** Implements {@link LIST_OPEN}. `codeHost` is null if none is set up. */
export function listOpenEffect(codeHost: CodeHost | null): Effect {
  return hostEffect(LIST_OPEN, codeHostLane, codeHost, listOpen);
}

async function listOpen({ pullRequests }: CodeHost, { etag, ...there }: ListOpenInput): Promise<ListOpenResult> {
  const answer = await pullRequests.listOpen(there, etag);
  return answer === null ? { problem: null, listed: "same" } : { problem: null, listed: "changed", ...answer };
}
