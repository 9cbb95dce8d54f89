import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { Reading } from "../../storage/store.js";
import type { LineFields } from "../lines/line.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { HostedPullRequest } from "../outbound/code-host/hosted-pull-request.js";
import { codeHostWriteLane } from "../outbound/http/lanes.js";
import { askHost, type CodeHostProblem } from "../pull-requests/code-host-answer.js";
import { findResource } from "../resources/resource.table.js";
import type { CommitInput, MadeCommit } from "./commit.effects.js";
import type { OpeningRefusal } from "./config-pull-request.js";
import { branchTaken, refuseOpening } from "./opening-refusals.js";
import type { FindPickedConfig } from "./picked-config.js";
import { toBody, toTitle } from "./pull-request-text.js";

/** The pull request to open. */
export interface OpenConfigInput extends Omit<CommitInput, "path" | "made">, MadeCommit {
  /** When a person picked the candidate, by the service's clock, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** The result of opening a pull request that now exists at the code host. */
export interface OpenedConfig {
  readonly problem: null;
  /** The pull request's URL for people. */
  readonly url: string;
  /** The repository's name and number at the code host; absent in results that earlier releases stored. */
  readonly named?: Pick<HostedPullRequest, "repository" | "repositoryId">;
}

export type OpenConfigResult =
  | OpenedConfig
  | { readonly problem: "unfit"; readonly reason: OpeningRefusal }
  | CodeHostProblem;

/** Creates or advances the branch for a commit, and opens the pull request. */
export const OPEN_CONFIG_PULL_REQUEST = effect<OpenConfigInput, OpenConfigResult>("config-pull-request-open");

/** The services that the effect uses. */
export interface OpenEffectOptions {
  /** Null if no code host is currently configured. */
  readonly codeHost: CodeHost | null;
  readonly reading: () => Reading;
  readonly findPicked: FindPickedConfig;
  readonly baseUrl: () => string;
}

/**
 * Implements {@link OPEN_CONFIG_PULL_REQUEST}. The effect can run again after a crash, because it first looks for the
 * work of an earlier attempt: a pull request from the branch, then a branch that contains the commit. The pull request
 * may already be merged and its branch deleted.
 */
export function openConfigEffect(options: OpenEffectOptions): Effect {
  return OPEN_CONFIG_PULL_REQUEST.implement(
    codeHostWriteLane,
    (input, { owner: { partition } }) =>
      askHost(options.codeHost, input.host, (codeHost) => open({ ...options, codeHost, partition }, input)),
    ({ host, installationId }) => `${host} ${installationId}`,
  );
}

interface Opening extends OpenEffectOptions {
  readonly codeHost: CodeHost;
  readonly partition: string;
}

async function open(opening: Opening, input: OpenConfigInput): Promise<OpenConfigResult> {
  const { codeHost, baseUrl } = opening;
  const { repository, row, base } = input;
  const texts = readTexts(opening, input);
  if (texts === null) return unfit(refuseOpening("not-found", "The candidate's search was removed."));
  const known = await find(codeHost, input);
  if (known !== undefined && known.state !== "open") return toOpened(known);
  const placed = await placeBranch(codeHost, input, known !== undefined);
  if (placed === "taken") return unfit(branchTaken(row.branch, repository));
  if (placed === "gone") return { problem: "again", why: `The branch ${row.branch} was deleted meanwhile.` };
  if (known !== undefined) return toOpened(known);
  const of = { row, ...texts, baseUrl: baseUrl() };
  const wanted = { title: toTitle(of), body: toBody(of), branch: row.branch, base, draft: false };
  const opened = (await codeHost.pullRequests.open(input, wanted)) ?? (await find(codeHost, input));
  return opened === undefined
    ? { problem: "again", why: `${codeHost.name} reports that a pull request already exists, but lists none.` }
    : toOpened(opened);
}

function toOpened({ url, repository, repositoryId }: HostedPullRequest): OpenedConfig {
  return { problem: null, url, named: { repository, ...(repositoryId !== undefined && { repositoryId }) } };
}

function readTexts({ reading, partition, findPicked }: Opening, { row }: OpenConfigInput) {
  const picked = findPicked(reading(), partition, row);
  const line = findResource<LineFields>(reading(), partition, "line", row.lineId)?.fields;
  return picked === null ? null : { picked, lineKey: line?.key ?? row.lineId };
}

/**
 * Creates the branch, or advances it from a commit of an earlier attempt. Returns `taken` if the branch exists and does
 * not contain the commit. Returns `gone` in two cases, and then does not create the branch again:
 * - The branch was deleted meanwhile.
 * - A pull request that was read as open has no branch. Somebody merged or closed the pull request and deleted the
 *   branch after the read.
 */
async function placeBranch(
  { sources }: CodeHost,
  input: OpenConfigInput,
  isOpened: boolean,
): Promise<"placed" | "taken" | "gone"> {
  const { row, commit, before } = input;
  const at = { branch: row.branch, commit };
  const head = await sources.readBranch(input, row.branch);
  if (head === commit) return "placed";
  if (head === null && isOpened) return "gone";
  if (head === null && (await sources.createBranch(input, at))) return "placed";
  if (head !== null && head === before && (await sources.advanceBranch(input, at))) return "placed";
  if (await sources.holds(input, at)) return "placed";
  return (await sources.readBranch(input, row.branch)) === null ? "gone" : "taken";
}

/**
 * Finds the branch's pull request: an open one, otherwise one that was opened at `madeAtMs` or later, by the code
 * host's clock. If `madeAtMs` is absent, the time of the pick is used instead.
 */
async function find(
  { pullRequests }: CodeHost,
  { row, sinceMs, madeAtMs = sinceMs, installationId, repository }: OpenConfigInput,
): Promise<HostedPullRequest | undefined> {
  const found = await pullRequests.listFrom({ installationId, repository }, row.branch);
  return found.find(({ state }) => state === "open") ?? found.find(({ createdAtMs }) => createdAtMs >= madeAtMs);
}

function unfit(reason: OpeningRefusal): OpenConfigResult {
  return { problem: "unfit", reason };
}
