import { posix } from "node:path";
import type { TreeEntry } from "./station-edit.js";

/** The symlinks of a repository. Paths start at the repository's root; `.` is the root itself. */
export interface Links {
  /**
   * Returns the path after following all symlinks on the way. Null if the path leads out of the repository or into a
   * loop; undefined if the target of a link was not read.
   */
  follow(path: string): string | null | undefined;
  /**
   * Returns the names of a file or folder: the path itself, then the paths that lead to the file or folder through
   * symlinks; at most {@link MAX_NAMES}.
   */
  listNames(path: string): readonly string[];
  /** Returns the first symlink on the way to a path, or the path itself if it is a symlink; otherwise null. */
  on(path: string): string | null;
}

/** Maximum number of symlinks to follow in a row, the same as on Linux. */
const MAX_HOPS = 40;
/** Maximum number of names for one path. A link to its own parent folder would give endless names. */
const MAX_NAMES = 64;

/** Finds the symlinks among the entries of a repository. */
export function findLinks(entries: readonly TreeEntry[]): Links {
  const links = new Map(
    entries.flatMap((entry) => (entry.kind === "symlink" ? [[entry.path, findTarget(entry)] as const] : [])),
  );
  const on = (path: string): string | null => {
    if (links.size === 0) return null;
    const parts = path.split("/");
    const steps = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
    return steps.find((step) => links.has(step)) ?? null;
  };
  const follow = (path: string): string | null | undefined => {
    let at = path;
    for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
      const link = on(at);
      if (link === null) return at;
      const target = links.get(link);
      if (target === undefined || target === null) return target;
      at = posix.join(target, at.slice(link.length));
    }
    return null;
  };
  const led = [...links.keys()].flatMap((link) => {
    const target = follow(link);
    return typeof target === "string" ? [{ link, target }] : [];
  });
  const listNames = (path: string): readonly string[] => {
    const names = new Set([path]);
    for (const name of names) {
      for (const { link, target } of led) {
        if (names.size >= MAX_NAMES) return [...names];
        if (isWithin(name, target)) names.add(posix.join(link, posix.relative(target, name)));
      }
    }
    return [...names];
  };
  return { follow, listNames, on };
}

/**
 * Returns the target of a symlink, relative to the repository's root. Null if the target is outside the repository;
 * undefined if the target was not read.
 */
function findTarget({ path, leadsTo }: TreeEntry): string | null | undefined {
  if (leadsTo === undefined) return undefined;
  const target = posix.join(posix.dirname(path), leadsTo).replace(/\/$/, "");
  return leadsTo === "" || leadsTo.startsWith("/") || /^\.\.(\/|$)/.test(target) ? null : target;
}

/** Whether a path is a folder or lies within it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}
