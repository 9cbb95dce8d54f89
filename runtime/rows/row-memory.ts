import type { Change } from "../../storage/store.js";

/** The origin of a batch: this runtime, or another node that wrote its batch into the store. */
export type Origin = "here" | "elsewhere";

/** In-memory state that depends on rows. */
export interface RowMemory {
  /**
   * Drops or updates the data that depends on the changed rows. The changes are durable. If `origin` is "here", the
   * data may already include the changes.
   */
  applied(changes: readonly Change[], origin: Origin): void;
}
