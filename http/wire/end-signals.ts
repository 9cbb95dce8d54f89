/**
 * Signals with the same name within this time count as one request to stop, in milliseconds. One request often causes
 * several signals: a terminal sends Ctrl+C, and a supervisor sends SIGTERM, to every process of a group. If npm started
 * the program, npm is in the group too and forwards its signal to the program.
 */
const SAME_REQUEST_MS = 500;
/**
 * Signals with different names within this time also count as one request to stop, in milliseconds. Some supervisors
 * send SIGTERM and SIGINT at once, and a wrapper program may respond to one signal by sending the other. The program
 * acts on a request only after this time. So a signal that another program sends because of that action is a new
 * request.
 */
const GATHERING_MS = 100;
const END_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Calls `end` with 1 at the first request to stop (SIGTERM or SIGINT), with 2 at the second, and so on. From then on,
 * these signals no longer terminate the process by themselves. The returned function stops listening and restores the
 * default.
 */
export function onEndSignal(end: (times: number) => void): () => void {
  const count = createSignalCounter(() => performance.now());
  const take = (name: NodeJS.Signals): void => {
    const times = count(name);
    if (times !== null) setTimeout(end, GATHERING_MS, times);
  };
  for (const name of END_SIGNALS) process.on(name, take);
  return () => {
    for (const name of END_SIGNALS) process.off(name, take);
  };
}

/**
 * Counts requests to stop. The returned function takes the name of a signal. It returns the number of requests so far,
 * or null if the signal belongs to the previous request.
 */
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
