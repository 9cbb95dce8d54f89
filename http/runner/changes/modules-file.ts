import { lstat, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailed, git, gitBytes, OutputTooLong } from "../checkout/git.js";
import {
  type Entry,
  entriesIn,
  GITLINK,
  isInside,
  isMissing,
  type LeftOut,
  type Place,
  pathIn,
  putEntries,
  readSmallFile,
} from "./place.js";

/** The file that declares submodules. */
export const MODULES_FILE = ".gitmodules";

/** Maximum size of `.gitmodules` that the runner reads, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;
const NO_SUBMODULE = "`.gitmodules` declares it as a submodule, but it is not one: that section is ignored";

interface Section {
  readonly name: string;
  /** Null if the section has no URL. */
  readonly url: string | null;
}

/** Submodule folders that a file declares, each with its sections. */
export type Modules = ReadonlyMap<string, readonly Section[]>;

/** The submodules that the folder declares now, and those that it declared at the start. */
export interface Declared {
  readonly now: Modules;
  readonly begun: Modules;
}

/**
 * Reads the declarations. A missing file declares nothing. If the current file cannot be read or parsed, the original
 * declarations count as current.
 */
export async function readDeclared(place: Place): Promise<Declared> {
  const begun = (await readEntry(place, place.laidOut.get(MODULES_FILE))) ?? new Map();
  const at = pathIn(place, MODULES_FILE);
  const content = await readSmallFile(at, MAX_BYTES);
  if (content !== null) return { now: (await parse(place, content)) ?? begun, begun };
  const isGone = await lstat(at).then(() => false, isMissing);
  return { now: isGone ? new Map() : begun, begun };
}

/** Reads the declarations in the index. Returns an empty map if there are none, or if git cannot read them. */
export async function readIndexed(place: Place): Promise<Modules> {
  return (await readEntry(place, (await entriesIn(place, place.index)).get(MODULES_FILE))) ?? new Map();
}

/**
 * Removes the new sections of the index's `.gitmodules` that have no submodule in the index:
 *
 * - If a new `.gitmodules` would then be empty, removes the file.
 * - If the change of a moved submodule was left out, moves its section and its entry back to the original path.
 *
 * Returns the paths of these sections that are not in `leftOut` yet, with the reason.
 */
export async function undeclare(
  place: Place,
  { now, begun }: Declared,
  leftOut: readonly LeftOut[],
): Promise<readonly LeftOut[]> {
  if ([...now.keys()].every((path) => begun.has(path))) return [];
  const present = await entriesIn(place, place.index);
  const entry = present.get(MODULES_FILE);
  const declared = (await readEntry(place, entry)) ?? new Map();
  const lone = [...declared].filter(([path]) => !begun.has(path) && present.get(path)?.mode !== GITLINK);
  if (entry === undefined || lone.length === 0) return [];
  const named = new Set(leftOut.map(({ path }) => path));
  const content = await readContent(place, entry);
  const entries = new Map<string, Entry | null>();
  const edited = await inFile(place, content, async (file) => {
    for (const [path, sections] of lone) {
      for (const { name } of sections) {
        const old = named.has(path) ? findOriginal(place, { name, begun, present }) : null;
        if (old !== null) entries.set(old.path, old.entry);
        const back = [`submodule.${name}.path`, old?.path ?? ""];
        await edit(place, file, old === null ? ["--remove-section", `submodule.${name}`] : back);
      }
    }
    return (await readSmallFile(file, MAX_BYTES)) ?? Buffer.alloc(0);
  });
  entries.set(MODULES_FILE, await store(place, edited, entry));
  await putEntries(place, entries);
  return lone.flatMap(([path]) => (named.has(path) ? [] : [{ path, why: NO_SUBMODULE }]));
}

interface Sought {
  readonly name: string;
  readonly begun: Modules;
  readonly present: ReadonlyMap<string, Entry>;
}

/**
 * Finds the submodule that a section declared at the start. Returns null if it declared none, or if the index has
 * something else at the submodule's path.
 */
function findOriginal(place: Place, { name, begun, present }: Sought): { path: string; entry: Entry } | null {
  const [path] = [...begun].find(([, sections]) => sections.some((section) => section.name === name)) ?? [];
  const entry = path === undefined ? undefined : place.laidOut.get(path);
  if (path === undefined || entry?.mode !== GITLINK) return null;
  const folder = new Set([path]);
  const isTaken = [...present].some(([at, { mode }]) => (at === path ? mode !== GITLINK : isInside(at, folder)));
  return isTaken ? null : { path, entry };
}

/** Edits the file with `git config`. A section that git cannot edit stays. */
async function edit(place: Place, file: string, args: readonly string[]): Promise<void> {
  const { scratch, signal } = place;
  await git(scratch, ["config", "--file", file, ...args], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
  });
}

/**
 * Stores the content as a blob and returns its entry. Returns null if the content is blank and the folder started
 * without the file.
 */
async function store(place: Place, content: Buffer, { mode }: Entry): Promise<Entry | null> {
  if (content.toString("latin1").trim() === "" && !place.laidOut.has(MODULES_FILE)) return null;
  const of = { env: { GIT_DIR: place.gitDir }, signal: place.signal, input: content };
  return { mode, oid: (await git(place.gitDir, ["hash-object", "-w", "--stdin"], of)).trim() };
}

async function readContent({ gitDir, signal }: Place, { oid }: Entry): Promise<Buffer> {
  return gitBytes(gitDir, ["cat-file", "blob", oid], { env: { GIT_DIR: gitDir }, signal, maxBytes: MAX_BYTES });
}

/**
 * Returns the declarations in a file; null if there is no regular file, if it is too large, or if git cannot parse it.
 */
async function readEntry(place: Place, entry: Entry | undefined): Promise<Modules | null> {
  if (entry?.mode.startsWith("100") !== true) return null;
  const content = await readContent(place, entry).catch((error: unknown) => {
    if (error instanceof OutputTooLong) return null;
    throw error;
  });
  return content === null ? null : parse(place, content);
}

/** Parses a `.gitmodules` file. Returns null if git cannot parse it. */
async function parse(place: Place, content: Buffer): Promise<Modules | null> {
  const sections = new Map<string, { path: string | null; url: string | null }>();
  const listed = await inFile(place, content, (file) => listConfig(place, file));
  if (listed === null) return null;
  for (const [key, value] of listed) {
    const [, name = "", variable = ""] = /^submodule\.(.*)\.(path|url)$/.exec(key) ?? [];
    if (variable === "") continue;
    sections.set(name, { ...(sections.get(name) ?? { path: null, url: null }), [variable]: value });
  }
  const found = new Map<string, Section[]>();
  for (const [name, { path, url }] of sections) {
    if (path === null) continue;
    const folder = path.replace(/\/+$/, "");
    found.set(folder, [...(found.get(folder) ?? []), { name, url }]);
  }
  return found;
}

/** Lists the variables of a configuration file, without included files. Returns null if git cannot parse it. */
async function listConfig({ scratch, signal }: Place, file: string): Promise<[string, string][] | null> {
  try {
    const text = await gitBytes(scratch, ["config", "--file", file, "-z", "--list"], { signal });
    const records = text.toString("latin1").split("\0").slice(0, -1);
    return records.map((record) => {
      const at = record.indexOf("\n");
      return at === -1 ? [record, ""] : [record.slice(0, at), record.slice(at + 1)];
    });
  } catch (error) {
    if (error instanceof GitFailed && !signal.aborted) return null;
    throw error;
  }
}

/** Returns the name and URL of each remote in a repository's configuration. */
export async function readRemotes(place: Place, gitDir: string): Promise<readonly (readonly [string, string])[]> {
  const content = await readSmallFile(join(gitDir, "config"), MAX_BYTES);
  const listed = content === null ? null : await inFile(place, content, (file) => listConfig(place, file));
  return (listed ?? []).flatMap(([key, url]) => {
    const [, name] = /^remote\.(.*)\.url$/.exec(key) ?? [];
    return name === undefined ? [] : [[name, url] as const];
  });
}

async function inFile<Done>(place: Place, content: Buffer, work: (file: string) => Promise<Done>): Promise<Done> {
  const file = join(place.scratch, "modules");
  await writeFile(file, content);
  try {
    return await work(file);
  } finally {
    await rm(file, { force: true });
  }
}
