import { lstat } from "node:fs/promises";
import type { AgentIndex } from "./agent-index.js";
import { findInner, isEmptyFolder } from "./inner-repository.js";
import type { Declared } from "./modules-file.js";
import { GITLINK, isInside, isMissing, type Place, pathIn } from "./place.js";
import type { Submodule } from "./submodules.js";

/**
 * Finds the submodules that the folder has now:
 *
 * - submodules that the folder started with and still has
 * - new submodules that `.gitmodules` declares, also in ignored folders
 *
 * Any other nested repository counts as ordinary files.
 */
export async function findSubmodules(place: Place, declared: Declared, theirs: AgentIndex): Promise<Submodule[]> {
  const found: Submodule[] = [];
  const begun = [...place.laidOut].filter(([, { mode }]) => mode === GITLINK);
  for (const [path, entry] of begun) {
    if (await isStillPresent(place, path, declared, theirs)) found.push({ path, begun: entry });
  }
  const commits = new Set(begun.map(([, { oid }]) => oid));
  for (const path of declared.now.keys()) {
    if (place.laidOut.get(path)?.mode === GITLINK || (await lookAt(place, path)) !== "folder") continue;
    const entry = theirs.entries?.get(path);
    if ((await findInner(place, path)) !== null) found.push({ path, begun: null });
    // The agent moved a submodule that is not checked out.
    else if (entry?.mode === GITLINK && commits.has(entry.oid) && (await isEmptyFolder(pathIn(place, path)))) {
      found.push({ path, begun: entry });
    }
  }
  const paths = new Set(found.map(({ path }) => path));
  return found.filter(({ path }) => !isInside(path, paths));
}

/**
 * Whether a submodule that the checkout started with still exists:
 *
 * - If its folder is missing, it exists only if the sparse checkout skips the folder.
 * - If only the original `.gitmodules` declares it, it exists only if its folder is empty and its entry is still in
 *   the agent's index. Any files in the folder count as ordinary files.
 * - In all other cases, it exists.
 */
async function isStillPresent(
  place: Place,
  path: string,
  { now, begun }: Declared,
  theirs: AgentIndex,
): Promise<boolean> {
  const at = await lookAt(place, path);
  if (at === "none") return theirs.outside.has(path);
  if (at === "unreadable" || now.has(path) || !begun.has(path)) return true;
  const isIndexed = theirs.entries === null || theirs.entries.get(path)?.mode === GITLINK;
  return isIndexed && (await isEmptyFolder(pathIn(place, path)));
}

/**
 * Checks what an untrusted path leads to. Returns `folder` for a folder inside the place without links on the way,
 * `unreadable` if the file system does not say, and otherwise `none`.
 */
export async function lookAt(place: Place, path: string): Promise<"folder" | "none" | "unreadable"> {
  const names = path.split("/");
  if (names.some((name) => ["", ".", "..", ".git"].includes(name) || name.includes("\0"))) return "none";
  for (let length = 1; length <= names.length; length += 1) {
    const at = pathIn(place, names.slice(0, length).join("/"));
    const found = await lstat(at).catch((error: unknown) => (isMissing(error) ? "none" : "unreadable"));
    if (typeof found === "string") return found === "none" ? "none" : "unreadable";
    if (!found.isDirectory()) return "none";
  }
  return "folder";
}
