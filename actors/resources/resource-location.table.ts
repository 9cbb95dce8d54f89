import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import type { Reading } from "../../storage/store.js";
import { findResource } from "./resource.table.js";

/** Where something that the API names by its id alone is kept. */
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

/** Where whatever has this id should be kept, a task or run too; whether it is there, the row tells. */
export function findLocation(reading: Reading, id: string): ResourceLocation | undefined {
  return resourceLocations.find(reading, id);
}

/** What makes an id findable; for the turn that writes the thing itself. */
export function locationEntry(id: string, location: ResourceLocation): DirectoryEntry {
  return resourceLocations.entry(id, location);
}
