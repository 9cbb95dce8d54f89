import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import type { Reading } from "../../storage/store.js";

/** The location of something that the API names by its id alone. */
export interface ResourceLocation {
  readonly workspaceId: string;
  /** `line`, `task`, `run`, ... */
  readonly kind: string;
}

/** `[id]` */
export const resourceLocations = directory<ResourceLocation>("place");

/** The location of this id by the directory, of a task or run too. */
export function findLocation(reading: Reading, id: string): ResourceLocation | undefined {
  return resourceLocations.find(reading, id);
}

/**
 * The workspace of what has this id, or undefined when nothing of the kind has it. The row there decides
 * whether it still exists. Read the row once the caller is known to see the workspace: others must not learn of damage.
 */
export function findWorkspaceOf(reading: Reading, kind: string, id: string): string | undefined {
  const location = findLocation(reading, id);
  return location?.kind === kind ? location.workspaceId : undefined;
}

/** The directory entry of an id; for the turn that writes the row itself. */
export function locationEntry(id: string, location: ResourceLocation): DirectoryEntry {
  return resourceLocations.entry(id, location);
}
