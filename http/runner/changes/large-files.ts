import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { gitBytes } from "../checkout/git.js";
import type { Candidates } from "./inspect.js";
import {
  type Entry,
  gitAt,
  type LeftOut,
  listRecords,
  type Place,
  pathIn,
  READ_ONLY,
  readSmallFile,
  toRecords,
} from "./place.js";

/** Maximum size of a Git LFS pointer, in bytes. The specification says less than 1,024. */
const MAX_POINTER_BYTES = 1_023;
const LFS_CONTENT = "Git LFS tracks it, and runs do not send LFS content";

/** The result for files that Git LFS manages. */
export interface LargeFiles {
  /** The entries of files that hold the content of a known pointer, or content that is stored already. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Finds the files under the Git LFS filter that hold content instead of a pointer. The runner has no LFS server to
 * which it could upload the content. A commit of the content in place of its pointer would break the file for everyone.
 */
export async function findLargeFiles(place: Place, candidates: Candidates): Promise<LargeFiles> {
  const filtered = await listFiltered(place, [...candidates.keys()]);
  const contents: string[] = [];
  for (const path of filtered) {
    const small = await readSmallFile(pathIn(place, path), MAX_POINTER_BYTES);
    if (small === null || (small.length > 0 && toKey(small) === null)) contents.push(path);
  }
  const entries = new Map<string, Entry>();
  const leftOut: LeftOut[] = [];
  if (contents.length === 0) return { entries, leftOut };
  const known = await listPointers(place, candidates);
  const stored = new Set([...place.laidOut.values()].map(({ oid }) => oid));
  for (const path of contents) {
    const { begun = null, mode } = candidates.get(path) ?? {};
    const keys = await readKeys(place, pathIn(place, path)).catch(() => null);
    const pointer = keys === null ? undefined : known.get(keys.content);
    // The repository itself stores the same content at another path, so refer to the stored object.
    const moved = keys !== null && stored.has(keys.blob) ? keys.blob : undefined;
    const own = begun !== null && pointer?.includes(begun.oid) === true ? begun.oid : undefined;
    const oid = own ?? pointer?.[0] ?? moved;
    if (oid !== undefined && mode !== undefined) entries.set(path, { mode, oid });
    else leftOut.push({ path, why: LFS_CONTENT });
  }
  return { entries, leftOut };
}

/** Filters the paths to those that the folder's attributes assign to Git LFS. */
async function listFiltered(place: Place, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const text = await gitAt(place, ["check-attr", "--stdin", "-z", "filter"], { input: toRecords(paths) });
  const records = listRecords(text);
  return records.flatMap((path, at) => (at % 3 === 0 && records[at + 2] === "lfs" ? [path] : []));
}

/**
 * Returns the pointers that the folder started with. The result maps the key of each content to the object ids of the
 * pointers to it.
 */
async function listPointers(place: Place, candidates: Candidates): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = place.laidOut;
  const filtered = await listFiltered(place, [...all.keys()]);
  const paths = new Set([...filtered, ...candidates.keys()]);
  const files = [...paths].flatMap((path) => all.get(path) ?? []).filter(({ mode }) => mode.startsWith("100"));
  const ids = [...new Set(files.map(({ oid }) => oid))];
  const known = new Map<string, string[]>();
  for (const [oid, content] of await readBlobs(place, ids)) {
    const key = toKey(content);
    if (key !== null) known.set(key, [...(known.get(key) ?? []), oid]);
  }
  return known;
}

/** Reads the objects that are small enough to be a pointer. */
async function readBlobs(place: Place, oids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const input = (ids: readonly string[]) => Buffer.from(ids.map((id) => `${id}\n`).join(""));
  const sizes = await gitAt(place, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], { input: input(oids) });
  const small = sizes.split("\n").flatMap((line) => {
    const [oid = "", size = ""] = line.split(" ");
    return oid !== "" && Number(size) <= MAX_POINTER_BYTES ? [{ oid, bytes: Number(size) }] : [];
  });
  const env = { GIT_DIR: place.gitDir };
  const args = ["cat-file", "--batch=%(objectname)"];
  const text = await gitBytes(place.gitDir, args, {
    env,
    signal: place.signal,
    input: input(small.map(({ oid }) => oid)),
    maxBytes: small.length * (MAX_POINTER_BYTES + 100),
  });
  const found = new Map<string, Buffer>();
  let at = 0;
  for (const { oid, bytes } of small) {
    at += oid.length + 1;
    found.set(oid, text.subarray(at, at + bytes));
    at += bytes + 1;
  }
  return found;
}

/** Returns the digest and size in a Git LFS pointer, as a key. Returns null for other text. */
function toKey(content: Buffer): string | null {
  const text = content.toString("utf8");
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n/.test(text)) return null;
  const [, digest] = /^oid sha256:([0-9a-f]{64})$/m.exec(text) ?? [];
  const [, size] = /^size (\d+)$/m.exec(text) ?? [];
  return digest === undefined || size === undefined ? null : `${digest} ${size}`;
}

/** Digests of a file's content: the key of a pointer to it, and its object id if git stores it unconverted. */
async function readKeys({ laidOut }: Place, path: Buffer): Promise<{ content: string; blob: string }> {
  const [first] = laidOut.values();
  const content = createHash("sha256");
  const blob = createHash(first?.oid.length === 64 ? "sha256" : "sha1");
  const handle = await open(path, READ_ONLY);
  const { size } = await handle.stat();
  blob.update(`blob ${size}\0`);
  let bytes = 0;
  for await (const chunk of handle.createReadStream()) {
    bytes += chunk.length;
    content.update(chunk);
    blob.update(chunk);
  }
  return { content: `${content.digest("hex")} ${bytes}`, blob: blob.digest("hex") };
}
