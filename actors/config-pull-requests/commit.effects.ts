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

/** What is to be committed: the candidate's config, where the line's source has the live one. */
export interface CommitInput extends RepositoryThere {
  readonly host: string;
  /** The file in the repository. */
  readonly path: string;
  readonly row: Pick<
    ConfigPullRequestRow,
    "teamId" | "searchId" | "candidateId" | "candidateName" | "lineId" | "stationId" | "stationKey" | "branch"
  >;
  /** Commits of earlier attempts, one of which its branch may be at. */
  readonly made: readonly string[];
}

/** A commit, and what it is made for. */
export interface MadeCommit {
  readonly commit: string;
  /** The branch to merge into. */
  readonly base: string;
  /** Where its branch was; null where there was none. */
  readonly before: string | null;
  /**
   * When it was made by the code host's clock, in milliseconds since 1970: after the pick. Absent where the code host does
   * not say, and in what earlier releases stored.
   */
  readonly madeAtMs?: number;
}

export type CommitResult =
  | ({ readonly problem: null } & MadeCommit)
  | { readonly problem: "unfit"; readonly reason: OpeningRefusal }
  | CodeHostProblem;

/** Reads the source, edits it and makes the commit, which no branch has yet. */
export const COMMIT_CONFIG = effect<CommitInput, CommitResult>("config-commit");

/** What the effect needs. */
export interface CommitEffectOptions {
  /** Null when none is set up (any longer). */
  readonly codeHost: CodeHost | null;
  readonly reading: () => Reading;
  readonly findPicked: FindPickedConfig;
  readonly editStation: (source: SourceTree, wanted: WantedStation, run: EditRun) => Promise<EditOutcome>;
  readonly clock: Clock;
}

/**
 * Commits the config. It may run again after a crash: a commit that no branch has is seen by nobody, and one that the
 * branch of the pull request is at is kept where it still fits.
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
  const outcome = await edit(committing, source, found.wanted);
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

/** Whether the commit of an earlier attempt makes the same of the same commit: nothing is to be moved. */
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
