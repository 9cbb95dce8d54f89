import { type CheckoutResult, MAX_DIFF_BYTES, MAX_FRAME_BYTES, type RunEnding } from "../../actors/runners/protocol.js";
import type { Clock } from "../../runtime/clock.js";
import { type LeftOut, shownPath } from "./changes/place.js";
import { OutputTooLong } from "./checkout/git.js";
import { errorMessage, JobFailed } from "./job-failed.js";
import { withinLimit } from "./process/time-limit.js";
import { type PushSite, type Snapshot, startTree, takeSnapshot } from "./push/push-site.js";

/** Reserved size for the parts of a report besides its diffs, in bytes of JSON. */
const REST_OF_FRAME = 2 * 1024 * 1024;

/** Time limit for reading one checkout's changes, in milliseconds: git can block forever on some files. */
const READ_MS = 10 * 60 * 1_000;
/** Maximum number of paths that a remark names. */
const MAX_NAMED = 50;
const NOTHING_DONE = "The agent exited without output, and nothing changed.";

export interface Collected {
  readonly results: readonly CheckoutResult[];
  /** Snapshots of the checkouts that the runner could read, by repository. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  /** Remarks for people about changes that no result includes. */
  readonly remarks: readonly string[];
  /** Whether every checkout is unchanged since the start of the run. */
  readonly isUnchanged: boolean;
  /** Why a checkout has no result; null if every checkout has a result. */
  readonly failed: JobFailed | null;
}

export interface CollectOptions {
  readonly clock: Clock;
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
  /** Whether to also report the run's own changes, without the changes that it started with. */
  readonly own: boolean;
}

/** Collects the changes of each checkout, as far as the runner can read them and they fit into one frame. */
export async function collect(sites: readonly PushSite[], options: CollectOptions): Promise<Collected> {
  const results: CheckoutResult[] = [];
  const snapshots = new Map<string, Snapshot>();
  const remarks: string[] = [];
  let failed: JobFailed | null = null;
  let isUnchanged = true;
  let remaining = MAX_FRAME_BYTES - REST_OF_FRAME;
  for (const site of sites) {
    const { repository, base, tree, merged } = site.checkout;
    const own = (options.own || merged !== null) && tree !== null;
    try {
      const maxJsonBytes = remaining - JSON.stringify({ repository, base }).length;
      const snapshot = await withinLimit(options, READ_MS, (signal) =>
        takeSnapshot(site, { signal, own, maxJsonBytes }),
      );
      const { diff, own: mine, leftOut } = snapshot;
      const result: CheckoutResult = { repository, base, diff, ...(mine !== undefined && { own: mine }) };
      remaining -= Buffer.byteLength(JSON.stringify(result));
      results.push(result);
      snapshots.set(repository, snapshot);
      if (leftOut.length > 0) remarks.push(toRemark(repository, leftOut));
      isUnchanged &&= leftOut.length === 0 && snapshot.tree === startTree(site);
    } catch (error) {
      failed ??= unread(repository, error);
      isUnchanged = false;
    }
  }
  return { results, snapshots, remarks, isUnchanged, failed };
}

/**
 * Returns the remarks for people. They name missing changes, or say that the agent printed nothing and changed nothing.
 */
export function remarksOn({ remarks, isUnchanged }: Collected, isSilent: boolean): readonly string[] {
  return isSilent && isUnchanged ? [...remarks, NOTHING_DONE] : remarks;
}

function toRemark(repository: string, leftOut: readonly LeftOut[]): string {
  const lines = leftOut.slice(0, MAX_NAMED).map(({ path, why }) => `- ${shownPath(path)}: ${why}`);
  const more = leftOut.length - lines.length;
  const rest = more > 0 ? [`- and ${more} more`] : [];
  return [`Left out of the changes to ${repository}:`, ...lines, ...rest].join("\n");
}

function unread(repository: string, error: unknown): JobFailed {
  if (!(error instanceof OutputTooLong)) {
    return new JobFailed("runner-error", `cannot read the changes to ${repository}`, errorMessage(error));
  }
  const message = `the changes to ${repository} are too large, a diff has at most ${MAX_DIFF_BYTES} bytes`;
  return new JobFailed("diff-too-large", message, error.message);
}

/** Maximum number of characters of a note in the log. */
const LOGGED_CHARACTERS = 200;

/** Describes the ending of a completed run in one line, for the log. */
export function toSummary(ending: RunEnding, mask: (text: string) => string): string {
  const line = (text: string) =>
    mask(text)
      .slice(0, LOGGED_CHARACTERS)
      .replace(/\p{Cc}+/gu, " ");
  switch (ending.kind) {
    case "handover":
      return `completed, handed over to ${line(ending.to)}`;
    case "ask":
      return "completed, with a question";
    case "finish":
      return ending.note === "" ? "completed" : `completed, not handed over: ${line(ending.note)}`;
  }
}
