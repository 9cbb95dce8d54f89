import { GitFailed, gitOutput } from "../checkout/git.js";
import { type LeftOut, type Place, toRecords } from "./place.js";

/**
 * How many paths to pass to git at once. If git fails at one path, the runner passes the batch's other paths to git
 * again.
 */
const AT_ONCE = 2_000;

const NO_NAME = "git does not accept this file name";

/**
 * Adds files and links to the index, in the form that git stores. Leaves out only the paths that git refuses. Rejects
 * with `GitFailed` only if git fails for another reason.
 */
export async function addPaths(place: Place, paths: readonly string[]): Promise<readonly LeftOut[]> {
  const leftOut: LeftOut[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    let rest = paths.slice(from, from + AT_ONCE);
    while (rest.length > 0) {
      const { taken, failed } = await update(place, rest);
      if (failed === null) {
        leftOut.push(...rest.filter((path) => !taken.has(path)).map((path) => ({ path, why: NO_NAME })));
        break;
      }
      const culprit = await findCulprit(place, rest, taken);
      if (culprit === null) throw failed;
      leftOut.push(culprit);
      rest = rest.filter((path) => path !== culprit.path);
    }
  }
  return leftOut;
}

interface Updated {
  readonly taken: ReadonlySet<string>;
  /** Null if git processed all paths. Otherwise the index is unchanged. */
  readonly failed: GitFailed | null;
}

/**
 * Runs `git update-index`. Git skips names that it does not accept, and exits at the first path that it cannot read.
 */
async function update(place: Place, paths: readonly string[]): Promise<Updated> {
  const chunks: Buffer[] = [];
  const args = ["update-index", "--add", "--remove", "--verbose", "-z", "--stdin"];
  const { gitDir, folder, index, signal } = place;
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index };
  const options = { env, signal, input: toRecords(paths) };
  let failed: GitFailed | null = null;
  try {
    await gitOutput(folder, args, options, (chunk) => void chunks.push(chunk));
  } catch (error) {
    if (!(error instanceof GitFailed) || signal.aborted) throw error;
    failed = error;
  }
  return { taken: readTaken(Buffer.concat(chunks).toString("latin1"), paths), failed };
}

/** Finds the paths that git's output reports as added or removed. The output keeps the order of `paths`. */
function readTaken(text: string, paths: readonly string[]): ReadonlySet<string> {
  const taken = new Set<string>();
  let at = 0;
  for (const path of paths) {
    const [begin] = [`add '${path}'\n`, `remove '${path}'\n`].filter((line) => text.startsWith(line, at));
    if (begin === undefined) continue;
    taken.add(path);
    at += begin.length;
  }
  return taken;
}

/**
 * Finds the path at which git stopped. This is the first path after the last added path at which git also fails if it
 * gets only this path. Returns null if there is none.
 */
async function findCulprit(
  place: Place,
  paths: readonly string[],
  taken: ReadonlySet<string>,
): Promise<LeftOut | null> {
  const last = paths.findLastIndex((path) => taken.has(path));
  for (const path of paths.slice(last + 1)) {
    const { failed } = await update(place, [path]);
    if (failed !== null) return { path, why: `git cannot add it (${toReason(failed)})` };
  }
  return null;
}

/** Returns the first line of git's error message about a path, without its prefixes. */
function toReason({ message }: GitFailed): string {
  const [line = ""] = message.replace(/^git [a-z-]+: /, "").split("\n");
  return line.replace(/^(error|fatal): /, "").slice(0, 200);
}
