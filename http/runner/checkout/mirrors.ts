import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { maskOf } from "../harness/mask.js";
import { GitFailed, git } from "./git.js";

/** `owner/name` as code hosts allow it; neither part leads out of a folder, or is `.git`. */
const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9._-]*\/(?!\.git$)[A-Za-z0-9._-]+$/i;
const FETCH = ["fetch", "--quiet", "--prune", "--update-shallow", "--no-write-fetch-head", "--no-tags", "--"];
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** A commit in a mirror. */
export interface Origin {
  /** The mirror's folder, a bare repository. */
  readonly mirror: string;
  readonly commit: string;
}

/**
 * Bare copies of repositories, kept between runs, one for each repository.
 *
 * 1. Nobody copies from a mirror during a fetch into it.
 * 2. A mirror has branches and tags under their own names, but neither the address of its origin nor a secret.
 * 3. A commit that a mirror has already needs no network.
 */
export class Mirrors {
  readonly #folder: string;
  readonly #gitUrl: string;
  readonly #busy = new Map<string, Promise<unknown>>();

  /** `{name}` in `gitUrl` is replaced by `owner/name`. */
  constructor(options: { readonly workFolder: string; readonly gitUrl: string }) {
    this.#folder = join(options.workFolder, "mirrors");
    this.#gitUrl = options.gitUrl;
  }

  /**
   * Updates the mirror and calls `copy` with the wanted commit (null: the head of the default branch). Rejects with
   * git's error, without the credentials in the address.
   */
  async from<Copied>(
    wanted: { readonly repository: string; readonly base: string | null; readonly signal: AbortSignal },
    copy: (origin: Origin) => Promise<Copied>,
  ): Promise<Copied> {
    const { repository, base, signal } = wanted;
    if (!REPOSITORY.test(repository) || repository.includes("..")) {
      throw new GitFailed(`${repository} is no repository's owner/name`);
    }
    if (base !== null && !COMMIT.test(base)) throw new GitFailed(`${base} is no commit`);
    const url = this.#gitUrl.replaceAll("{name}", repository);
    return this.#alone(wanted, async () => {
      try {
        const mirror = await this.#made(repository);
        return await copy({ mirror, commit: await bring(mirror, url, base, signal) });
      } catch (error) {
        throw error instanceof GitFailed ? new GitFailed(withoutCredentials(error.message, url)) : error;
      }
    });
  }

  /** Removes the lock files of a killed git. Call it only while no run is active. */
  async unlock(): Promise<void> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const locks = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".lock"));
    await Promise.all(locks.map((entry) => rm(join(entry.parentPath, entry.name), { force: true })));
  }

  async #made(repository: string): Promise<string> {
    const mirror = join(this.#folder, `${repository}.git`);
    await mkdir(mirror, { recursive: true });
    // Does not change an existing mirror, and completes an interrupted one.
    await git(mirror, ["init", "--quiet", "--bare", "--template=", "."]);
    // What an agent pushes into it is refused: later runs begin from its branches.
    await git(mirror, ["config", "receive.hideRefs", "refs"]);
    return mirror;
  }

  /**
   * Runs `work` with exclusive use of a repository's mirror. Rejects at once when `signal` is aborted while waiting.
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
    const ended = () => new GitFailed("it was ended");
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

async function bring(mirror: string, url: string, base: string | null, signal: AbortSignal): Promise<string> {
  const isThere = (commit: string) =>
    git(mirror, ["cat-file", "-e", `${commit}^{commit}`], { signal }).then(
      () => true,
      () => false,
    );
  const fetch = (...refs: readonly string[]) => git(mirror, [...FETCH, url, ...refs], { signal });
  const commit = base ?? (await headOf(mirror, url, signal));
  if (await isThere(commit)) return commit;
  await fetch("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*");
  if (await isThere(commit)) return commit;
  // On no branch: a detached head, or a commit that is no longer on its branch.
  await fetch(`+${commit}:refs/runner/${commit}`).catch((error: unknown) => {
    throw new GitFailed(`the commit ${commit} is not in the repository (${String(error)})`);
  });
  return commit;
}

/** The commit at the head of the default branch. */
async function headOf(mirror: string, url: string, signal: AbortSignal): Promise<string> {
  const listed = await git(mirror, ["ls-remote", "--quiet", "--", url, "HEAD"], { signal });
  const commit = listed.split("\t")[0] ?? "";
  if (!COMMIT.test(commit)) throw new GitFailed("the repository has no default branch with a commit");
  return commit;
}

/**
 * The secrets in an address: user and password together, and the password alone, as written and decoded. In an http
 * address a user without a password is a token.
 */
export function credentialsOf(url: string): readonly string[] {
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
  const credentials = credentialsOf(url);
  const [userinfo] = credentials;
  return maskOf(credentials)(userinfo === undefined ? text : text.replaceAll(`${userinfo}@`, "***@"));
}
