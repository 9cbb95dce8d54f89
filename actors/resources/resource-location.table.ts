import { type DirectoryEntry, directory } from "../../runtime/directories/directory.js";
import type { Reading } from "../../storage/store.js";

/** The location of a resource that the API names only by its id. */
export interface ResourceLocation {
  readonly workspaceId: string;
  /** The kind, for example `line`, `task` or `run`. */
  readonly kind: string;
}

/** Key: `[id]`. */
export const resourceLocations = directory<ResourceLocation>("place");

/** Finds the location of a resource, task or run by its id; undefined if the directory does not have the id. */
export function findLocation(reading: Reading, id: string): ResourceLocation | undefined {
  return resourceLocations.find(reading, id);
}

/**
 * Finds the workspace of the resource, task or run with this id; undefined if the directory has no object of this kind
 * with this id. Only the row shows whether the object exists. Read the row only after checking that the caller sees the
 * workspace, because other callers must not learn about damage.
 */
export function findOwningWorkspace(reading: Reading, kind: string, id: string): string | undefined {
  const location = findLocation(reading, id);
  return location?.kind === kind ? location.workspaceId : undefined;
}

/** Returns the directory entry of an id, for the turn that writes the row. */
export function locationEntry(id: string, location: ResourceLocation): DirectoryEntry {
  return resourceLocations.entry(id, location);
}
