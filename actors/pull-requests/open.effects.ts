import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { RepositoryThere } from "../outbound/code-host/code-host-repository.js";
import type { HostedPullRequest } from "../outbound/code-host/hosted-pull-request.js";
import { codeHostWriteLane } from "../outbound/http/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";
import { toBody } from "./hosted-text.js";

/** The pull request to open. */
export interface OpenInput extends RepositoryThere {
  readonly host: string;
  readonly taskId: string;
  readonly branch: string;
  /** The branch to merge into; null for the default branch. */
  readonly base: string | null;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
  /**
   * In milliseconds since 1970. If a closed or merged pull request of this branch exists, the effect accepts it only if
   * it was opened after this time.
   */
  readonly sinceMs: number;
}

export type OpenResult = { readonly problem: null; readonly pullRequest: HostedPullRequest } | CodeHostProblem;

/** Opens a pull request, or finds the existing one. */
export const OPEN_PULL_REQUEST = effect<OpenInput, OpenResult>("pull-request-open");

/** Maximum time by which the code host's clock may be behind, in milliseconds. */
const SKEW_MS = 60_000;

/**
 * Creates the effect that opens a pull request for a branch. The effect first searches for an existing pull request,
 * because an earlier attempt may have opened one. Safe to repeat after a crash.
 */
export function openEffect({
  codeHost,
  baseUrl,
}: {
  readonly codeHost: CodeHost | null;
  readonly baseUrl: () => string;
}): Effect {
  return hostEffect(OPEN_PULL_REQUEST, codeHostWriteLane, codeHost, (host, input) => open(host, input, baseUrl()));
}

async function open(codeHost: CodeHost, input: OpenInput, baseUrl: string): Promise<OpenResult> {
  const { pullRequests } = codeHost;
  const { branch, base, title, draft, taskId } = input;
  const known = await find(codeHost, input);
  if (known !== undefined) return { problem: null, pullRequest: known };
  const body = toBody(input.body, `Task: ${baseUrl}/api/tasks/${taskId}`);
  const opened = await pullRequests.open(input, { title, body, branch, base, draft });
  const pullRequest = opened ?? (await find(codeHost, input));
  return pullRequest === undefined
    ? { problem: "again", why: `${codeHost.name} reports that a pull request already exists, but lists none.` }
    : { problem: null, pullRequest };
}

async function find(
  { pullRequests }: CodeHost,
  { branch, sinceMs, ...there }: OpenInput,
): Promise<HostedPullRequest | undefined> {
  const found = await pullRequests.listFrom(there, branch);
  const isOurs = ({ state, createdAtMs }: HostedPullRequest) => state === "open" || createdAtMs >= sinceMs - SKEW_MS;
  return found.find(({ state }) => state === "open") ?? found.find(isOurs);
}
