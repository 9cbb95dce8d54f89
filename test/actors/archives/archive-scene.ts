import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHUNK_BYTES, chainDigest, NO_CHUNKS, type Pack } from "../../../actors/archives/pack.js";

/** A commit of a new git repository, and a git pack that contains the commit and its tree. */
export interface MadePack {
  readonly commit: string;
  /** The parent of the commit. The pack does not contain it. */
  readonly parent: string;
  readonly bytes: Buffer;
}

/** Makes a repository with two commits. The second commit has these files, and is packed as a runner packs a commit. */
export function makeCommit(files: Readonly<Record<string, string | Buffer>>): MadePack {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-pack-"));
  const run = (input: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
      cwd: folder,
      input,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["pipe", "pipe", "ignore"],
    });
  try {
    run("", "init", "--quiet");
    run("", "commit", "--quiet", "--allow-empty", "-m", "Begin");
    const parent = run("", "rev-parse", "HEAD").toString().trim();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    run("", "add", ".");
    run("", "commit", "--quiet", "-m", "Add");
    const commit = run("", "rev-parse", "HEAD").toString().trim();
    const bytes = run(`--shallow ${commit}\n${commit}\n`, "pack-objects", "--revs", "--stdout", "--quiet");
    return { commit, parent, bytes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Splits a pack into chunks. */
export function listChunks(bytes: Buffer): readonly Buffer[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES));
}

/** Returns a pack's size and digest, which a runner sends to offer the pack. */
export function toPack(bytes: Buffer): Pack {
  return { bytes: bytes.length, digest: listChunks(bytes).reduce<string>(chainDigest, NO_CHUNKS) };
}
