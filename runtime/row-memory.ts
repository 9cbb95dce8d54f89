import type { Change } from "../storage/store.js";

/** Who made a batch: this runtime, or another node whose batch was written into the store. */
export type Origin = "here" | "elsewhere";

/** In-memory state that depends on rows. */
export interface RowMemory {
  /**
   * These changes are durable: drops what depended on the rows before, or updates it. Changes from "here" may be
   * reflected already.
   */
  applied(changes: readonly Change[], origin: Origin): void;
}
