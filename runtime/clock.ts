/** The runtime's source of time; tests drive one by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch; never goes backwards between two calls. */
  now(): number;
  /** Calls `wake` once, at or soon after `atMs`, however far ahead. Returns what cancels it. */
  at(atMs: number, wake: () => void): () => void;
}

/** When work that is ready runs: production defers to the event loop, simulation decides by seed. */
export interface Scheduler {
  /** Runs `work` soon, never inside the call. */
  defer(work: () => void): void;
}

/** Longest single timeout: a distant time is reached in hops, so a change of the wall clock is noticed within this. */
const LONGEST_HOP_MS = 60_000;

/** The machine's wall clock; while that is set back, the highest value seen. */
export function createSystemClock(): Clock {
  let latestMs = 0;
  const now = (): number => {
    latestMs = Math.max(latestMs, Date.now());
    return latestMs;
  };
  return {
    now,
    at(atMs, wake) {
      let timer: NodeJS.Timeout;
      const hop = (): void => {
        const leftMs = atMs - now();
        if (leftMs <= 0) wake();
        else timer = setTimeout(hop, Math.min(leftMs, LONGEST_HOP_MS));
      };
      timer = setTimeout(hop, Math.min(Math.max(0, atMs - now()), LONGEST_HOP_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Runs work with `setImmediate`: after input that has already arrived. */
export function createEventLoopScheduler(): Scheduler {
  return { defer: (work) => void setImmediate(work) };
}
