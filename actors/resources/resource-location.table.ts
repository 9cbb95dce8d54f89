import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import type { Reading } from "../../storage/store.js";
import { findResource } from "./resource.table.js";

/** The location of something that the API names by its id alone. */
export interface ResourceLocation {
  readonly workspaceId: string;
  /** `line`, `task`, `run`, ... */
  readonly kind: string;
}

/** `[id]` */
export const resourceLocations = directory<ResourceLocation>("place");

/** The workspace and kind of a resource, or undefined when none has that id. */
export function locate(reading: Reading, id: string): ResourceLocation | undefined {
  const location = findLocation(reading, id);
  if (location === undefined) return undefined;
  return findResource(reading, location.workspaceId, location.kind, id) === undefined ? undefined : location;
}

/** The location of this id by the directory, of a task or run too; check its row, which decides. */
export function findLocation(reading: Reading, id: string): ResourceLocation | undefined {
  return resourceLocations.find(reading, id);
}

/** The directory entry of an id; for the turn that writes the row itself. */
export function locationEntry(id: string, location: ResourceLocation): DirectoryEntry {
  return resourceLocations.entry(id, location);
}
