import { appendFile, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../../../actors/runners/job.js";
import { git } from "./git.js";
import type { Mirrors, Origin } from "./mirrors.js";

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
}

/** The folders for a checkout. */
export interface CheckoutOptions {
  readonly folder: string;
  readonly record: string;
  readonly signal: AbortSignal;
}

/**
 * Checks out a repository at the wanted base (or the head of its default branch), with the task's changes so far
 * staged. Rejects with git's error.
 */
export async function createCheckout(
  mirrors: Mirrors,
  wanted: Job["checkouts"][number],
  site: CheckoutOptions,
): Promise<Checkout> {
  const { repository, base, diff } = wanted;
  const { folder, record, signal } = site;
  const commit = await mirrors.from({ repository, base, signal }, async (origin) => {
    await makeRecord(origin, record);
    await mkdir(dirname(folder), { recursive: true });
    const clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", origin.mirror, folder];
    await git(dirname(folder), clone, { signal });
    return origin.commit;
  });
  const options = { env: { GIT_DIR: record }, signal };
  await git(record, ["read-tree", commit], options);
  const apply = ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"];
  if (diff !== "") await git(record, apply, { ...options, input: diff });
  const tree = (await git(record, ["write-tree"], options)).trim();
  // Only the record has the objects of the task's changes.
  await appendFile(join(folder, ".git/objects/info/alternates"), `${record}/objects\n`);
  await git(folder, ["config", "remote.origin.pushurl", "nothing-is-pushed-from-a-run"], { signal });
  await git(folder, ["update-ref", "--no-deref", "HEAD", commit], { signal });
  await git(folder, ["read-tree", "-u", "--reset", tree], { signal });
  // Copied with git's file stats, so that git reads only changed files again.
  await copyFile(join(folder, ".git/index"), join(record, "index"));
  return { repository, folder, record, base: commit, tree: diff === "" ? null : tree };
}

async function makeRecord({ mirror }: Origin, record: string): Promise<void> {
  await mkdir(record, { recursive: true });
  await git(record, ["init", "--quiet", "--bare", "--template=", "."]);
  await mkdir(join(record, "objects/info"), { recursive: true });
  await writeFile(join(record, "objects/info/alternates"), `${mirror}/objects\n`);
}
