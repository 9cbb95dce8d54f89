import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type Deliverer, type Figures, measure } from "./hook-events.js";
import { percentile } from "./table.js";

/**
 * The module of a process that delivers events in one of the measured ways ({@link HookSide}). Its arguments are the
 * side's name and the receiver's address.
 */
export const HOOK_PROCESS = new URL("./hook-process.js", import.meta.url);

/** Calls `work` with the address of a receiver that answers immediately, in a separate process. */
export async function withReceiver<T>(work: (url: string) => Promise<T>): Promise<T> {
  const receiver = fork(new URL("./receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  try {
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    receiver.disconnect();
  }
}

/** Starts a process that delivers in rounds with {@link serveRounds}; it exits on disconnect. */
export async function startRounds(module: URL, args: readonly string[]): Promise<ChildProcess> {
  const started = fork(module, args);
  await nextMessage(started);
  return started;
}

/** Delivers this many events with a process of {@link startRounds}; returns the figures. */
export async function deliverBy(process: ChildProcess, events: number): Promise<Figures> {
  process.send(events);
  return (await nextMessage(process)) as Figures;
}

/** Stops a process of {@link startRounds}, unless it has already exited. */
export async function endRounds(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exit = once(process, "exit");
  if (process.connected) process.disconnect();
  await exit;
}

async function nextMessage(process: ChildProcess): Promise<unknown> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(process, "exit", { signal }).then(([code]) => {
    throw new Error(`a process that delivers ended with ${code}`);
  });
  const message = once(process, "message", { signal }).then(([value]) => value as unknown);
  try {
    return await Promise.race([message, ended]);
  } finally {
    ended.catch(() => undefined);
    settled.abort();
  }
}

/**
 * Delivers for this process's parent: each message is a number of events, and the answer is their figures. Ends when
 * the parent disconnects.
 */
export async function serveRounds(deliverer: Deliverer): Promise<void> {
  let next = 0;
  process.on("message", (count: number) => {
    const first = next;
    next += count;
    measure(deliverer, first, count).then((figures) => process.send?.(figures));
  });
  process.send?.("ready");
  await new Promise((ended) => process.once("disconnect", ended));
  await deliverer.close();
}

/** Returns the median of each figure. */
export function toMedian(runs: readonly Figures[]): Figures {
  const middle = (figure: keyof Figures) =>
    percentile(
      runs.map((run) => run[figure]),
      0.5,
    );
  return { perSecond: middle("perSecond"), p50: middle("p50"), p99: middle("p99"), cpuMicros: middle("cpuMicros") };
}
