import { copyFile, lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MAX_CHANGED_PATHS, MAX_PATH_CHARACTERS } from "../../../actors/runners/push.js";
import { gather } from "../checkout/changes.js";
import type { Checkout } from "../checkout/checkout.js";
import { GitFailed, git } from "../checkout/git.js";
import type { RunFolder } from "../checkout/run-folder.js";

/**
 * A bare git directory by which what a run changed is read, and from which it is pushed. It is made before the run's first program starts, outside
 * the run's folder, and nothing that an agent can write is its configuration, hooks, attributes or index.
 */
export interface PushSite {
  readonly folder: string;
  readonly checkout: Checkout;
  /** The run's folder with all checkouts, down to which nothing may have become a link. */
  readonly within: string;
  /** The tree of the commit that the checkout began from. */
  readonly begun: string;
}

/** The files of a checkout at one moment. */
export interface Snapshot {
  readonly tree: string;
  /** Paths that are not as the run found them, in git's order; see `run.pull-request`. */
  readonly changed: readonly string[];
}

/** Thrown where the folder of a checkout is not one any more. */
export class NoCheckout extends Error {
  override readonly name = "NoCheckout";
}

/** Makes the site of a checkout that was laid out just now; its index is git's picture of the untouched files. */
export async function openPushSite(checkout: Checkout, folder: RunFolder, signal: AbortSignal): Promise<PushSite> {
  const { repository, record, base } = checkout;
  const at = folder.pushSite(repository);
  await mkdir(at, { recursive: true, mode: 0o700 });
  const format = base.length === 64 ? ["--object-format=sha256"] : [];
  await git(at, ["init", "--quiet", "--bare", "--template=", ...format, "."], { signal });
  const borrowed = await readFile(join(record, "objects/info/alternates"), "utf8").catch(() => "");
  await mkdir(join(at, "objects/info"), { recursive: true });
  await writeFile(join(at, "objects/info/alternates"), `${borrowed}${record}/objects\n`);
  // A base that came without its history stays without it.
  await copyFile(join(record, "shallow"), join(at, "shallow")).catch(() => undefined);
  await copyFile(join(record, "index"), join(at, "index"));
  await git(at, ["update-ref", "refs/began", base], { env: { GIT_DIR: at }, signal });
  const begun = (await git(at, ["rev-parse", "--verify", `${base}^{tree}`], { env: { GIT_DIR: at }, signal })).trim();
  return { folder: at, checkout, within: folder.path, begun };
}

/** The checkout, with the site as the git directory by which its changes are read. */
export function changedIn({ checkout, folder: record }: PushSite): Checkout {
  return { ...checkout, record };
}

/**
 * Takes the files of the checkout as they are now into the site. Runs no filter, hook or program of the repository's or the
 * agent's; links are taken as links, and nested repositories not at all. Rejects with {@link NoCheckout} or `GitFailed`.
 */
export async function takeSnapshot(
  { folder: site, checkout, within }: PushSite,
  signal: AbortSignal,
): Promise<Snapshot> {
  await mustBeFolders(checkout.folder, within);
  const { folder, base, merged } = checkout;
  const since = { folder, base, record: site };
  // An agent that works meanwhile may change a file while git reads it.
  await gather(since, signal).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error;
    return gather(since, signal);
  });
  const options = { env: { GIT_DIR: site }, signal };
  const tree = (await git(site, ["write-tree"], options)).trim();
  const listing = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", merged?.tree ?? base, tree];
  const paths = (await git(site, listing, options)).split("\0");
  const changed = paths.filter((path) => path !== "" && path.length <= MAX_PATH_CHARACTERS);
  return { tree, changed: changed.slice(0, MAX_CHANGED_PATHS) };
}

/** Every folder from the checkout up to the run's is one, and no link to another place of the machine. */
async function mustBeFolders(folder: string, within: string): Promise<void> {
  for (let at = folder; at !== within && at !== dirname(at); at = dirname(at)) {
    const isFolder = await lstat(at).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new NoCheckout("the folder of the checkout is no folder any more");
  }
}
