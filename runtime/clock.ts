/** The runtime's source of time; tests drive one by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. It goes back only when the machine's clock, which was ahead, is put right. */
  now(): number;
  /**
   * Calls `wake` once, at or soon after `atMs`, however far ahead; when the clock goes back meanwhile, after the time that
   * was left. Returns what cancels it.
   */
  at(atMs: number, wake: () => void): () => void;
}

/** When work that is ready runs: production defers to the event loop, simulation decides by seed. */
export interface Scheduler {
  /** Runs `work` soon, never inside the call. */
  defer(work: () => void): void;
}

/** Longest single timeout: a distant time is reached in hops, so a change of the wall clock is noticed within this. */
const LONGEST_HOP_MS = 60_000;

/** How far a clock that is put right goes back at least, in milliseconds; for less, time stands still meanwhile. */
export const STEP_BACK_MS = 5_000;

/** Where the time of the system clock comes from. */
export interface TimeSource {
  /** The machine's wall clock. */
  readonly wallMs: () => number;
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
}

const machineTime: TimeSource = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };

/** The machine's wall clock. While that is set back by less than {@link STEP_BACK_MS}, the highest value seen. */
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
      const begunMs = elapsedMs();
      const mostMs = Math.max(0, atMs - now());
      const hop = (): void => {
        const leftMs = Math.min(atMs - now(), mostMs - (elapsedMs() - begunMs));
        if (leftMs <= 0) wake();
        else timer = setTimeout(hop, Math.min(leftMs, LONGEST_HOP_MS));
      };
      timer = setTimeout(hop, Math.min(mostMs, LONGEST_HOP_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Runs work with `setImmediate`: after input that has already arrived. */
export function createEventLoopScheduler(): Scheduler {
  return { defer: (work) => void setImmediate(work) };
}
