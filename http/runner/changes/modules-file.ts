import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailed, git, gitBytes } from "../checkout/git.js";
import { type Entry, entriesIn, type LeftOut, type Place, pathIn, putEntries, readSmallFile } from "./place.js";

/** The file that declares submodules. */
export const MODULES_FILE = ".gitmodules";

/** Maximum size of `.gitmodules` that the runner reads, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Submodule folders that a file declares, each with the names of its sections. */
export type Modules = ReadonlyMap<string, readonly string[]>;

/** The submodules that the folder declares now, and those that it declared at the start. */
export interface Declared {
  readonly now: Modules;
  readonly begun: Modules;
}

export async function readDeclared(place: Place): Promise<Declared> {
  const entry = place.laidOut.get(MODULES_FILE);
  const before = entry?.mode.startsWith("100") === true ? await contentOf(place, entry) : null;
  const now = await readSmallFile(pathIn(place, MODULES_FILE), MAX_BYTES);
  return { now: await read(place, now), begun: await read(place, before) };
}

/**
 * Removes the sections of left-out new submodules from the index's `.gitmodules`, so that the index declares no missing
 * submodule. Leaves out a new file that would then be empty.
 */
export async function undeclare(place: Place, { now, begun }: Declared, leftOut: readonly LeftOut[]): Promise<void> {
  const sections = leftOut.flatMap(({ path }) => (begun.has(path) ? [] : (now.get(path) ?? [])));
  if (sections.length === 0) return;
  const entry = (await entriesIn(place, place.index)).get(MODULES_FILE);
  if (entry === undefined) return;
  const { signal } = place;
  await inFile(place, await contentOf(place, entry), async (file) => {
    for (const name of sections) {
      await git(place.scratch, ["config", "--file", file, "--remove-section", `submodule.${name}`], { signal });
    }
    const content = (await readSmallFile(file, MAX_BYTES)) ?? Buffer.alloc(0);
    if (content.toString("latin1").trim() === "" && !place.laidOut.has(MODULES_FILE)) {
      return putEntries(place, new Map([[MODULES_FILE, null]]));
    }
    const of = { env: { GIT_DIR: place.gitDir }, signal, input: content };
    const oid = (await git(place.gitDir, ["hash-object", "-w", "--stdin"], of)).trim();
    return putEntries(place, new Map([[MODULES_FILE, { mode: entry.mode, oid }]]));
  });
}

async function contentOf({ gitDir, signal }: Place, { oid }: Entry): Promise<Buffer> {
  return gitBytes(gitDir, ["cat-file", "blob", oid], { env: { GIT_DIR: gitDir }, signal, maxBytes: MAX_BYTES });
}

/** Parses a `.gitmodules` file. Returns an empty map if there is no file, or if git cannot read it. */
async function read(place: Place, content: Buffer | null): Promise<Modules> {
  const found = new Map<string, string[]>();
  if (content === null) return found;
  const { scratch, signal } = place;
  const list = (file: string) => ["config", "--file", file, "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const text = await inFile(place, content, (file) =>
    gitBytes(scratch, list(file), { signal }).catch((error: unknown) => {
      // Git also exits with an error if the file declares no submodule.
      if (error instanceof GitFailed && !signal.aborted) return Buffer.alloc(0);
      throw error;
    }),
  );
  for (const record of text.toString("latin1").split("\0").slice(0, -1)) {
    const [, name = "", path = ""] = /^submodule\.([\s\S]*)\.path\n([\s\S]*)$/.exec(record) ?? [];
    const folder = path.replace(/\/+$/, "");
    found.set(folder, [...(found.get(folder) ?? []), name]);
  }
  return found;
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
