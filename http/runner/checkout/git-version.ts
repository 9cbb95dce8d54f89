import { GitFailed, type GitOptions, git } from "./git.js";

/** A feature of the runner, and the minimum git version for it. */
export interface NeedsGit {
  /** A noun phrase that names the feature. */
  readonly what: string;
  readonly major: number;
  readonly minor: number;
}

/** The first release with `fetch --no-write-fetch-head`. */
const FETCHING: NeedsGit = { what: "checking out repositories", major: 2, minor: 29 };
/** The first release with `merge-tree --write-tree`. */
export const MERGING: NeedsGit = { what: "merging branches", major: 2, minor: 38 };

const NEEDS = [FETCHING, MERGING];

/** Returns the git version on this machine. Rejects with `GitFailed` if there is no git. */
export async function findGit({ signal }: Pick<GitOptions, "signal"> = {}): Promise<string> {
  const output = await git("/", ["--version"], signal === undefined ? {} : { signal });
  return output.trim().replace(/^git version /, "");
}

/** Rejects with `GitFailed` if the git on this machine is older than required. The message names both versions. */
export async function demandGit(needed: NeedsGit, options: Pick<GitOptions, "signal">): Promise<void> {
  const version = await findGit(options);
  if (!isOlder(version, needed)) return;
  throw new GitFailed(
    `${needed.what} needs git ${needed.major}.${needed.minor} or later, and this runner has ${version}`,
  );
}

/** The lines that the runner logs about git at its start: the version, and the features that this version lacks. */
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
    return [`cannot find git; every run with a checkout fails: ${why}`];
  }
}

/** Returns false for a version that it cannot parse, so that the runner still tries to use that git. */
function isOlder(version: string, { major, minor }: NeedsGit): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (first === undefined || second === undefined) return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
