import { join } from "node:path";
import { z } from "zod";
import { configFolder, findDevFolder, findRepository } from "./places.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";
import type { Terminal } from "./terminal.js";

const defaultsSchema = z.object({
  /** The slug of the workspace. */
  workspace: z.string().optional(),
  /** The key of the team. */
  team: z.string().optional(),
  /** The key of the line. */
  line: z.string().optional(),
  /** The id of the task. */
  task: z.string().optional(),
  /** The id of the run. */
  run: z.string().optional(),
  /** The id of the replay set. */
  set: z.string().optional(),
  /** The id of the replay. */
  replay: z.string().optional(),
  /** The id of the search. */
  search: z.string().optional(),
});

/** The last objects that the commands in a folder worked with. Later commands use them by default. */
export type Defaults = z.output<typeof defaultsSchema>;

/** Each entry has the service's address, the folder and the defaults. The entry that was written last is at the end. */
const fileSchema = z.array(z.tuple([z.string(), z.string(), defaultsSchema]));

/** Maximum number of entries in the file. The oldest are dropped. */
const KEPT = 200;

/**
 * Returns the defaults for a service. Defaults belong to the repository that this folder is in, or else to the folder
 * itself. Returns an empty object if there are none.
 */
export function readDefaults(terminal: Terminal, url: string): Defaults {
  const place = findRepository(terminal.folder);
  const found = readFile(terminal).find(([service, folder]) => service === url && folder === place);
  return found?.[2] ?? {};
}

/**
 * Changes some of the defaults that {@link readDefaults} returns. A change of the workspace or the team removes the
 * defaults that belong to the previous workspace or team.
 */
export function saveDefaults(terminal: Terminal, url: string, change: Defaults): void {
  const before = readDefaults(terminal, url);
  const isSameWorkspace = change.workspace === undefined || change.workspace === before.workspace;
  const isSameTeam = isSameWorkspace && (change.team === undefined || change.team === before.team);
  const { workspace, team } = before;
  const kept = isSameTeam ? before : isSameWorkspace ? { workspace, team } : {};
  const place = findRepository(terminal.folder);
  const others = readFile(terminal).filter(([service, folder]) => service !== url || folder !== place);
  const entry = [url, place, { ...kept, ...change }] as const;
  writePrivateFile(path(terminal), [...others, entry].slice(-KEPT));
}

function readFile(terminal: Terminal): z.output<typeof fileSchema> {
  return readPrivateFile(path(terminal), fileSchema) ?? [];
}

/**
 * Returns the path of the file with the defaults. If `signalbox dev` was started in this folder or one above it, the
 * file is in the folder that {@link findDevFolder} returns. `signalbox dev --reset` removes that file.
 */
function path(terminal: Terminal): string {
  return join(findDevFolder(terminal) ?? configFolder(terminal), "defaults.json");
}
