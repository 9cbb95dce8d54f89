import { posix } from "node:path";
import type { TreeEntry } from "./station-edit.js";

/** The symlinks of a repository. Paths are from its root, `.` for the root itself. */
export interface Links {
  /**
   * The path that a path leads to once all links on its way are followed: null when it leads out of the repository or in
   * a circle, undefined when one of the links was not read.
   */
  follow(path: string): string | null | undefined;
  /** All paths that lead to a path, itself first, up to {@link MAX_NAMES}. */
  namesOf(path: string): readonly string[];
  /** The first link on the way to a path, or at it. */
  on(path: string): string | null;
}

/** Most links that are followed one after the other, as Linux does. */
const MAX_HOPS = 40;
/** Most names of one path: where a link leads above itself there is no end to them. */
const MAX_NAMES = 64;

/** The symlinks among the entries of a repository. */
export function findLinks(entries: readonly TreeEntry[]): Links {
  const links = new Map(
    entries.flatMap((entry) => (entry.kind === "symlink" ? [[entry.path, targetOf(entry)] as const] : [])),
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
  const namesOf = (path: string): readonly string[] => {
    const names = new Set([path]);
    for (const name of names) {
      for (const { link, target } of led) {
        if (names.size >= MAX_NAMES) return [...names];
        if (isWithin(name, target)) names.add(posix.join(link, posix.relative(target, name)));
      }
    }
    return [...names];
  };
  return { follow, namesOf, on };
}

/** Where a link leads, from the root; null when that is outside the repository, undefined when it was not read. */
function targetOf({ path, leadsTo }: TreeEntry): string | null | undefined {
  if (leadsTo === undefined) return undefined;
  const target = posix.join(posix.dirname(path), leadsTo).replace(/\/$/, "");
  return leadsTo === "" || leadsTo.startsWith("/") || /^\.\.(\/|$)/.test(target) ? null : target;
}

/** Whether a path is a folder's, or lies within it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}
