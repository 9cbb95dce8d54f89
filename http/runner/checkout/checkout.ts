import { appendFile, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JobArchive } from "../../../actors/runners/commit-frames.js";
import type { Job } from "../../../actors/runners/job.js";
import type { CheckoutBase } from "../../../actors/runners/protocol.js";
import { copyIndex, GitFailed, git } from "./git.js";
import { mergeTrees } from "./merge-trees.js";
import type { Mirrors, Origin } from "./mirrors.js";
import { removeAll } from "./run-folder.js";

/** Git configuration of every clone. It makes an agent's `git push` fail, with this text in the error. */
const NO_PUSHES = "remote.origin.pushurl=nothing-is-pushed-from-a-run";

/** A repository that the runner checked out for a run. */
export interface Checkout {
  readonly repository: string;
  /** The folder of the files: a clone for the agent. */
  readonly folder: string;
  /**
   * A bare git directory that the agent does not use. The runner computes changes with it, not with the clone's git
   * directory.
   */
  readonly record: string;
  /** The commit that the run's diff is relative to. */
  readonly base: string;
  /**
   * The tree that the run started from, which includes the task's changes so far and the merge; null if it is the
   * commit's own tree.
   */
  readonly tree: string | null;
  /** The branch that had `base` as its head; null if the checkout started from the job's base or the default branch. */
  readonly branch: string | null;
  /** The commit that the runner merged into `base` before the run started; null for none. */
  readonly merged: MergedIn | null;
}

/** A commit that the runner merged into a checkout. */
export interface MergedIn {
  readonly branch: string;
  readonly commit: string;
  /** The merged files, with conflict markers. */
  readonly tree: string;
  /** Paths with conflicts, for the agent to resolve. */
  readonly conflicts: readonly string[];
}

/** The folders for a checkout. */
export interface CheckoutOptions {
  readonly folder: string;
  readonly record: string;
  readonly signal: AbortSignal;
  /**
   * Restores a stored commit, for a base that its repository no longer has. If absent, a checkout of such a base fails.
   */
  readonly restore?: RestoreCommit;
}

interface StoredCommit {
  readonly archive: JobArchive;
  readonly commit: string;
}

/** Adds a stored commit, without parents, to a bare repository. */
export type RestoreCommit = (record: string, stored: StoredCommit) => Promise<void>;

/**
 * Checks out a repository and returns the checkout. The checkout starts from the head of the wanted branch, if there is
 * one. Otherwise it starts from the job's base, or else from the head of the default branch.
 *
 * If the checkout does not start from the wanted branch, stages the task's changes so far. If the repository no longer
 * has the base, restores the base from the job's archive.
 *
 * Holds the commit in `Mirrors.held` until the caller calls `letGo`. If the checkout fails, holds nothing and rejects
 * with git's error.
 */
export async function createCheckout(
  mirrors: Mirrors,
  wanted: Job["checkouts"][number],
  site: CheckoutOptions,
): Promise<Checkout> {
  const began = await beginAt(mirrors, wanted, site);
  try {
    return await layOut(began.branch === null ? wanted : { ...wanted, diff: "" }, site, began);
  } catch (error) {
    mirrors.held.letGo({ repository: wanted.repository, commit: began.commit });
    throw error;
  }
}

/** The commit that a checkout starts from. */
interface Began {
  readonly commit: string;
  readonly branch: string | null;
  /** The branch to merge in, and its commit; null for none. */
  readonly merges: { readonly branch: string; readonly commit: string } | null;
}

/**
 * Merges a commit into the commit `into`, but only in the record. Returns null if `into` already contains the commit.
 */
async function mergeIn(
  record: string,
  into: string,
  { branch, commit, signal }: { readonly branch: string; readonly commit: string; readonly signal: AbortSignal },
): Promise<MergedIn | null> {
  const options = { env: { GIT_DIR: record }, signal };
  const listed = await git(record, ["rev-list", "--max-count=1", commit, `^${into}`], options);
  if (listed === "") return null;
  return { branch, commit, ...(await mergeTrees(record, { ours: into, theirs: commit }, options)) };
}

/** Writes the commit's files, with the merge and the task's changes, to the record and the clone. */
async function layOut(
  { repository, diff }: Job["checkouts"][number],
  { folder, record, signal }: CheckoutOptions,
  { commit, branch, merges }: Began,
): Promise<Checkout> {
  const merged = merges === null ? null : await mergeIn(record, commit, { ...merges, signal });
  const before = merged?.tree ?? commit;
  const tree = diff === "" ? before : await applyDiff(diff, before, { record, signal });
  // Share the record's objects with the clone, because only the record has the objects of the task's changes.
  await appendFile(join(folder, ".git/objects/info/alternates"), `${record}/objects\n`);
  await git(folder, ["update-ref", "--no-deref", "HEAD", commit], { signal });
  await git(folder, ["read-tree", "-u", "--reset", tree], { signal });
  // Copy the index with git's file stats, so that git rereads only changed files.
  await copyIndex(join(folder, ".git/index"), join(record, "index"));
  const isAtBase = diff === "" && merged === null;
  return { repository, folder, record, base: commit, tree: isAtBase ? null : tree, branch, merged };
}

/** Applies the diff to a commit or tree, but only in the record. Returns the new tree. */
async function applyDiff(
  diff: string,
  before: string,
  { record, signal }: Pick<CheckoutOptions, "record" | "signal">,
): Promise<string> {
  const options = { env: { GIT_DIR: record }, signal };
  await git(record, ["read-tree", before], options);
  await git(record, ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"], { ...options, input: diff });
  return (await git(record, ["write-tree"], options)).trim();
}

/** Creates the record and the clone, without files yet. */
async function beginAt(
  mirrors: Mirrors,
  { repository, base, archive, branch, merges }: Job["checkouts"][number],
  site: CheckoutOptions,
): Promise<Began> {
  const { folder, record, signal } = site;
  try {
    const wanted = { repository, base, branch: branch ?? null, merges: merges ?? null, signal };
    return await mirrors.from(wanted, async (origin) => {
      await makeRecord(origin, record);
      await mkdir(dirname(folder), { recursive: true });
      const clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", "-c", NO_PUSHES, "--"];
      await git(dirname(folder), [...clone, origin.mirror, folder], { signal });
      return origin;
    });
  } catch (error) {
    const { restore } = site;
    const isStored = base !== null && branch === undefined && archive !== undefined;
    if (!isStored || restore === undefined || !(error instanceof GitFailed)) throw error;
    for (const path of [folder, record]) await removeAll(path);
    await beginFromArchive({ archive, commit: base }, site, restore);
    mirrors.held.hold({ repository, commit: base });
    return { commit: base, branch: null, merges: null };
  }
}

/** Restores the commit, without parents, into the record. The clone shares the record's objects. */
async function beginFromArchive(
  stored: StoredCommit,
  { folder, record, signal }: CheckoutOptions,
  restore: RestoreCommit,
): Promise<void> {
  const format = stored.commit.length === 64 ? ["--object-format=sha256"] : [];
  await mkdir(record, { recursive: true });
  await git(record, ["init", "--quiet", "--bare", "--template=", ...format, "."], { signal });
  await restore(record, stored);
  await mkdir(folder, { recursive: true });
  await git(folder, ["init", "--quiet", "--template=", ...format, "."], { signal });
  await git(folder, ["config", ...NO_PUSHES.split("=")], { signal });
  await copyFile(join(record, "shallow"), join(folder, ".git/shallow"));
  await mkdir(join(folder, ".git/objects/info"), { recursive: true });
}

async function makeRecord({ mirror }: Origin, record: string): Promise<void> {
  await mkdir(record, { recursive: true });
  await git(record, ["init", "--quiet", "--bare", "--template=", "."]);
  await mkdir(join(record, "objects/info"), { recursive: true });
  await writeFile(join(record, "objects/info/alternates"), `${mirror}/objects\n`);
}

/** The start of a checkout, in the form that the service receives. */
export function toBase({ repository, base, branch, merged }: Checkout): CheckoutBase {
  const more = { ...(branch !== null && { branch }), ...(merged !== null && { merged: merged.commit }) };
  return { repository, base, ...more };
}

/** The description of the task and its checkouts for the agent, as JSON that ends with a newline. */
export function toContext({ task, line, station }: Job, checkouts: readonly Checkout[]): string {
  const described = checkouts.map(({ repository, base, branch, merged }) => {
    const { commit, conflicts, branch: from } = merged ?? {};
    return { repository, base, branch, merged: merged === null ? null : { branch: from, commit, conflicts } };
  });
  return `${JSON.stringify({ task, line, station, checkouts: described }, null, 2)}\n`;
}
