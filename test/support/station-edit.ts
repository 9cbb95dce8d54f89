import { posix } from "node:path";
import "@cdktn/hcl2json";
import { loadSyntax, type SyntaxNode } from "../../actors/config-pull-requests/edit/hcl-syntax.js";
import { type ParsedValues, parseValues } from "../../actors/config-pull-requests/edit/hcl-values.js";
import { makeEdit } from "../../actors/config-pull-requests/edit/make-edit.js";
import type { Parsers } from "../../actors/config-pull-requests/edit/parsers.js";
import type {
  EditOutcome,
  SourceTree,
  TreeEntry,
  UnreadFile,
  WantedStation,
} from "../../actors/config-pull-requests/edit/station-edit.js";
import { type StationBody, stationSchema } from "../../actors/lines/station.js";

/** Files by path. A symlink is given by its target path from the root, and an unreadable file by its reason. */
export type TreeFiles = Readonly<Record<string, string | { readonly leadsTo: string } | UnreadFile>>;

/** Returns a repository with these files. */
export function toTree(files: TreeFiles, isWhole = true): SourceTree {
  const entries = Object.entries(files).map(
    ([path, file]): TreeEntry =>
      typeof file === "object" && "leadsTo" in file
        ? { path, kind: "symlink", leadsTo: posix.relative(posix.dirname(path), file.leadsTo) || "." }
        : { path, kind: "file" },
  );
  const folders = new Set(
    entries.flatMap(({ path }) => path.split("/").flatMap((_, index, all) => all.slice(0, index).join("/") || [])),
  );
  const read = (path: string): string | UnreadFile | null => {
    const file = files[path];
    return typeof file === "object" && "leadsTo" in file ? read(file.leadsTo) : (file ?? null);
  };
  return {
    list: async () => ({
      entries: [...entries, ...[...folders].map((path): TreeEntry => ({ path, kind: "folder" }))],
      isWhole,
    }),
    read: async (path) => read(path),
  };
}

let known: Promise<Parsers> | undefined;

/** Returns the edit parsers, shared by all tests of a file. They are slow, so each text is parsed once. */
export function editParsers(): Promise<Parsers> {
  known ??= loadSyntax().then((syntax) => {
    const parsed = new Map<string, Promise<ParsedValues>>();
    const roots = new Map<string, SyntaxNode>();
    return {
      syntax: {
        parse(text) {
          const root = roots.get(text) ?? syntax.parse(text);
          roots.set(text, root);
          return root;
        },
      },
      parseValues(path, text) {
        const values = parsed.get(text) ?? parseValues(path, text);
        parsed.set(text, values);
        return values;
      },
    };
  });
  return known;
}

/** Returns a station with all of its fields; by default it passes tasks to no station. */
export function toStation(fields: object): StationBody {
  return { passesTo: [], ...stationSchema.parse({ key: "plan", name: "Plan", kind: "work", ...fields }) };
}

export const EDITED_PATH = "lines/main.tf";

/** Returns a wanted change of the line `web` in the team `core`. */
export function toWanted(live: StationBody, change: object, path = EDITED_PATH): WantedStation {
  const wanted = toStation({ ...live, ...change });
  return { path, team: { id: "team_1", key: "core" }, lineKey: "web", live, wanted };
}

/** Makes an edit in this thread. */
export async function editIn(tree: SourceTree, wanted: WantedStation): Promise<EditOutcome> {
  return makeEdit(await editParsers(), tree, wanted);
}
