import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { type Entry, isMissing, type LeftOut, type Place, pathIn } from "./place.js";

/** A file or link that may have changed. */
export interface Candidate {
  /** The original entry at the path; null for a new path. */
  readonly begun: Entry | null;
  /** The current mode, as git stores it. */
  readonly mode: "100644" | "100755" | "120000";
  /** The current size, in bytes. */
  readonly bytes: number;
}

/** Candidates by path. */
export type Candidates = ReadonlyMap<string, Candidate>;

export interface Inspected {
  readonly candidates: Candidates;
  /** Paths without a file or link. */
  readonly gone: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Maximum size of a file whose content the runner adds, in bytes. It is the default of git's `core.bigFileThreshold`,
 * above which git does not compare contents.
 */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** How many paths to inspect at once. */
const AT_ONCE = 64;

const SPECIAL = "it is neither a file nor a link";

/**
 * Checks the file type at each path without reading the file. Leaves out files that git could not read or at which git
 * would block.
 */
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

/**
 * Returns the candidate at the path; null if no file or link is there. Returns a text if the runner cannot include the
 * path; the text says why.
 */
async function look(path: Buffer, begun: Entry | null): Promise<Candidate | string | null> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return { begun, mode: "120000", bytes: found.size };
    // Skip a new folder, because its files are listed separately.
    if (found.isDirectory()) return null;
    if (!found.isFile()) return SPECIAL;
    await access(path, constants.R_OK);
    return { begun, mode: (found.mode & 0o100) === 0 ? "100644" : "100755", bytes: found.size };
  } catch (error) {
    if (isMissing(error)) return null;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return `it could not be read (${REASONS[code] ?? code})`;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its path leads through too many links",
};
