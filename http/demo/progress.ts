/** Maximum time without a line, in milliseconds, while the demo works. */
const QUIET_MS = 900;
const CHECK_MS = 100;

/**
 * Reports progress while nothing else is printed. Once per second, the report says what the demo waits for, and for how
 * long.
 */
export class Progress {
  readonly #nowMs: () => number;
  #lastLineMs: number;
  #startedMs: number;
  #subject = "";
  #state = "";

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#lastLineMs = nowMs();
    this.#startedMs = nowMs();
  }

  /** Sets what the demo waits for, such as "the search", and its current state. */
  set(subject: string, state: string): void {
    if (subject !== this.#subject) this.#startedMs = this.#nowMs();
    this.#subject = subject;
    this.#state = state;
  }

  /** Records that a line is printed. Call it for each printed line. */
  printed(): void {
    this.#lastLineMs = this.#nowMs();
  }

  /** Returns the text to print, or null if the last line is less than a second old. */
  due(): string | null {
    const nowMs = this.#nowMs();
    if (this.#state === "" || nowMs - this.#lastLineMs < QUIET_MS) return null;
    return `${this.#state} (${Math.round((nowMs - this.#startedMs) / 1_000)} s)`;
  }
}

/** The progress of this process, for {@link line} and the waits of the demo. */
export const progress = new Progress(() => performance.now());

/** Prints a line of the demo's report. */
export function line(kind: string, text: string): void {
  progress.printed();
  console.log(`${kind.padEnd(6)} ${text}`);
}

/** Prints the progress in quiet seconds. Returns a function that stops the printing. */
export function startProgress(): () => void {
  const timer = setInterval(() => {
    const text = progress.due();
    if (text !== null) line("wait", text);
  }, CHECK_MS);
  return () => clearInterval(timer);
}
