import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import type { Entry, LeftOut, Place } from "./place.js";
import { pathIn } from "./place.js";

/** A file or link that may have changed. */
export interface Candidate {
  /** What its path began with; null for a new one. */
  readonly begun: Entry | null;
  /** Its mode now, as git has it. */
  readonly mode: "100644" | "100755" | "120000";
  /** Its size, in bytes. */
  readonly bytes: number;
}

/** By path. */
export type Candidates = ReadonlyMap<string, Candidate>;

export interface Inspected {
  readonly candidates: Candidates;
  /** Paths that hold nothing any more. */
  readonly gone: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Longest file that is read, in bytes; git reads longer ones no more to compare them (`core.bigFileThreshold`). */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** Paths that are looked at at once. */
const AT_ONCE = 64;

const SPECIAL = "it is neither a file nor a link";

/** Looks at what stands at each path, without reading it: what git could not read, or would wait for, is left out. */
export async function inspect(place: Place, paths: ReadonlyMap<string, Entry | null>): Promise<Inspected> {
  const candidates = new Map<string, Candidate>();
  const gone: string[] = [];
  const leftOut: LeftOut[] = [];
  const all = [...paths];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    const found = await Promise.all(some.map(([path, begun]) => look(pathIn(place, path), begun)));
    for (const [index, [path]] of some.entries()) {
      const one = found[index] ?? null;
      if (one === null) gone.push(path);
      else if (typeof one === "string") leftOut.push({ path, why: one });
      else candidates.set(path, one);
    }
  }
  return { candidates, gone, leftOut };
}

/** Null for nothing; a text says why it cannot be taken. */
async function look(path: Buffer, begun: Entry | null): Promise<Candidate | string | null> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return { begun, mode: "120000", bytes: found.size };
    // A new folder has been listed by its files.
    if (found.isDirectory()) return null;
    if (!found.isFile()) return SPECIAL;
    await access(path, constants.R_OK);
    return { begun, mode: (found.mode & 0o100) === 0 ? "100644" : "100755", bytes: found.size };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    return `it could not be read (${REASONS[code] ?? code})`;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its path leads through too many links",
};
