/**
 * Signals of one name that come this close are one asking, in milliseconds. A terminal sends Ctrl+C, and a supervisor
 * SIGTERM, to every process of a group; npm, which is one of them, passes what it gets on to the program it started.
 */
const ONE_ASKING_MS = 500;

/**
 * Calls `asked` with 1 when this process is first asked to end (SIGTERM, SIGINT), with 2 the second time, and so on.
 * From then on the process ends by itself alone.
 */
export function onEndSignal(asked: (times: number) => void): void {
  const count = createSignalCounter(() => performance.now());
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      const times = count(name);
      if (times !== null) asked(times);
    });
  }
}

/** Gives how often the process was asked, this signal included; null for one that is the same asking as the last. */
export function createSignalCounter(nowMs: () => number): (name: string) => number | null {
  let times = 0;
  let last: { readonly name: string; readonly at: number } | null = null;
  return (name) => {
    const isSame = last !== null && last.name === name && nowMs() - last.at < ONE_ASKING_MS;
    if (isSame) return null;
    last = { name, at: nowMs() };
    times += 1;
    return times;
  };
}
