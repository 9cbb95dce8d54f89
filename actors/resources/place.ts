import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Where something that the API names by its id alone is kept. */
export interface Place {
  readonly workspaceId: string;
  /** `line`, `task`, `run`, ... */
  readonly kind: string;
}

/** `[id]` */
export const places = table<Place>("place");

/** The workspace and kind of an id, or undefined when nothing has that id. */
export function placeOf(reading: Reading, id: string): Place | undefined {
  return places.get(reading, GLOBAL_PARTITION, id);
}

/** Makes an id findable; in the batch that writes the thing itself. */
export function recordPlace(writing: Writing, id: string, place: Place): void {
  places.put(writing, GLOBAL_PARTITION, id, place);
}

/** Forgets an id. */
export function forgetPlace(writing: Writing, id: string): void {
  places.remove(writing, GLOBAL_PARTITION, id);
}
