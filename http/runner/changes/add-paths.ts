import { GitFailed, gitOutput } from "../checkout/git.js";
import { type LeftOut, type Place, toRecords } from "./place.js";

/** How many paths git is given at once; where it fails at one of them, it reads the others of these again. */
const AT_ONCE = 2_000;

const NO_NAME = "git takes no file of this name";

/**
 * Reads files and links into the index, as git would store them. A path that git refuses is left out, and everything else
 * is taken. Rejects with `GitFailed` only where git fails for another reason.
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
  /** Null where git went through all of them; otherwise nothing was written. */
  readonly failed: GitFailed | null;
}

/** Git passes over names that it does not take, and ends at the first path that it cannot read. */
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

/** Which of the paths git names as taken, in their order. */
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

/** The path that git ended at: the first after those that it took which fails by itself. */
async function findCulprit(
  place: Place,
  paths: readonly string[],
  taken: ReadonlySet<string>,
): Promise<LeftOut | null> {
  const last = paths.findLastIndex((path) => taken.has(path));
  for (const path of paths.slice(last + 1)) {
    const { failed } = await update(place, [path]);
    if (failed !== null) return { path, why: `git cannot take it (${reasonOf(failed)})` };
  }
  return null;
}

/** What git says of a path: its first line, without the words that say that it is an error. */
function reasonOf({ message }: GitFailed): string {
  const [line = ""] = message.replace(/^git [a-z-]+: /, "").split("\n");
  return line.replace(/^(error|fatal): /, "").slice(0, 200);
}
