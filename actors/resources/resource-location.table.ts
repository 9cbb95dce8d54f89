import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Where something that the API names by its id alone is kept. */
export interface ResourceLocation {
  readonly workspaceId: string;
  /** `line`, `task`, `run`, ... */
  readonly kind: string;
}

/** `[id]` */
export const resourceLocations = table<ResourceLocation>("place");

/** The workspace and kind of an id, or undefined when nothing has that id. */
export function locate(reading: Reading, id: string): ResourceLocation | undefined {
  return resourceLocations.get(reading, GLOBAL_PARTITION, id);
}

/** Makes an id findable; in the batch that writes the thing itself. */
export function indexLocation(writing: Writing, id: string, place: ResourceLocation): void {
  resourceLocations.put(writing, GLOBAL_PARTITION, id, place);
}

/** Forgets an id. */
export function unindexLocation(writing: Writing, id: string): void {
  resourceLocations.remove(writing, GLOBAL_PARTITION, id);
}
