import type { RepositoryCommit } from "../../../actors/runners/commit-frames.js";
import { GitFailed, git } from "./git.js";

/** The ref with which a mirror protects a commit from git's garbage collection. */
export function retainedRef(commit: string): string {
  return `refs/kept/${commit}`;
}

/** Protects a commit in the mirror from garbage collection, even if its branch no longer exists. */
export async function retainCommit(mirror: string, commit: string, signal: AbortSignal): Promise<void> {
  await git(mirror, ["update-ref", retainedRef(commit), commit], { signal });
}

/** Lists the commits that a mirror protects, in order. */
export async function listRetained(mirror: string, signal: AbortSignal): Promise<readonly string[]> {
  const listed = await git(mirror, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/kept"], { signal });
  return listed.split("\n").filter((name) => name !== "");
}

/** Removes a commit's protection. Does nothing if the commit has none. */
export async function releaseCommit(mirror: string, commit: string, signal: AbortSignal): Promise<void> {
  await git(mirror, ["update-ref", "-d", retainedRef(commit)], { signal }).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error;
  });
}

/**
 * Counts the active runs that started from each commit. The runner never releases a commit from which an active run
 * started. The service may report that no run needs the commit, because it may not know of that run yet.
 */
export class CommitHolds {
  /** The number of active runs that started from each commit, by its key. */
  readonly #counts = new Map<string, number>();
  /** The sequence number of each commit's latest hold, by the commit's key. */
  readonly #last = new Map<string, number>();
  #holds = 0;

  hold(commit: RepositoryCommit): void {
    const key = toKey(commit);
    this.#holds += 1;
    this.#last.set(key, this.#holds);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Ends one hold on the commit. */
  letGo(commit: RepositoryCommit): void {
    const key = toKey(commit);
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }

  /** The sequence number of the latest hold. A report of commits covers the holds up to this number. */
  get now(): number {
    return this.#holds;
  }

  /**
   * Whether an active run holds the commit now, or any run has held the commit after `since` (see {@link
   * CommitHolds.now}).
   */
  isHeldSince(commit: RepositoryCommit, since: number): boolean {
    const key = toKey(commit);
    return this.#counts.has(key) || (this.#last.get(key) ?? 0) > since;
  }

  /** Discards the sequence number of the commit's latest hold, unless a run holds the commit. */
  forget(commit: RepositoryCommit): void {
    if (!this.#counts.has(toKey(commit))) this.#last.delete(toKey(commit));
  }
}

function toKey({ repository, commit }: RepositoryCommit): string {
  return `${repository} ${commit}`;
}
