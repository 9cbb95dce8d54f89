/** The runtime's source of time. Tests use a manual clock. */
export interface Clock {
  /**
   * Milliseconds since the Unix epoch. This time goes back only when the machine's clock was ahead and is corrected.
   */
  now(): number;
  /**
   * Calls `wake` once, at or soon after `atMs`. `atMs` may be any time in the future. If the clock goes back meanwhile,
   * the call still comes after the time that originally remained. Returns a function that cancels the call.
   */
  at(atMs: number, wake: () => void): () => void;
}

/** Runs ready work later. In production this uses the event loop; in simulation the seed decides. */
export interface Scheduler {
  /** Runs `work` soon, never during the call. */
  defer(work: () => void): void;
}

/**
 * Longest single timeout, in milliseconds. Distant times use several timeouts, so a wall-clock change is noticed within
 * this time.
 */
const LONGEST_HOP_MS = 60_000;

/**
 * Minimum correction that moves the clock back, in milliseconds. For a smaller correction, the clock stands still until
 * real time catches up.
 */
export const STEP_BACK_MS = 5_000;

/** The time inputs of the system clock. */
export interface TimeSource {
  /** The machine's wall clock. */
  readonly wallMs: () => number;
  /** Milliseconds from a fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
}

const machineTime: TimeSource = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };

/**
 * Creates a clock from the machine's wall clock. While the wall clock is set back by less than {@link STEP_BACK_MS},
 * the clock returns the highest value seen.
 */
export function createSystemClock({ wallMs, elapsedMs }: TimeSource = machineTime): Clock {
  let latestMs = 0;
  const now = (): number => {
    const readMs = wallMs();
    if (readMs > latestMs || latestMs - readMs >= STEP_BACK_MS) latestMs = readMs;
    return latestMs;
  };
  return {
    now,
    at(atMs, wake) {
      let timer: NodeJS.Timeout;
      const startedMs = elapsedMs();
      const maxMs = Math.max(0, atMs - now());
      const hop = (): void => {
        const leftMs = Math.min(atMs - now(), maxMs - (elapsedMs() - startedMs));
        if (leftMs <= 0) wake();
        else timer = setTimeout(hop, Math.min(leftMs, LONGEST_HOP_MS));
      };
      timer = setTimeout(hop, Math.min(maxMs, LONGEST_HOP_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Creates a scheduler that uses `setImmediate`, so input that has already arrived is read first. */
export function createEventLoopScheduler(): Scheduler {
  return { defer: (work) => void setImmediate(work) };
}
