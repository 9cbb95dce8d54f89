import { copyFile, lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MAX_DIFF_BYTES } from "../../../actors/runners/protocol.js";
import { MAX_CHANGED_PATHS, MAX_PATH_CHARACTERS } from "../../../actors/runners/push.js";
import { type DiffWish, LIST_CHANGES } from "../changes/diff.js";
import { type Fitted, fitChanges } from "../changes/fit.js";
import { gather } from "../changes/gather.js";
import type { Checkout } from "../checkout/checkout.js";
import { copyIndex, GitFailed, git } from "../checkout/git.js";
import type { RunFolder } from "../checkout/run-folder.js";

/**
 * A bare git directory with which the runner reads a run's changes, and from which it pushes them. The runner creates
 * the directory before any program of the run can see the checkout. The directory is outside the run's folder, so that
 * a sandboxed agent cannot write the directory's configuration, hooks, attributes or index.
 */
export interface PushSite {
  readonly folder: string;
  readonly checkout: Checkout;
  /**
   * The run's folder with all checkouts. {@link takeSnapshot} rejects if a folder between the run's folder and the
   * checkout is a link.
   */
  readonly within: string;
  /** The tree of the commit that the checkout started from. */
  readonly begun: string;
}

/** The files of a checkout at one moment, and the changed paths. */
export interface Snapshot extends Fitted {
  /**
   * Paths that differ from the commit that the checkout started from. If the runner merged another commit into the
   * checkout, the paths that differ from the merge result. The paths are in git's order, and limited as in
   * `run.pull-request`.
   */
  readonly changed: readonly string[];
}

export interface SnapshotOptions {
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
  /** Whether to also return the run's own changes, without the changes that it started with. Defaults to false. */
  readonly own?: boolean;
  /** Maximum size of each diff, in bytes. Defaults to the protocol's limit. */
  readonly maxBytes?: number;
  /** Maximum size of both diffs together, in bytes of JSON. Defaults to no limit. */
  readonly maxJsonBytes?: number;
}

/** Thrown if the checkout's folder is not a folder any more. */
export class NoCheckout extends Error {
  override readonly name = "NoCheckout";
}

/** Creates the push site of a new checkout. The site copies the index of the untouched files. */
export async function openPushSite(
  checkout: Checkout,
  folder: Pick<RunFolder, "path" | "pushSite">,
  signal: AbortSignal,
): Promise<PushSite> {
  const { repository, record, base } = checkout;
  const at = folder.pushSite(repository);
  await mkdir(at, { recursive: true, mode: 0o700 });
  const format = base.length === 64 ? ["--object-format=sha256"] : [];
  await git(at, ["init", "--quiet", "--bare", "--template=", ...format, "."], { signal });
  const borrowed = await readFile(join(record, "objects/info/alternates"), "utf8").catch(() => "");
  await mkdir(join(at, "objects/info"), { recursive: true });
  await writeFile(join(at, "objects/info/alternates"), `${borrowed}${record}/objects\n`);
  // If the record has only the base and not its history, mark the history as missing in the site too.
  await copyFile(join(record, "shallow"), join(at, "shallow")).catch(() => undefined);
  await copyIndex(join(record, "index"), join(at, "index"));
  await git(at, ["update-ref", "refs/began", base], { env: { GIT_DIR: at }, signal });
  const begun = (await git(at, ["rev-parse", "--verify", `${base}^{tree}`], { env: { GIT_DIR: at }, signal })).trim();
  return { folder: at, checkout, within: folder.path, begun };
}

/** Returns the tree that the run started with: the commit's files, with the merge and the task's changes so far. */
export function startTree({ checkout, begun }: PushSite): string {
  return checkout.tree ?? begun;
}

/** The snapshot in progress at each site. The next snapshot waits for it. */
const busy = new WeakMap<PushSite, Promise<unknown>>();

/**
 * Takes a snapshot of the checkout's current files into the site's git directory: see `changes/gather.ts` and
 * `changes/fit.ts`. Rejects with {@link NoCheckout}, `OutputTooLong` or `GitFailed`.
 */
export function takeSnapshot(site: PushSite, options: SnapshotOptions): Promise<Snapshot> {
  const before = busy.get(site) ?? Promise.resolve();
  const snapshot = before.catch(() => undefined).then(() => take(site, options));
  busy.set(site, snapshot);
  return snapshot;
}

async function take(site: PushSite, options: SnapshotOptions): Promise<Snapshot> {
  const { folder: gitDir, checkout, within, begun: base } = site;
  const { signal, own = false, maxBytes = MAX_DIFF_BYTES, maxJsonBytes = Number.MAX_SAFE_INTEGER } = options;
  await mustBeFolders(checkout.folder, within);
  const { folder, merged } = checkout;
  const source = { gitDir, folder };
  // A working agent may change a file while git reads it: try once more.
  const gathered = await gather(source, signal).catch((error: unknown) => {
    if (!(error instanceof GitFailed) || signal.aborted) throw error;
    return gather(source, signal);
  });
  const wish = { base, begun: startTree(site), own, maxBytes, maxJsonBytes, signal };
  const fitted = await fitChanges(source, gathered, wish);
  return { ...fitted, changed: await listChanged(gitDir, { from: merged?.tree ?? base, to: fitted.tree, signal }) };
}

async function listChanged(
  gitDir: string,
  { from, to, signal }: Pick<DiffWish, "from" | "to" | "signal">,
): Promise<readonly string[]> {
  if (from === to) return [];
  const listing = [...LIST_CHANGES, "--name-only", from, to];
  const paths = (await git(gitDir, listing, { env: { GIT_DIR: gitDir }, signal })).split("\0");
  const changed = paths.filter((path) => path !== "" && path.length <= MAX_PATH_CHARACTERS);
  return changed.slice(0, MAX_CHANGED_PATHS);
}

/** Throws unless each path from the checkout up to the run's folder is a real folder, not a link. */
async function mustBeFolders(folder: string, within: string): Promise<void> {
  for (let at = folder; at !== within && at !== dirname(at); at = dirname(at)) {
    const isFolder = await lstat(at).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new NoCheckout("the checkout's folder does not exist or is not a folder");
  }
}
