import { appendFile, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../../../actors/runners/job.js";
import type { JobArchive } from "../../../actors/runners/kept-commit.js";
import type { CheckoutBase } from "../../../actors/runners/protocol.js";
import { copyIndex, GitFailed, git } from "./git.js";
import { mergeTrees } from "./merge-trees.js";
import type { Mirrors, Origin } from "./mirrors.js";
import { removeAll } from "./run-folder.js";

/** A repository that is checked out for a run. */
export interface Checkout {
  readonly repository: string;
  /** The folder of its files: a clone for the agent. */
  readonly folder: string;
  /** A bare git directory that the agent does not use: changes are determined with it, not with the clone's. */
  readonly record: string;
  /** The commit that its diff is relative to. */
  readonly base: string;
  /** The tree that the run began from, where that is not the commit's: it has the task's changes so far. */
  readonly tree: string | null;
  /** The branch whose head `base` was; null where the checkout began from the base of its job. */
  readonly branch: string | null;
  /** What was merged into `base` before the run began; null for nothing. */
  readonly merged: MergedIn | null;
}

/** A commit that was merged into a checkout. */
export interface MergedIn {
  readonly branch: string;
  readonly commit: string;
  /** The files of both, conflicts marked. */
  readonly tree: string;
  /** Paths with conflicts, which the agent resolves. */
  readonly conflicts: readonly string[];
}

/** The folders for a checkout. */
export interface CheckoutOptions {
  readonly folder: string;
  readonly record: string;
  readonly signal: AbortSignal;
  /** Puts a stored commit into a bare repository, for a base that its own repository has no more; absent for none. */
  readonly restore?: RestoreCommit;
}

/** A commit that the service stores. */
interface StoredCommit {
  readonly archive: JobArchive;
  readonly commit: string;
}

/** Puts a stored commit, without parents, into a bare repository. */
export type RestoreCommit = (record: string, stored: StoredCommit) => Promise<void>;

/**
 * Checks out a repository at the wanted branch's head, base, or the head of its default branch. At a base the task's
 * changes so far are staged. A base that the repository has no more comes from where the job says that it is stored. The commit is held
 * (`Mirrors.held`) until whoever has the checkout lets go of it. Rejects with git's error, and then holds nothing.
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

/** What a checkout begins from. */
interface Began {
  readonly commit: string;
  readonly branch: string | null;
  /** The branch that is to be merged in, and its commit; null for none. */
  readonly merges: { readonly branch: string; readonly commit: string } | null;
}

/** Merges a commit into another, in the record alone. Null where it is in there already. */
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

/** Gives the record and the clone the files of the commit, with the task's changes. */
async function layOut(
  { repository, diff }: Job["checkouts"][number],
  { folder, record, signal }: CheckoutOptions,
  { commit, branch, merges }: Began,
): Promise<Checkout> {
  const options = { env: { GIT_DIR: record }, signal };
  const merged = merges === null ? null : await mergeIn(record, commit, { ...merges, signal });
  await git(record, ["read-tree", merged?.tree ?? commit], options);
  const apply = ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"];
  if (diff !== "") await git(record, apply, { ...options, input: diff });
  const tree = (await git(record, ["write-tree"], options)).trim();
  // Only the record has the objects of the task's changes.
  await appendFile(join(folder, ".git/objects/info/alternates"), `${record}/objects\n`);
  await git(folder, ["config", "remote.origin.pushurl", "nothing-is-pushed-from-a-run"], { signal });
  await git(folder, ["update-ref", "--no-deref", "HEAD", commit], { signal });
  await git(folder, ["read-tree", "-u", "--reset", tree], { signal });
  // Copied with git's file stats, so that git reads only changed files again.
  await copyIndex(join(folder, ".git/index"), join(record, "index"));
  const isBegun = diff === "" && merged === null;
  return { repository, folder, record, base: commit, tree: isBegun ? null : tree, branch, merged };
}

/** Makes the record and the clone, still without files. */
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
      const clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", origin.mirror, folder];
      await git(dirname(folder), clone, { signal });
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

/** The record holds the commit, and the clone shares the record's objects; in both it has no parents. */
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
  await copyFile(join(record, "shallow"), join(folder, ".git/shallow"));
  await mkdir(join(folder, ".git/objects/info"), { recursive: true });
}

async function makeRecord({ mirror }: Origin, record: string): Promise<void> {
  await mkdir(record, { recursive: true });
  await git(record, ["init", "--quiet", "--bare", "--template=", "."]);
  await mkdir(join(record, "objects/info"), { recursive: true });
  await writeFile(join(record, "objects/info/alternates"), `${mirror}/objects\n`);
}

/** What a checkout begins from, as the service is told. */
export function toBase({ repository, base, branch, merged }: Checkout): CheckoutBase {
  const more = { ...(branch !== null && { branch }), ...(merged !== null && { merged: merged.commit }) };
  return { repository, base, ...more };
}

/** What an agent is told of its task and its checkouts, as JSON that ends with a newline. */
export function toContext({ task, line, station }: Job, checkouts: readonly Checkout[]): string {
  const begun = checkouts.map(({ repository, base, branch, merged }) => {
    const { commit, conflicts, branch: from } = merged ?? {};
    return { repository, base, branch, merged: merged === null ? null : { branch: from, commit, conflicts } };
  });
  return `${JSON.stringify({ task, line, station, checkouts: begun }, null, 2)}\n`;
}
