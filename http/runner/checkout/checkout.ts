import { appendFile, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../../../actors/runners/protocol.js";
import { git } from "./git.js";
import type { Mirrors, Origin } from "./mirrors.js";

/** A repository laid out for a run. */
export interface Checkout {
  readonly repository: string;
  /** Where its files lie: a clone of the agent's own. */
  readonly folder: string;
  /** A bare git directory that the agent has no use for: what was changed is found out with it, not with the clone's. */
  readonly record: string;
  /** The commit that its diff is against. */
  readonly base: string;
}

/** Where a checkout goes. */
export interface CheckoutOptions {
  readonly folder: string;
  readonly record: string;
  readonly signal: AbortSignal;
}

/**
 * Lays out a repository at the wanted base (or the head of its default branch) with what the task has changed so far,
 * staged. Rejects with what git said.
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
  // Files that the task has made so far are objects of the record alone.
  await appendFile(join(folder, ".git/objects/info/alternates"), `${record}/objects\n`);
  await git(folder, ["config", "remote.origin.pushurl", "nothing-is-pushed-from-a-run"], { signal });
  await git(folder, ["update-ref", "--no-deref", "HEAD", commit], { signal });
  await git(folder, ["read-tree", "-u", "--reset", tree], { signal });
  // Copied with what git knows of the files, so that only what changes is read again.
  await copyFile(join(folder, ".git/index"), join(record, "index"));
  return { repository, folder, record, base: commit };
}

async function makeRecord({ mirror }: Origin, record: string): Promise<void> {
  await mkdir(record, { recursive: true });
  await git(record, ["init", "--quiet", "--bare", "--template=", "."]);
  await mkdir(join(record, "objects/info"), { recursive: true });
  await writeFile(join(record, "objects/info/alternates"), `${mirror}/objects\n`);
}
