import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type GitOptions, gitBytes } from "../checkout/git.js";

/**
 * A folder of files, with the runner's own git directory and index. Git reads the folder with these, not with the
 * folder's own git directory.
 *
 * File names need not be UTF-8. Everywhere in `changes/`, a path is a string with one character for each byte
 * (`latin1`). Use {@link shownPath} for the form that people read.
 */
export interface Place {
  /** A bare git directory. Only the runner writes its configuration, attributes and hooks. */
  readonly gitDir: string;
  readonly folder: string;
  /** The index to fill. */
  readonly index: string;
  /** The index of the files at the checkout. Never written. */
  readonly begun: string;
  /** The entries of `begun`, by path. */
  readonly laidOut: ReadonlyMap<string, Entry>;
  /** A folder for temporary files. */
  readonly scratch: string;
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
}

/** A path whose change is left out, and the reason: a clause that follows a colon. */
export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

/** Mode and object id of a path in an index or a tree. */
export interface Entry {
  readonly mode: string;
  readonly oid: string;
}

/** The mode of a submodule's commit. */
export const GITLINK = "160000";

/** Open flags that follow no link and do not block on a pipe. */
export const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Maximum size of a listing, in bytes. Enough for millions of files. */
const MAX_LISTING_BYTES = 512 * 1024 * 1024;
/** Maximum number of characters of a path to show. */
const SHOWN_CHARACTERS = 200;

/** Runs git on the place. Returns its output, with one character for each byte. */
export async function gitAt(
  place: Omit<Place, "laidOut" | "begun">,
  args: readonly string[],
  more: Omit<GitOptions, "signal" | "maxBytes"> & { readonly folder?: string } = {},
): Promise<string> {
  const { folder = place.folder, env, ...options } = more;
  const at = { GIT_DIR: place.gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: place.index };
  const of = { ...options, env: { ...at, ...env }, signal: place.signal, maxBytes: MAX_LISTING_BYTES };
  return (await gitBytes(folder, args, of)).toString("latin1");
}

/** Splits a text into records. Each record ends with NUL. */
export function listRecords(text: string): string[] {
  return text.split("\0").slice(0, -1);
}

/** Reverses {@link listRecords}: joins records into input for git. */
export function toRecords(records: Iterable<string>): Buffer {
  return Buffer.from([...records].map((record) => `${record}\0`).join(""), "latin1");
}

/** Returns the absolute path, as bytes. */
export function pathIn({ folder }: Pick<Place, "folder">, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);
}

/** Returns the path in readable form: control characters escaped, a long path shortened in the middle. */
export function shownPath(path: string): string {
  const text = Buffer.from(path, "latin1").toString("utf8");
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => JSON.stringify(character).slice(1, -1));
  if (plain.length <= SHOWN_CHARACTERS) return plain;
  return `${plain.slice(0, SHOWN_CHARACTERS / 2)}…${plain.slice(-SHOWN_CHARACTERS / 2)}`;
}

/** Writes entries to the index. A null entry removes its path. */
export async function putEntries(place: Place, entries: ReadonlyMap<string, Entry | null>): Promise<void> {
  const removed = [...entries].flatMap(([path, entry]) => (entry === null ? [path] : []));
  const lines = [...entries].flatMap(([path, entry]) =>
    entry === null ? [] : [`${entry.mode} ${entry.oid}\t${path}`],
  );
  const update = "update-index";
  if (removed.length > 0) {
    await gitAt(place, [update, "--force-remove", "-z", "--stdin"], { input: toRecords(removed) });
  }
  if (lines.length > 0) await gitAt(place, [update, "-z", "--index-info"], { input: toRecords(lines) });
}

/** Lists the entries of an index, by path. */
export async function entriesIn(
  place: Omit<Place, "laidOut" | "begun">,
  index: string,
): Promise<ReadonlyMap<string, Entry>> {
  const listed = await gitAt(place, ["ls-files", "--stage", "-z"], { env: { GIT_INDEX_FILE: index } });
  return entriesFrom(listRecords(listed));
}

/** Parses the records of `ls-files --stage`. */
export function entriesFrom(records: readonly string[]): ReadonlyMap<string, Entry> {
  return new Map(
    records.flatMap((line) => {
      const [, mode = "", oid = "", path = ""] = /^(\d+) ([0-9a-f]+) \d\t([\s\S]*)$/.exec(line) ?? [];
      return path === "" ? [] : [[path, { mode, oid }] as const];
    }),
  );
}

/** Whether one of the folders contains the path. */
export function isInside(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    if (folders.has(path.slice(0, at))) return true;
  }
  return false;
}

/** Returns the original entries at these paths and below them. */
export function originalsAt({ laidOut }: Place, paths: ReadonlySet<string>): ReadonlyMap<string, Entry> {
  return new Map([...laidOut].filter(([path]) => paths.has(path) || isInside(path, paths)));
}

/** Whether a file system error says that nothing is at the path. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Reads a regular file of at most `maxBytes`. Returns null for a link, pipe or folder, and if the file is longer,
 * missing or unreadable.
 */
export async function readSmallFile(path: string | Buffer, maxBytes: number): Promise<Buffer | null> {
  const handle = await open(path, READ_ONLY).catch(() => null);
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    return found.isFile() && found.size <= maxBytes ? await handle.readFile() : null;
  } finally {
    await handle.close();
  }
}

/** Sorts by path, and keeps one item per path. */
export function inOrder(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const byPath = new Map(leftOut.map((one) => [one.path, one]));
  return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}
