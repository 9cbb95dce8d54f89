import type { Effect, EffectContext } from "../../runtime/cells/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { RunSignal } from "../../runtime/effects/run-signal.js";
import type { Reading } from "../../storage/store.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { RepositoryThere } from "../outbound/code-host/code-host-repository.js";
import type { HostedCommit, HostedHead } from "../outbound/code-host/code-host-sources.js";
import { configEditLane } from "../outbound/http/lanes.js";
import { askHost, type CodeHostProblem } from "../pull-requests/code-host-answer.js";
import type { ConfigPullRequestRow, OpeningRefusal } from "./config-pull-request.js";
import type { EditOutcome, EditRun, SourceTree, WantedStation } from "./edit/station-edit.js";
import { withWanted } from "./edit/wanted-values.js";
import { type HostedSource, hostedSource, TooManyReads } from "./hosted-source.js";
import { branchTaken, refuseOpening } from "./opening-refusals.js";
import type { FindPickedConfig } from "./picked-config.js";
import { toCommitMessage } from "./pull-request-text.js";
import { findWanted } from "./wanted-station.js";

/** The commit to make: it replaces the live config in the line's source with the candidate's config. */
export interface CommitInput extends RepositoryThere {
  readonly host: string;
  /** The path of the line's source in the repository. */
  readonly path: string;
  readonly row: Pick<
    ConfigPullRequestRow,
    "teamId" | "searchId" | "candidateId" | "candidateName" | "lineId" | "stationId" | "stationKey" | "branch"
  >;
  /** The commits of earlier attempts. The pull request's branch may point to one of them. */
  readonly made: readonly string[];
}

/** A commit for the branch of a pull request. */
export interface MadeCommit {
  readonly commit: string;
  /** The branch to merge into. */
  readonly base: string;
  /** The commit that the pull request's branch pointed to; null if there was no such branch. */
  readonly before: string | null;
  /**
   * When the code host created the commit of this attempt, by the code host's clock, in milliseconds since 1970. The
   * commit of this attempt is `commit`, or has the same content as `commit`. Absent if the code host does not report
   * the time, and in data of earlier releases.
   */
  readonly madeAtMs?: number;
}

export type CommitResult =
  | ({ readonly problem: null } & MadeCommit)
  | { readonly problem: "unfit"; readonly reason: OpeningRefusal }
  | CodeHostProblem;

/** Reads the line's source, edits it and makes a commit. Does not create or move a branch. */
export const COMMIT_CONFIG = effect<CommitInput, CommitResult>("config-commit");

/** The services that the effect uses. */
export interface CommitEffectOptions {
  /** Null if no code host is currently configured. */
  readonly codeHost: CodeHost | null;
  readonly reading: () => Reading;
  readonly findPicked: FindPickedConfig;
  readonly editStation: (source: SourceTree, wanted: WantedStation, run: EditRun) => Promise<EditOutcome>;
  readonly clock: Clock;
}

/**
 * Implements {@link COMMIT_CONFIG}. The effect can run again after a crash, because nobody sees a commit that no branch
 * points to. If the pull request's branch already points to a commit with the same content and first parent, the effect
 * keeps that commit.
 */
export function commitEffect(options: CommitEffectOptions): Effect {
  return COMMIT_CONFIG.implement(
    configEditLane,
    (input, context) =>
      askHost(options.codeHost, input.host, (codeHost) => commit({ ...options, codeHost, context }, input)),
    ({ host, installationId }) => `${host} ${installationId}`,
  );
}

interface Committing extends CommitEffectOptions {
  readonly codeHost: CodeHost;
  readonly context: Pick<EffectContext<unknown>, "owner"> & { readonly signal: RunSignal };
}

async function commit(committing: Committing, input: CommitInput): Promise<CommitResult> {
  const { codeHost, reading, context, findPicked } = committing;
  const { repository, path, row } = input;
  const found = findWanted(reading(), context.owner.partition, { row, path, repository, findPicked });
  if ("refused" in found) return unfit(found.refused);
  const head = await codeHost.sources.readHead(input);
  if (head === null) {
    return unfit(refuseOpening("not-found", `${repository} does not exist, or the installation has no access to it.`));
  }
  const before = await codeHost.sources.readBranch(input, row.branch);
  if (before !== null && !input.made.includes(before)) return unfit(branchTaken(row.branch, repository));
  const source = hostedSource(codeHost, input, { head, path });
  const outcome = await edit(committing, source, { ...found.wanted, branch: head.branch });
  if ("refused" in outcome) return unfit(outcome.refused);
  const files = await Promise.all(
    outcome.files.map(async ({ path: file, after }) => ({
      path: file,
      content: after,
      mode: await source.readMode(file),
    })),
  );
  const message = toCommitMessage({ row, lineKey: found.wanted.lineKey });
  const parentCommits = before === null ? [] : [before];
  const made = await codeHost.sources.writeCommit(input, { on: head, parents: parentCommits, message, files });
  const commit = before !== null && (await isSame(codeHost, input, { before, head, made })) ? before : made.commit;
  const { madeAtMs } = made;
  return { problem: null, commit, base: head.branch, before, ...(madeAtMs !== undefined && { madeAtMs }) };
}

async function edit(
  { editStation, clock, context: { signal } }: Committing,
  source: HostedSource,
  wanted: WantedStation,
): Promise<EditOutcome> {
  try {
    return await editStation(source, wanted, { clock, signal });
  } catch (error) {
    if (!(error instanceof TooManyReads)) throw error;
    const message = `At ${wanted.path}:1: the source may be used elsewhere, because the repository has ${error.message}.`;
    return { refused: withWanted({ ...refuseOpening("ambiguous", message), code: "ambiguous" }, wanted) };
  }
}

/**
 * Whether an earlier attempt's commit has the same content and first parent as the new commit. If so, the branch stays
 * at the earlier commit.
 */
async function isSame(
  { sources }: CodeHost,
  there: RepositoryThere,
  { before, head, made }: { readonly before: string; readonly head: HostedHead; readonly made: HostedCommit },
): Promise<boolean> {
  const { tree, parents } = await sources.readCommit(there, before);
  return tree === made.tree && parents[0] === head.commit;
}

function unfit(reason: OpeningRefusal): CommitResult {
  return { problem: "unfit", reason };
}
