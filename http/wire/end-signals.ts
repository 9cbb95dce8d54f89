/**
 * Signals with the same name within this time count as one request to stop, in milliseconds. One request often causes
 * several signals. A terminal sends Ctrl+C, and a supervisor sends SIGTERM, to every process of a group. npm is in that
 * group and also forwards the signal to the program that it started.
 */
const SAME_REQUEST_MS = 500;
/**
 * Signals with any name within this time count as one request to stop, in milliseconds. Some supervisors send both
 * signals at once, and a wrapper program may respond to one signal by sending the other. The program acts on a request
 * after this time, so a signal that responds to that action is a new request.
 */
const GATHERING_MS = 100;
const END_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Calls `end` with 1 at the first request to stop (SIGTERM or SIGINT), with 2 at the second, and so on. After this
 * call, these signals no longer terminate the process by themselves, until the returned function is called.
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
 * Counts requests to stop. The returned function returns the count including this signal, or null if the signal belongs
 * to the last request.
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
