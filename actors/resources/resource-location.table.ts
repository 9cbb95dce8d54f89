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
 * Finds the workspace of the resource, task or run with this id. Returns undefined if the directory has no such id of
 * this kind. The directory may still have the id of a deleted object, so the caller must read the row. Read it only
 * after checking that the caller can see the workspace: other callers must not learn that a row is damaged.
 */
export function findOwningWorkspace(reading: Reading, kind: string, id: string): string | undefined {
  const location = findLocation(reading, id);
  return location?.kind === kind ? location.workspaceId : undefined;
}

/** Returns the directory entry of an object's id. The turn that writes the object's row writes this entry too. */
export function locationEntry(id: string, location: ResourceLocation): DirectoryEntry {
  return resourceLocations.entry(id, location);
}
