import { copyFile, lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, GITLINK, gitAt, type LeftOut, type Place, putEntries, recordsOf } from "./place.js";

/** What git finds changed in a folder, before anything is read. */
export interface Tracked {
  /** Paths that may hold something else than they began with, with what they began with. */
  readonly changed: ReadonlyMap<string, Entry>;
  /** Paths that hold nothing any more. */
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Compares the files that git knows with the index, by their dates and sizes first. */
export async function listTracked(place: Place): Promise<Tracked> {
  const warnings = new Warnings();
  // What is in submodules is not looked at here: git would do so by their own configuration.
  const args = ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"];
  const records = recordsOf(await gitAt(place, args, { warned: (text) => warnings.add(text) }));
  const changed = new Map<string, Entry>();
  const removed: string[] = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [mode = "", now = "", oid = "", , status = ""] = (records[at] ?? "").slice(1).split(" ");
    const path = records[at + 1] ?? "";
    if (status === "D" || (now === GITLINK && mode !== GITLINK)) removed.push(path);
    else if (now !== GITLINK) changed.set(path, { mode, oid });
  }
  return { changed, removed, leftOut: warnings.leftOut };
}

/** Most repositories inside one another that are read. */
const MAX_DEPTH = 100;
const TOO_DEEP = "it is a repository inside too many others";
/** Longer than a name of a file can be, so that it names none. */
const NO_FILE = "x".repeat(256);

/** New files, without ignored ones. */
export interface Others {
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Lists the new files. Git lists a repository inside the folder as its folder alone. Where `isPlain` resolves to true its
 * files are listed too: git looks into every folder that its index names something in. Paths of folders end with `/`.
 */
export async function listOthers(place: Place, isPlain: (folder: string) => Promise<boolean>): Promise<Others> {
  const index = join(place.scratch, "others");
  await copyFile(place.index, index);
  const seen = new Set<string>();
  for (let depth = 0; ; depth += 1) {
    const warnings = new Warnings();
    const args = ["ls-files", "--others", "--exclude-standard", "-z"];
    const options = { env: { GIT_INDEX_FILE: index }, warned: (text: string) => warnings.add(text) };
    const listed = recordsOf(await gitAt(place, args, options));
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

/** The ignored files that the agent force-added, by the index of its own clone; none where that cannot be read. */
export async function listForced(place: Place): Promise<readonly string[]> {
  const index = join(place.folder, ".git/index");
  if (!(await isChangedFile(index, place.begun))) return [];
  const list = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
  const text = await gitAt(place, list, { env: { GIT_INDEX_FILE: index } }).catch(() => "");
  return recordsOf(text).filter((path) => !place.laidOut.has(path) && !/^\/|(^|\/)\.\.(\/|$)/.test(path));
}

/** What git says that it could not read, and passed over. */
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

/** How git reports a folder that it cannot list (a long message is cut off), and a file that it cannot look at. */
const FOLDER = /^warning: could not open directory '(.*?)(?:\/?': (.+))?$/;
const FILE = /^(?!warning:|error:|fatal:|hint:)(.+): (Permission denied|File name too long|Input\/output error)$/;

/** Whether it is a file, and not the one that was copied there; git would wait for ever for a pipe in its place. */
async function isChangedFile(path: string, copied: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() !== true) return false;
  const { size, mtimeMs } = await lstat(copied);
  return found.size !== size || Math.abs(found.mtimeMs - mtimeMs) >= 1;
}
