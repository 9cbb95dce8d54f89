import { GitFailed, type GitOptions, git } from "./git.js";

/** What a runner does only with a git of some release or later. */
export interface NeedsGit {
  /** A noun phrase. */
  readonly what: string;
  readonly major: number;
  readonly minor: number;
}

/** `fetch --no-write-fetch-head`. */
const FETCHING: NeedsGit = { what: "checking out repositories", major: 2, minor: 29 };
/** `merge-tree --write-tree`. */
export const MERGING: NeedsGit = { what: "merging branches", major: 2, minor: 38 };

const NEEDS = [FETCHING, MERGING];

/** The git on this machine, as it names itself; rejects with `GitFailed` where there is none. */
export async function findGit({ signal }: Pick<GitOptions, "signal"> = {}): Promise<string> {
  const said = await git("/", ["--version"], signal === undefined ? {} : { signal });
  return said.trim().replace(/^git version /, "");
}

/** Rejects with `GitFailed` where the git on this machine is older than what is needed, and says so. */
export async function demandGit(needed: NeedsGit, options: Pick<GitOptions, "signal">): Promise<void> {
  const version = await findGit(options);
  if (!isOlder(version, needed)) return;
  throw new GitFailed(
    `${needed.what} needs git ${needed.major}.${needed.minor} or later, and this runner has ${version}`,
  );
}

/** What a runner says at its start of the git that it found: which one, and what that one cannot do. */
export async function describeGit(): Promise<readonly string[]> {
  try {
    const version = await findGit();
    const missing = NEEDS.filter((needed) => isOlder(version, needed));
    const warnings = missing.map(
      ({ what, major, minor }) =>
        `git ${version} is too old for ${what}, which needs ${major}.${minor} or later: such runs fail`,
    );
    return [`git ${version}`, ...warnings];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [`git is not found here, and every run with a checkout fails: ${why}`];
  }
}

/** False for a version that cannot be read: it is tried. */
function isOlder(version: string, { major, minor }: NeedsGit): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (first === undefined || second === undefined) return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
