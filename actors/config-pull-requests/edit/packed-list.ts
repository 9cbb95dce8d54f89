import type { SourceTree, TreeEntry } from "./station-edit.js";

type List = Awaited<ReturnType<SourceTree["list"]>>;

/**
 * The entries of a repository, packed into one string for the edit thread. Copying 100,000 objects to the thread would
 * block the service.
 */
export interface PackedList {
  /** For each entry: the index of its kind in {@link kinds}, its path, and a NUL character. */
  readonly entries: string;
  readonly isWhole: boolean;
  /** The targets of symlinks that were read, by path. */
  readonly links: ReadonlyMap<string, string>;
}

const kinds: readonly TreeEntry["kind"][] = ["file", "folder", "symlink", "submodule"];
const END = "\0";

export function packList({ entries, isWhole }: List): PackedList {
  const links = entries.flatMap(({ path, leadsTo }) => (leadsTo === undefined ? [] : [[path, leadsTo] as const]));
  const packed = entries.map(({ kind, path }) => `${kinds.indexOf(kind)}${path}${END}`).join("");
  return { entries: packed, isWhole, links: new Map(links) };
}

export function unpackList({ entries, isWhole, links }: PackedList): List {
  const packed = entries.split(END).slice(0, -1);
  const toEntry = (each: string): TreeEntry => {
    const [kind, path] = [kinds[Number(each[0])] ?? "file", each.slice(1)];
    const leadsTo = links.get(path);
    return { kind, path, ...(leadsTo !== undefined && { leadsTo }) };
  };
  return { entries: packed.map(toEntry), isWhole };
}
