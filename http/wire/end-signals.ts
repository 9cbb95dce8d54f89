/**
 * Signals of one name within this time count as one request to end, in milliseconds. A terminal sends Ctrl+C, and a
 * supervisor SIGTERM, to every process of a group; npm, which is one of them, forwards it to the program it started.
 */
const SAME_REQUEST_MS = 500;
/**
 * Signals of any name within this time count as one request, in milliseconds: some supervisors send both at once, and a
 * program between answers the one with the other. A request is acted on when this time is over, so that what is sent in
 * answer to that is another request.
 */
const GATHERING_MS = 100;

/**
 * Calls `end` with 1 when this process is first asked to end (SIGTERM, SIGINT), with 2 the second time, and so on.
 * These signals no longer end the process by themselves.
 */
export function onEndSignal(end: (times: number) => void): void {
  const count = createSignalCounter(() => performance.now());
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      const times = count(name);
      if (times !== null) setTimeout(end, GATHERING_MS, times);
    });
  }
}

/** Counts requests to end: the number so far, with this one; null for a signal that belongs to the last request. */
export function createSignalCounter(nowMs: () => number): (name: string) => number | null {
  let times = 0;
  let last: { readonly name: string; readonly at: number } | null = null;
  return (name) => {
    const sinceMs = last === null ? Number.POSITIVE_INFINITY : nowMs() - last.at;
    if (sinceMs < (last?.name === name ? SAME_REQUEST_MS : GATHERING_MS)) return null;
    last = { name, at: nowMs() };
    times += 1;
    return times;
  };
}
