/** Time as the runtime sees it; tests drive one by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch; never goes backwards between two calls. */
  now(): number;
  /** Calls `wake` once, at or soon after `atMs`, unless cancelled. Any distance in time is allowed. */
  at(atMs: number, wake: () => void): () => void;
}

/** When work that is ready runs: production defers to the event loop, simulation decides by seed. */
export interface Scheduler {
  /** Runs `work` soon, never inside the call. */
  soon(work: () => void): void;
}
