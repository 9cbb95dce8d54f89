import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, GITLINK, gitAt, type LeftOut, listRecords, type Place, pathIn, putEntries } from "./place.js";

/** The changes that git detects in tracked files, before the runner reads any file. */
export interface Tracked {
  /** Paths that may have changed, with their original entries. */
  readonly changed: ReadonlyMap<string, Entry>;
  /** Paths that no longer have a file or link. */
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Compares the tracked files with the index. The index must have no submodules, because git would read `.gitmodules`
 * and the submodules' repositories. Git reads only files whose date or size has changed.
 */
export async function listTracked(place: Place): Promise<Tracked> {
  const warnings = new Warnings();
  const args = ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=none"];
  const records = listRecords(await gitAt(place, args, { warned: (text) => warnings.add(text) }));
  const changed = new Map<string, Entry>();
  const removed: string[] = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [mode = "", now = "", oid = "", , status = ""] = (records[at] ?? "").slice(1).split(" ");
    const path = records[at + 1] ?? "";
    // Count a repository in place of a file as a removed file, because git lists the repository with the untracked
    // files.
    if (status === "D" || now === GITLINK) removed.push(path);
    else changed.set(path, { mode, oid });
  }
  return { changed, removed, leftOut: warnings.leftOut };
}

/** Maximum depth of nested repositories to read. */
const MAX_DEPTH = 100;
const TOO_DEEP = "it is a repository nested too deeply in others";
/** A file name longer than any file system allows, so no file has it. */
const NO_FILE = "x".repeat(256);

/** Untracked files, without ignored ones. */
export interface Others {
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Lists the untracked files. The index must no longer contain removed paths, because git would list nothing in their
 * place.
 *
 * Git lists a nested repository only as a folder, with a path that ends with `/`. If `isPlain` resolves to true for
 * that folder, the result also includes the folder's files. To make git look inside the folder, this function adds an
 * entry for a missing file in the folder to a copy of the index.
 */
export async function listOthers(place: Place, isPlain: (folder: string) => Promise<boolean>): Promise<Others> {
  const index = join(place.scratch, "others");
  await copyFile(place.index, index);
  const seen = new Set<string>();
  for (let depth = 0; ; depth += 1) {
    const warnings = new Warnings();
    const args = ["ls-files", "--others", "--exclude-standard", "-z"];
    const options = { env: { GIT_INDEX_FILE: index }, warned: (text: string) => warnings.add(text) };
    const listed = listRecords(await gitAt(place, args, options));
    const inside = listed.filter((path) => path.endsWith("/") && !seen.has(path));
    const plain = new Map<string, Entry>();
    const oid = inside.length === 0 ? "" : (await gitAt(place, ["hash-object", "--stdin"])).trim();
    for (const folder of depth === MAX_DEPTH ? [] : inside) {
      seen.add(folder);
      if (await isPlain(folder)) plain.set(`${folder}${NO_FILE}`, { mode: "100644", oid });
    }
    if (plain.size === 0) {
      const deep = inside.filter((path) => !seen.has(path)).map((path) => ({ path, why: TOO_DEEP }));
      return { files: listed.filter((path) => !path.endsWith("/")), leftOut: [...warnings.leftOut, ...deep] };
    }
    await putEntries({ ...place, index }, plain);
  }
}

/**
 * Lists the files of a nested repository as {@link listOthers} does for the whole folder. Includes the repository even
 * if an ignore rule outside it matches it. Inside it, only its own `.gitignore` files apply.
 */
export async function listInside(
  place: Place,
  folder: string,
  isPlain: (folder: string) => Promise<boolean>,
): Promise<Others> {
  const inner = { ...place, folder: pathIn(place, folder).toString("utf8"), index: join(place.scratch, "inside") };
  await gitAt(inner, ["read-tree", "--empty"]);
  const { files, leftOut } = await listOthers(inner, (path) => isPlain(`${folder}/${path}`));
  return {
    files: files.map((path) => `${folder}/${path}`),
    leftOut: leftOut.map(({ path, why }) => ({ path: `${folder}/${path}`, why })),
  };
}

/** Collects the paths that git skipped because it could not read them. Reads these paths from git's warnings. */
class Warnings {
  readonly #found = new Map<string, string>();

  add(text: string): void {
    for (const line of text.split("\n")) {
      const [, path, why = "its path is too long"] = FOLDER.exec(line) ?? FILE.exec(line) ?? [];
      if (path !== undefined) this.#found.set(Buffer.from(path).toString("latin1"), why);
    }
  }

  get leftOut(): readonly LeftOut[] {
    return [...this.#found].map(([path, why]) => ({ path, why: `it could not be read (${why})` }));
  }
}

/**
 * Matches git's message about a folder that git cannot list, and about a file that git cannot stat. Git truncates a
 * long message about a folder.
 */
const FOLDER = /^warning: could not open directory '(.*?)(?:\/?': (.+))?$/;
const FILE = /^(?!warning:|error:|fatal:|hint:)(.+): (Permission denied|File name too long|Input\/output error)$/;
