import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { toMask } from "../harness/mask.js";
import { GitFailed, git } from "./git.js";
import { CommitHolds, retainCommit, retainedRef } from "./retained-commits.js";

/**
 * `owner/name`, in the characters that code hosts allow. The name is not `.git`. {@link Mirrors} refuses `..`
 * separately.
 */
const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9._-]*\/(?!\.git$)[A-Za-z0-9._-]+$/i;
const FETCH = ["fetch", "--quiet", "--prune", "--update-shallow", "--no-write-fetch-head", "--no-tags", "--"];
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** A commit in a mirror. */
export interface Origin {
  /** The mirror's folder, a bare repository. */
  readonly mirror: string;
  readonly commit: string;
  /**
   * The branch that has the commit as its head; null if the commit is the wanted base or the head of the default
   * branch.
   */
  readonly branch: string | null;
  /** The branch to merge in, with its commit; null for none. */
  readonly merges: { readonly branch: string; readonly commit: string } | null;
}

/** The start of a checkout, as the job requests it. */
interface WantedOrigin {
  readonly repository: string;
  readonly base: string | null;
  /** A branch name, or `refs/pull/<n>/head`; null or absent for none. */
  readonly branch?: string | null;
  readonly merges?: { readonly branch: string; readonly commit: string | null } | null;
  readonly signal: AbortSignal;
}

/** A repository's mirror, and the address that it copies. */
export interface MirrorPlace {
  readonly mirror: string;
  /** The address, including its credentials: never log or report it. */
  readonly url: string;
}

/**
 * Bare copies of repositories, one for each repository. The runner keeps them between runs.
 *
 * 1. Nothing copies from a mirror while git fetches into it.
 * 2. A mirror has branches and tags under their own names, but neither its origin's address nor a secret.
 * 3. The runner needs no network for a base that the mirror already has.
 * 4. A commit that a run started from stays in the mirror, even if its branch is gone, until the runner releases it
 * (`retained-commits.ts`).
 */
export class Mirrors {
  readonly #folder: string;
  readonly #gitUrl: string;
  readonly #busy = new Map<string, Promise<unknown>>();
  /** The commits that active runs started from. */
  readonly held = new CommitHolds();

  /** Each repository's address is `gitUrl` with `{name}` replaced by `owner/name`. */
  constructor(options: { readonly workFolder: string; readonly gitUrl: string }) {
    this.#folder = join(options.workFolder, "mirrors");
    this.#gitUrl = options.gitUrl;
  }

  /**
   * Fetches the wanted commit if the mirror lacks it, and calls `copy` with the commit. The wanted commit is:
   *
   * - the head of the wanted branch, if the branch exists
   * - otherwise the base, if there is one
   * - otherwise the head of the default branch
   *
   * Rejects if a wanted `refs/…` does not exist. Protects the commit in the mirror, and holds it until `held.letGo`.
   * Rejects with git's error, without the address's credentials, and then holds nothing.
   */
  async from<Copied>(wanted: WantedOrigin, copy: (origin: Origin) => Promise<Copied>): Promise<Copied> {
    const { repository, base, signal, branch = null } = wanted;
    if (base !== null && !COMMIT.test(base)) throw new GitFailed(`${base} is no commit`);
    return this.within(wanted, async ({ mirror, url }) => {
      const place = { mirror, url };
      const head = branch === null ? null : await bringHead(place, branch, signal);
      if (head === null && branch?.startsWith("refs/")) throw new GitFailed(`there is no ${branch}`);
      const commit = head ?? (await bring(place, base, signal));
      const merges = await bringMerge(place, wanted.merges ?? null, signal);
      await retainCommit(mirror, commit, signal);
      if (merges !== null) await retainCommit(mirror, merges.commit, signal);
      this.held.hold({ repository, commit });
      return copy({ mirror, commit, branch: head === null ? null : branch, merges }).catch((error: unknown) => {
        this.held.letGo({ repository, commit });
        throw error;
      });
    });
  }

  /**
   * Calls `work` with exclusive use of a repository's mirror, which may be empty. Rejects like {@link Mirrors.from}.
   */
  async within<Done>(
    of: { readonly repository: string; readonly signal: AbortSignal },
    work: (place: MirrorPlace) => Promise<Done>,
  ): Promise<Done> {
    const { repository } = of;
    if (!REPOSITORY.test(repository) || repository.includes("..")) {
      throw new GitFailed(`${repository} is no repository's owner/name`);
    }
    const url = this.#gitUrl.replaceAll("{name}", repository);
    return this.#alone(of, async () => {
      try {
        return await work({ mirror: await this.#made(repository), url });
      } catch (error) {
        throw error instanceof GitFailed ? new GitFailed(withoutCredentials(error.message, url)) : error;
      }
    });
  }

  /** Lists the repositories that have a mirror, in order. */
  async list(): Promise<readonly string[]> {
    const owners = await readdir(this.#folder).catch(() => []);
    const names = owners.map(async (owner) => {
      const found = await readdir(join(this.#folder, owner)).catch(() => []);
      return found.filter((name) => name.endsWith(".git")).map((name) => `${owner}/${name.slice(0, -4)}`);
    });
    return (await Promise.all(names)).flat().sort();
  }

  /** Removes the lock files of a killed git. Call it only while no run is active. */
  async unlock(): Promise<void> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const locks = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".lock"));
    await Promise.all(locks.map((entry) => rm(join(entry.parentPath, entry.name), { force: true })));
  }

  async #made(repository: string): Promise<string> {
    const mirror = join(this.#folder, `${repository}.git`);
    const config = await readFile(join(mirror, "config"), "utf8").catch(() => "");
    if (config.includes("hideRefs = refs")) return mirror;
    await mkdir(mirror, { recursive: true });
    // Complete a mirror whose creation was interrupted.
    await git(mirror, ["init", "--quiet", "--bare", "--template=", "."]);
    // Set this last, because it marks the mirror as complete. The setting also makes the mirror reject an agent's
    // pushes, because later runs start from the mirror's branches.
    await git(mirror, ["config", "receive.hideRefs", "refs"]);
    return mirror;
  }

  /**
   * Runs `work` with exclusive use of a repository's mirror. Rejects at once if `signal` is aborted before `work`
   * starts.
   */
  async #alone<Done>(
    { repository, signal }: { readonly repository: string; readonly signal: AbortSignal },
    work: () => Promise<Done>,
  ): Promise<Done> {
    const before = this.#busy.get(repository) ?? Promise.resolve();
    const turn = before.then(
      () => !signal.aborted,
      () => !signal.aborted,
    );
    const ended = () => new GitFailed("it was aborted");
    const done = turn.then((isWanted) => {
      if (!isWanted) throw ended();
      return work();
    });
    this.#busy.set(repository, done);
    let giveUp = () => {};
    const isAborted = new Promise<false>((resolve) => {
      giveUp = () => resolve(false);
      signal.addEventListener("abort", giveUp, { once: true });
    });
    const mayGoOn = await Promise.race([turn, isAborted]);
    signal.removeEventListener("abort", giveUp);
    if (mayGoOn) return done;
    done.catch(() => undefined);
    throw ended();
  }
}

async function bring({ mirror, url }: MirrorPlace, base: string | null, signal: AbortSignal): Promise<string> {
  const commit = base ?? (await readHead(mirror, url, signal));
  if (await hasCommit(mirror, commit, signal)) return commit;
  await fetchBranches({ mirror, url }, signal);
  await obtainCommit({ mirror, url }, commit, signal);
  return commit;
}

/** Fetches the current commit at a branch's head. Returns null if the repository has no such branch. */
async function bringHead(place: MirrorPlace, branch: string, signal: AbortSignal): Promise<string | null> {
  const { mirror, url } = place;
  if (branch === "HEAD") return bring(place, null, signal);
  const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
  const listed = await git(mirror, ["ls-remote", "--quiet", "--", url, ref], { signal });
  const line = listed.split("\n").find((one) => one.endsWith(`\t${ref}`));
  const commit = line?.split("\t")[0] ?? "";
  if (!COMMIT.test(commit)) return null;
  if (await hasCommit(mirror, commit, signal)) return commit;
  if (ref.startsWith("refs/heads/")) await fetchBranches(place, signal);
  // The branch head may still be missing: it belongs to a pull request from another repository, or the branch has moved
  // since the fetch. Then fetch the ref itself.
  if (!(await hasCommit(mirror, commit, signal))) {
    await git(mirror, [...FETCH, url, `+${ref}:${retainedRef(commit)}`], { signal });
  }
  await obtainCommit(place, commit, signal);
  return commit;
}

/**
 * Fetches the commit to merge in: the commit that the job names, or else the branch's head. Returns null if there is
 * nothing to merge. Rejects with `GitFailed` if there is no such branch.
 */
async function bringMerge(
  place: MirrorPlace,
  merges: (WantedOrigin["merges"] & {}) | null,
  signal: AbortSignal,
): Promise<Origin["merges"]> {
  if (merges === null) return null;
  const { branch, commit: known } = merges;
  const commit = known === null ? await bringHead(place, branch, signal) : await bring(place, known, signal);
  if (commit === null) throw new GitFailed(`there is no branch ${branch}`);
  return { branch, commit };
}

/**
 * Fetches a commit by its id, if the mirror lacks it. Use it for a commit on no branch, such as a detached head or a
 * commit that left its branch. Rejects with `GitFailed` if the repository does not have the commit.
 */
export async function obtainCommit({ mirror, url }: MirrorPlace, commit: string, signal: AbortSignal): Promise<void> {
  if (await hasCommit(mirror, commit, signal)) return;
  await git(mirror, [...FETCH, url, `+${commit}:${retainedRef(commit)}`], { signal }).catch((error: unknown) => {
    throw new GitFailed(`the commit ${commit} is not in the repository (${String(error)})`);
  });
}

/** Whether the mirror has the commit. */
export function hasCommit(mirror: string, commit: string, signal: AbortSignal): Promise<boolean> {
  return git(mirror, ["cat-file", "-e", `${commit}^{commit}`], { signal }).then(
    () => true,
    () => false,
  );
}

/**
 * Updates the mirror's branches and tags to those of the repository, and removes those that the repository no longer
 * has.
 */
export async function fetchBranches({ mirror, url }: MirrorPlace, signal: AbortSignal): Promise<void> {
  await git(mirror, [...FETCH, url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"], { signal });
}

/** Returns the commit at the head of the default branch. */
async function readHead(mirror: string, url: string, signal: AbortSignal): Promise<string> {
  const listed = await git(mirror, ["ls-remote", "--quiet", "--", url, "HEAD"], { signal });
  const commit = listed.split("\t")[0] ?? "";
  if (!COMMIT.test(commit)) throw new GitFailed("the repository has no default branch with a commit");
  return commit;
}

/**
 * Lists the secrets in an address: user and password together, the password alone, and the password decoded. In an http
 * address, a user without a password is a token.
 */
export function listCredentials(url: string): readonly string[] {
  const [, scheme = "", userinfo = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)@/i.exec(url) ?? [];
  const isToken = /^https?$/i.test(scheme) && !userinfo.includes(":");
  if (userinfo === "" || !(isToken || userinfo.includes(":"))) return [];
  const password = userinfo.slice(userinfo.indexOf(":") + 1);
  return [userinfo, password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutCredentials(text: string, url: string): string {
  const credentials = listCredentials(url);
  const [userinfo] = credentials;
  return toMask(credentials)(userinfo === undefined ? text : text.replaceAll(`${userinfo}@`, "***@"));
}
