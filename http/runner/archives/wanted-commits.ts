import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceFrame } from "../../../actors/runners/protocol.js";
import { GitFailed, git } from "../checkout/git.js";
import { fetchBranches, hasCommit, type MirrorPlace, type Mirrors, obtainCommit } from "../checkout/mirrors.js";
import { errorMessage } from "../job-failed.js";
import { type ArchiveClient, ArchiveRefused } from "./archive-client.js";
import { makePack, readChunks } from "./make-pack.js";

/** A commit that the service looks for. */
export type WantedCommit = Extract<ServiceFrame, { frame: "wanted" }>["commits"][number];

export interface WantedCommitsOptions {
  readonly workFolder: string;
  readonly mirrors: Mirrors;
  readonly client: Pick<ArchiveClient, "take" | "report" | "offer" | "put">;
  readonly log: (line: string) => void;
  /** Maximum size of a pack, in bytes. Defaults to the protocol's limit. */
  readonly maxBytes?: number;
}

/** Maximum number of queued commits. The runner ignores further requests; the service sends them again later. */
const MAX_WAITING = 1_000;

/** The result of the search for a commit when the runner sends no pack. */
type Found = "on-branch" | "missing" | "too-large";

/**
 * Looks for the commits that replay sets need, one at a time. If no branch of the repository holds a commit, sends a
 * pack of the commit to the service. The runner must have the commit or be able to fetch it.
 */
export class WantedCommits {
  readonly #options: WantedCommitsOptions;
  readonly #waiting = new Map<string, WantedCommit>();
  readonly #ended = new AbortController();
  #work: Promise<void> | null = null;

  constructor(options: WantedCommitsOptions) {
    this.#options = options;
  }

  /** Queues commits to look for. A commit that is already in the queue is not added again. */
  add(wanted: readonly WantedCommit[]): void {
    for (const each of wanted) {
      const before = this.#waiting.get(each.archiveId);
      if (before === undefined && this.#waiting.size >= MAX_WAITING) continue;
      this.#waiting.set(each.archiveId, { ...each, mayFetch: each.mayFetch || before?.mayFetch === true });
    }
    this.#work ??= this.#lookForAll().finally(() => {
      this.#work = null;
    });
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** Aborts the current work and clears the queue. Resolves when the work has ended. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#waiting.clear();
    await this.#work;
  }

  async #lookForAll(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.values();
      if (next === undefined) return;
      this.#waiting.delete(next.archiveId);
      const of = `the commit ${next.commit} of ${next.repository}`;
      await this.#lookFor(next).catch((error: unknown) => {
        if (!this.#ended.signal.aborted) this.#options.log(`${of} was not stored: ${errorMessage(error)}`);
      });
    }
  }

  async #lookFor(wanted: WantedCommit): Promise<void> {
    const { client, workFolder, log } = this.#options;
    const { signal } = this.#ended;
    const { archiveId, repository, commit } = wanted;
    if (!wanted.mayFetch && !(await this.#has(wanted))) return;
    try {
      await client.take(archiveId, signal);
    } catch (error) {
      // Stop here: another runner has claimed the commit, or no replay set needs it any more.
      if (error instanceof ArchiveRefused) return;
      throw error;
    }
    const folder = join(workFolder, "archives");
    const file = join(folder, `${archiveId.replace(/[^A-Za-z0-9_]/g, "")}.sending`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const found = await this.#find(wanted, file).catch(async (error: unknown) => {
        await client.report(archiveId, "missing", signal);
        throw error;
      });
      if (typeof found === "string") return await client.report(archiveId, found, signal);
      let received = await client.offer(archiveId, found, signal);
      for await (const chunk of readChunks(file, received)) {
        received = await client.put(archiveId, received, chunk, signal);
      }
      log(`the service stored the commit ${commit} of ${repository}`);
    } finally {
      await rm(file, { force: true });
    }
  }

  async #has({ repository, commit }: WantedCommit): Promise<boolean> {
    const { mirrors } = this.#options;
    const { signal } = this.#ended;
    if (!(await mirrors.list()).includes(repository)) return false;
    return mirrors.within({ repository, signal }, ({ mirror }) => hasCommit(mirror, commit, signal));
  }

  /**
   * Writes a pack of the commit to the file and returns the pack's size and digest. If no pack is needed or possible,
   * returns the reason instead.
   */
  #find({ repository, commit }: WantedCommit, file: string): Promise<Found | { bytes: number; digest: string }> {
    const { mirrors, maxBytes } = this.#options;
    const { signal } = this.#ended;
    return mirrors.within({ repository, signal }, async (place) => {
      if (await isOnBranch(place, commit, signal)) return "on-branch";
      const { mirror } = place;
      const isThere = await obtainCommit(place, commit, signal).then(
        () => true,
        () => hasCommit(mirror, commit, signal),
      );
      if (!isThere) return "missing";
      const wish = { mirror, commit, file, signal, ...(maxBytes === undefined ? {} : { maxBytes }) };
      return (await makePack(wish)) ?? "too-large";
    });
  }
}

/**
 * Whether a branch of the repository holds the commit now. Returns false if git fails, for example because the
 * repository is unreachable.
 */
async function isOnBranch(place: MirrorPlace, commit: string, signal: AbortSignal): Promise<boolean> {
  try {
    await fetchBranches(place, signal);
    const list = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit, "refs/heads"];
    return (await git(place.mirror, list, { signal })) !== "";
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
}
