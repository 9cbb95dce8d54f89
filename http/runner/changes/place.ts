import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type GitOptions, gitBytes } from "../checkout/git.js";

/**
 * A folder of files, with a git directory and an index of the runner's own by which git reads it.
 *
 * Names of files need not be UTF-8: paths are texts with one character for each byte (`latin1`) throughout this folder,
 * and {@link shownPath} is what people read.
 */
export interface Place {
  /** A bare git directory whose configuration, attributes and hooks nobody else writes. */
  readonly gitDir: string;
  /** The folder of the files. */
  readonly folder: string;
  /** The index that is filled. */
  readonly index: string;
  /** The index of the files as they were laid out; never written. */
  readonly begun: string;
  /** What it holds, by path. */
  readonly laidOut: ReadonlyMap<string, Entry>;
  /** A folder for temporary files. */
  readonly scratch: string;
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
}

/** A path whose change is not taken, and why: a clause that follows a colon. */
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

/** Follows no link, and waits for no pipe. */
export const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Longest listing that is read, in bytes: that of millions of files. */
const MAX_LISTING_BYTES = 512 * 1024 * 1024;
/** Most characters of a path that are shown. */
const SHOWN_CHARACTERS = 200;

/** Runs git on the place; returns what it printed, a character for each byte. */
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

/** The parts of a text, each of which ends with NUL. */
export function recordsOf(text: string): string[] {
  return text.split("\0").slice(0, -1);
}

/** The reverse of {@link recordsOf}, as input for git. */
export function toRecords(records: Iterable<string>): Buffer {
  return Buffer.from([...records].map((record) => `${record}\0`).join(""), "latin1");
}

/** The absolute path, as bytes. */
export function pathIn({ folder }: Pick<Place, "folder">, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);
}

/** The path as people read it: without control characters, and cut in its middle. */
export function shownPath(path: string): string {
  const text = Buffer.from(path, "latin1").toString("utf8");
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => JSON.stringify(character).slice(1, -1));
  if (plain.length <= SHOWN_CHARACTERS) return plain;
  return `${plain.slice(0, SHOWN_CHARACTERS / 2)}…${plain.slice(-SHOWN_CHARACTERS / 2)}`;
}

/** Puts entries into the index; a path whose entry is null leaves it. */
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

/** What an index holds, by path. */
export async function entriesIn(
  place: Omit<Place, "laidOut" | "begun">,
  index: string,
): Promise<ReadonlyMap<string, Entry>> {
  const listed = await gitAt(place, ["ls-files", "--stage", "-z"], { env: { GIT_INDEX_FILE: index } });
  return new Map(
    recordsOf(listed).flatMap((line) => {
      const [, mode = "", oid = "", path = ""] = /^(\d+) ([0-9a-f]+) \d\t([\s\S]*)$/.exec(line) ?? [];
      return [[path, { mode, oid }] as const];
    }),
  );
}

/** The bytes of a file that is no link, pipe or folder, up to a length; null where it is another, longer or not there. */
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

/** By path, one for each. */
export function inOrder(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const byPath = new Map(leftOut.map((one) => [one.path, one]));
  return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}
