import type { RepositoryCommit } from "../../../actors/runners/kept-commit.js";
import { GitFailed, git } from "./git.js";

/** The name under which a mirror keeps a commit, so that git never collects it. */
export function keptRef(commit: string): string {
  return `refs/kept/${commit}`;
}

/** Keeps a commit that the mirror has, whatever becomes of its branches. */
export async function keepCommit(mirror: string, commit: string, signal: AbortSignal): Promise<void> {
  await git(mirror, ["update-ref", keptRef(commit), commit], { signal });
}

/** The commits that a mirror keeps, in order. */
export async function listKeptIn(mirror: string, signal: AbortSignal): Promise<readonly string[]> {
  const listed = await git(mirror, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/kept"], { signal });
  return listed.split("\n").filter((name) => name !== "");
}

/** Keeps a commit no longer; one that is not kept is fine. */
export async function releaseCommit(mirror: string, commit: string, signal: AbortSignal): Promise<void> {
  await git(mirror, ["update-ref", "-d", keptRef(commit)], { signal }).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error;
  });
}

/**
 * The commits that runs under way began from. Their service may not know of them yet, so they are not released, however
 * few runs it knows that began from them.
 */
export class HeldCommits {
  /** How many runs under way began from each, by its key. */
  readonly #counts = new Map<string, number>();
  /** When each was last held, as the number of the hold. */
  readonly #last = new Map<string, number>();
  #holds = 0;

  hold(commit: RepositoryCommit): void {
    const key = toKey(commit);
    this.#holds += 1;
    this.#last.set(key, this.#holds);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Ends one hold. */
  letGo(commit: RepositoryCommit): void {
    const key = toKey(commit);
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }

  /** The number of the last hold; what is told of commits now is about holds up to it. */
  get now(): number {
    return this.#holds;
  }

  /** Whether a run under way holds the commit, or one did after `since` (see {@link HeldCommits.now}). */
  isHeldSince(commit: RepositoryCommit, since: number): boolean {
    const key = toKey(commit);
    return this.#counts.has(key) || (this.#last.get(key) ?? 0) > since;
  }

  /** Forgets when a commit that is not held was. */
  forget(commit: RepositoryCommit): void {
    if (!this.#counts.has(toKey(commit))) this.#last.delete(toKey(commit));
  }
}

function toKey({ repository, commit }: RepositoryCommit): string {
  return `${repository} ${commit}`;
}
