import { type FileHandle, lstat, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { gitAt, type Place, pathIn, READ_ONLY, toRecords } from "./place.js";

/** How many bytes of each file to compare at once. */
const PART_BYTES = 64 * 1024;

/**
 * Finds the files whose bytes are still those that the runner checked out. Git itself compares what it would store.
 * That can differ without a change to the file, if the stored bytes do not follow the path's attributes.
 */
export async function findAsLaidOut(place: Place, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const folder = join(place.scratch, "laid-out");
  await mkdir(folder, { recursive: true });
  try {
    // Git reads the attributes only from the index here, as it did at the checkout.
    const options = { folder, env: { GIT_INDEX_FILE: place.begun }, input: toRecords(paths) };
    await gitAt(place, ["checkout-index", "--force", "--quiet", "-z", "--stdin"], options);
    const same = new Set<string>();
    for (const path of paths) if (await isSame(pathIn(place, path), pathIn({ folder }, path))) same.add(path);
    return same;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isSame(left: Buffer, right: Buffer): Promise<boolean> {
  const stats = await Promise.all([lstat(left), lstat(right)]).catch(() => null);
  const [one, other] = stats ?? [];
  if (one?.isFile() !== true || other?.isFile() !== true || one.size !== other.size) return false;
  const files: FileHandle[] = [];
  try {
    for (const path of [left, right]) files.push(await open(path, READ_ONLY));
    const [first, second] = files;
    return first !== undefined && second !== undefined && (await hasSameBytes(first, second));
  } catch {
    return false;
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

async function hasSameBytes(left: FileHandle, right: FileHandle): Promise<boolean> {
  const parts = [Buffer.alloc(PART_BYTES), Buffer.alloc(PART_BYTES)] as const;
  for (let at = 0; ; ) {
    const [one, other] = await Promise.all([
      left.read(parts[0], 0, PART_BYTES, at),
      right.read(parts[1], 0, PART_BYTES, at),
    ]);
    if (one.bytesRead !== other.bytesRead) return false;
    if (one.bytesRead === 0) return true;
    if (parts[0].compare(parts[1], 0, one.bytesRead, 0, one.bytesRead) !== 0) return false;
    at += one.bytesRead;
  }
}
