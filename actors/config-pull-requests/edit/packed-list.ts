import type { SourceTree, TreeEntry } from "./station-edit.js";

type List = Awaited<ReturnType<SourceTree["list"]>>;

/** The entries of a repository for the thread of an edit: to copy 100,000 objects there holds up all else. */
export interface PackedList {
  /** The place of each entry's kind in {@link kinds} and its path, all joined by what no path has. */
  readonly entries: string;
  readonly isWhole: boolean;
  /** What each symlink holds that was read, by its path. */
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
