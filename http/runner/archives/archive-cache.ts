import { createWriteStream, existsSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CHUNK_BYTES, chainDigest, countChunks, MAX_PACK_BYTES, NO_CHUNKS } from "../../../actors/archives/pack.js";
import type { JobArchive } from "../../../actors/runners/commit-frames.js";
import { GitFailed, git, gitOutput } from "../checkout/git.js";
import type { ArchiveClient, Claim } from "./archive-client.js";

/** A commit that a run starts from, stored by the service. */
export interface ArchivedCommit {
  readonly archive: JobArchive;
  readonly commit: string;
  readonly claim: Claim;
}

export interface ArchiveCacheOptions {
  readonly workFolder: string;
  readonly client: Pick<ArchiveClient, "get">;
  /** Maximum total size of all packs, in bytes. Above it, the cache removes the least recently used packs. */
  readonly maxBytes?: number;
}

const MAX_CACHE_BYTES = 2 * 1024 ** 3;
const PACK = "archive";

/**
 * Caches packs of commits that their repositories no longer have. The runner fetches packs from the service, verifies
 * them, and keeps them between runs.
 *
 * 1. The runner uses a pack only if its digest equals the digest in the job, and if the pack contains the commit, the
 *    commit's tree and nothing else. Object ids follow from contents, so a false pack never passes for the commit.
 * 2. A checkout hard-links the files of a pack, so the cache can remove the pack at any time.
 */
export class ArchiveCache {
  readonly #options: ArchiveCacheOptions;
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: ArchiveCacheOptions) {
    this.#options = options;
  }

  /**
   * Links the commit's pack into the bare repository `record`, and marks the commit there as having no parents. Rejects
   * with {@link GitFailed} or an error of the client.
   */
  restoreInto(record: string, wanted: ArchivedCommit, signal: AbortSignal): Promise<void> {
    const before = this.#busy.get(wanted.archive.id) ?? Promise.resolve();
    const done = before.catch(() => undefined).then(() => this.#restore(record, wanted, signal));
    this.#busy.set(wanted.archive.id, done);
    return done.finally(() => {
      if (this.#busy.get(wanted.archive.id) === done) this.#busy.delete(wanted.archive.id);
    });
  }

  async #restore(record: string, wanted: ArchivedCommit, signal: AbortSignal): Promise<void> {
    const { archive, commit } = wanted;
    const folder = join(this.#folder, `${archive.id}-${archive.digest}`.replace(/[^A-Za-z0-9_-]/g, ""));
    if (!existsSync(folder)) await this.#fetch(folder, wanted, signal);
    const now = new Date();
    await utimes(folder, now, now);
    const to = join(record, "objects/pack");
    await mkdir(to, { recursive: true });
    for (const end of ["pack", "idx"]) {
      await link(join(folder, `objects/pack/pack-${PACK}.${end}`), join(to, `pack-${PACK}.${end}`));
    }
    await writeFile(join(record, "shallow"), `${commit}\n`);
    await this.#removeOldest();
  }

  get #folder(): string {
    return join(this.#options.workFolder, "archives");
  }

  /** Fetches and verifies a pack in a temporary folder, then renames the folder to its final name. */
  async #fetch(folder: string, wanted: ArchivedCommit, signal: AbortSignal): Promise<void> {
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(join(part, "objects/pack"), { recursive: true, mode: 0o700 });
    try {
      const pack = join(part, `objects/pack/pack-${PACK}.pack`);
      await pipeline(this.#chunks(wanted, signal), createWriteStream(pack, { mode: 0o600 }), { signal });
      await verify(part, wanted.commit, signal).catch((error: unknown) => {
        if (!(error instanceof GitFailed) || signal.aborted) throw error;
        throw new GitFailed(`${falsePack(wanted)} (${error.message})`);
      });
      await rename(part, folder);
    } finally {
      await rm(part, { recursive: true, force: true });
    }
  }

  async *#chunks({ archive, claim }: ArchivedCommit, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { id, bytes, digest } = archive;
    if (bytes > MAX_PACK_BYTES) throw new GitFailed("the stored commit is larger than packs can be");
    let chain = NO_CHUNKS;
    for (let n = 0; n < countChunks(archive); n++) {
      const chunk = await this.#options.client.get(id, n, claim, signal);
      if (chunk.length !== Math.min(CHUNK_BYTES, bytes - n * CHUNK_BYTES)) throw new GitFailed("a chunk is truncated");
      chain = chainDigest(chain, chunk);
      yield chunk;
    }
    if (chain !== digest) throw new GitFailed("the stored commit is damaged: its digest does not match");
  }

  async #removeOldest(): Promise<void> {
    const { maxBytes = MAX_CACHE_BYTES } = this.#options;
    const names = (await readdir(this.#folder)).filter((name) => /^arc_\w+-\w+$/.test(name));
    const packs = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        const [folder, pack] = await Promise.all([stat(path), stat(join(path, `objects/pack/pack-${PACK}.pack`))]);
        return { path, usedMs: folder.mtimeMs, bytes: pack.size };
      }),
    );
    let bytes = 0;
    for (const pack of packs.sort((left, right) => right.usedMs - left.usedMs)) {
      bytes += pack.bytes;
      if (bytes > maxBytes) await rm(pack.path, { recursive: true, force: true });
    }
  }
}

/** Returns the error message for a false pack, with a remedy. */
function falsePack({ commit }: ArchivedCommit): string {
  const again = "remove its runs from their replay sets and add them again, so that runners look for it once more";
  return `the pack that a runner sent for the commit ${commit} does not contain the commit: ${again}`;
}

/** Rejects with {@link GitFailed} unless the pack in the folder holds the commit, its tree, and nothing else. */
async function verify(folder: string, commit: string, signal: AbortSignal): Promise<void> {
  const limited = { signal, isLimited: true, env: { GIT_DIR: folder } };
  const format = commit.length === 64 ? ["--object-format=sha256"] : [];
  await git(folder, ["init", "--quiet", "--bare", "--template=", ...format, "."], { signal });
  await writeFile(join(folder, "shallow"), `${commit}\n`);
  await git(folder, ["index-pack", "--threads=1", `objects/pack/pack-${PACK}.pack`], limited);
  await git(folder, ["cat-file", "-e", `${commit}^{commit}`], limited);
  const needed = await countLines(folder, ["rev-list", "--objects", "--no-walk", commit], limited);
  const counted = await git(folder, ["count-objects", "-v"], limited);
  const received = Number(/^in-pack: (\d+)$/m.exec(counted)?.[1]);
  if (received !== needed) throw new GitFailed("the stored pack contains other objects than the commit's");
}

async function countLines(folder: string, args: readonly string[], options: Parameters<typeof gitOutput>[2]) {
  let lines = 0;
  await gitOutput(folder, args, { ...options, maxBytes: Number.MAX_SAFE_INTEGER }, (chunk) => {
    for (const byte of chunk) if (byte === 10) lines += 1;
  });
  return lines;
}
