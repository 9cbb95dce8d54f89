import type { SourceTree, TreeEntry } from "./station-edit.js";

type List = Awaited<ReturnType<SourceTree["list"]>>;

/** The entries of a repository for the thread of an edit: to copy 100,000 objects there holds up all else. */
export interface PackedList {
  /** The place of each entry's kind in {@link kinds} and its path, all joined by what no path has. */
  readonly entries: string;
  readonly isWhole: boolean;
}

const kinds: readonly TreeEntry["kind"][] = ["file", "folder", "symlink", "submodule"];
const END = "\0";

export function packList({ entries, isWhole }: List): PackedList {
  return { entries: entries.map(({ kind, path }) => `${kinds.indexOf(kind)}${path}${END}`).join(""), isWhole };
}

export function unpackList({ entries, isWhole }: PackedList): List {
  const packed = entries.split(END).slice(0, -1);
  return { entries: packed.map((each) => ({ kind: kinds[Number(each[0])] ?? "file", path: each.slice(1) })), isWhole };
}
