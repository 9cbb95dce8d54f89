import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { gitBytes } from "../checkout/git.js";
import type { Candidates } from "./inspect.js";
import {
  type Entry,
  gitAt,
  type LeftOut,
  type Place,
  pathIn,
  READ_ONLY,
  readSmallFile,
  recordsOf,
  toRecords,
} from "./place.js";

/** Longest pointer of Git LFS, in bytes (its specification: less than 1,024). */
const MAX_POINTER_BYTES = 1_023;
const LFS_CONTENT = "Git LFS is to keep its content, which a run sends nowhere";

/** What becomes of the files whose content Git LFS keeps. */
export interface LargeFiles {
  /** Files that hold the content of a pointer: they stay, or become, that pointer. */
  readonly pointers: ReadonlyMap<string, Entry>;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Finds the files that are under the filter of Git LFS, and hold something else than a pointer. The runner has no LFS
 * server to send it to, and in its pointer's place it would break the file for everybody.
 */
export async function findLargeFiles(place: Place, candidates: Candidates): Promise<LargeFiles> {
  const filtered = await listFiltered(place, [...candidates.keys()]);
  const contents: string[] = [];
  for (const path of filtered) {
    const small = await readSmallFile(pathIn(place, path), MAX_POINTER_BYTES);
    if (small === null || (small.length > 0 && toKey(small) === null)) contents.push(path);
  }
  const pointers = new Map<string, Entry>();
  const leftOut: LeftOut[] = [];
  if (contents.length === 0) return { pointers, leftOut };
  const known = await listPointers(place, candidates);
  for (const path of contents) {
    const key = await keyOf(pathIn(place, path)).catch(() => null);
    const oid = key === null ? undefined : known.get(key);
    const mode = candidates.get(path)?.mode;
    if (oid !== undefined && mode !== undefined) pointers.set(path, { mode, oid });
    else leftOut.push({ path, why: LFS_CONTENT });
  }
  return { pointers, leftOut };
}

/** Those of the paths that the attributes in the folder give to Git LFS. */
async function listFiltered(place: Place, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const text = await gitAt(place, ["check-attr", "--stdin", "-z", "filter"], { input: toRecords(paths) });
  const records = recordsOf(text);
  return records.flatMap((path, at) => (at % 3 === 0 && records[at + 2] === "lfs" ? [path] : []));
}

/** The ids of the pointers that the folder began with, by what they point to. */
async function listPointers(place: Place, candidates: Candidates): Promise<ReadonlyMap<string, string>> {
  const all = place.laidOut;
  const filtered = await listFiltered(place, [...all.keys()]);
  const paths = new Set([...filtered, ...candidates.keys()]);
  const entries = [...paths].flatMap((path) => all.get(path) ?? []).filter(({ mode }) => mode.startsWith("100"));
  const ids = [...new Set(entries.map(({ oid }) => oid))];
  const known = new Map<string, string>();
  for (const [oid, content] of await readBlobs(place, ids)) {
    const key = toKey(content);
    if (key !== null) known.set(key, oid);
  }
  return known;
}

/** The contents of objects that are no longer than a pointer. */
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
    ...{ env, signal: place.signal, input: input(small.map(({ oid }) => oid)) },
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

/** What a pointer of Git LFS points to; null for text that is none. */
function toKey(content: Buffer): string | null {
  const text = content.toString("utf8");
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n/.test(text)) return null;
  const [, digest] = /^oid sha256:([0-9a-f]{64})$/m.exec(text) ?? [];
  const [, size] = /^size (\d+)$/m.exec(text) ?? [];
  return digest === undefined || size === undefined ? null : `${digest} ${size}`;
}

/** The same of a file's content. */
async function keyOf(path: Buffer): Promise<string> {
  const hash = createHash("sha256");
  const handle = await open(path, READ_ONLY);
  let bytes = 0;
  for await (const chunk of handle.createReadStream()) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  return `${hash.digest("hex")} ${bytes}`;
}
