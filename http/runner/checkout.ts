import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../../actors/runners/protocol.js";
import { git } from "./git.js";

export interface Checkout {
  readonly repository: string;
  /** Where its files lie. */
  readonly folder: string;
  /** The commit that its diff is against. */
  readonly base: string;
}

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Lays out checkouts from mirrors that are kept between runs, one a repository. */
export class Checkouts {
  readonly #mirrors: string;
  readonly #gitUrl: string;
  readonly #busy = new Map<string, Promise<unknown>>();

  /** `gitUrl` holds `{name}` where `owner/name` belongs. */
  constructor(options: { readonly workFolder: string; readonly gitUrl: string }) {
    this.#mirrors = join(options.workFolder, "mirrors");
    this.#gitUrl = options.gitUrl;
  }

  /**
   * Lays out a repository in `folder` at the wanted base (or the head of its default branch) with what the task has
   * changed so far. Rejects with what git said.
   */
  async layOut(wanted: Job["checkouts"][number], folder: string): Promise<Checkout> {
    const { repository, base, diff } = wanted;
    if (!REPOSITORY.test(repository) || repository.includes(".."))
      throw new Error(`${repository} is no repository name`);
    const mirror = await this.#mirror(repository, base);
    await mkdir(dirname(folder), { recursive: true });
    await git(dirname(folder), ["clone", "--quiet", "--no-checkout", "--", mirror, folder]);
    await git(folder, ["checkout", "--quiet", "--detach", base ?? "HEAD"]);
    const at = (await git(folder, ["rev-parse", "HEAD"])).trim();
    if (diff !== "") await git(folder, ["apply", "--index", "--binary", "--whitespace=nowarn", "-"], diff);
    return { repository, folder, base: at };
  }

  /** Brings the mirror up to date; one at a time for a repository. A commit that is there already needs no network. */
  #mirror(repository: string, base: string | null): Promise<string> {
    const before = this.#busy.get(repository) ?? Promise.resolve();
    const fetched = before.catch(() => undefined).then(() => this.#fetch(repository, base));
    this.#busy.set(repository, fetched);
    return fetched;
  }

  async #fetch(repository: string, base: string | null): Promise<string> {
    const mirror = join(this.#mirrors, `${repository}.git`);
    if (!existsSync(mirror)) {
      await mkdir(dirname(mirror), { recursive: true });
      const partial = `${mirror}.partial`;
      await rm(partial, { recursive: true, force: true });
      const url = this.#gitUrl.replaceAll("{name}", repository);
      await git(dirname(mirror), ["clone", "--quiet", "--mirror", "--", url, partial]);
      await rename(partial, mirror);
      return mirror;
    }
    const isThere = base !== null && (await git(mirror, ["cat-file", "-e", `${base}^{commit}`]).then(yes, no));
    if (!isThere) await git(mirror, ["fetch", "--quiet", "--prune", "origin"]);
    return mirror;
  }
}

/** Everything changed since the base, untracked files included, as a git diff. Nothing is committed or pushed. */
export async function changesOf(checkout: Checkout): Promise<string> {
  await git(checkout.folder, ["add", "--all"]);
  const against = ["diff", "--cached", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", checkout.base];
  return git(checkout.folder, against);
}

const yes = () => true;
const no = () => false;
