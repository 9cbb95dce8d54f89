import type { Change } from "../storage/store.js";

/** Who made a batch: this runtime, or another node whose batch was laid into the store. */
export type Origin = "here" | "elsewhere";

/** Holds in memory what rows say. */
export interface RowMemory {
  /**
   * These changes are durable: lets go of what was held of their rows before, or brings them in. What this runtime
   * wrote itself, a memory may know of already.
   */
  applied(changes: readonly Change[], origin: Origin): void;
}
