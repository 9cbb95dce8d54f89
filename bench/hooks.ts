import type { ChildProcess } from "node:child_process";
import type { Change, Store } from "../storage/store.js";
import { type Figures, IN_FLIGHT, inFolder, measure } from "./support/hook-events.js";
import { deliverBy, HOOK_PROCESS, startRounds, toMedian, withReceiver } from "./support/hook-rounds.js";
import { alike, type HookSide, hookSides, least, plain, written } from "./support/hook-sides.js";
import { printTable } from "./support/table.js";

const ROUNDS = 5;
/** Events per round. */
const EVENTS = 20_000;
/** The number of events that {@link inspectHookValues} publishes. */
export const INSPECTED_EVENTS = 30_000;

export type Put = Extract<Change, { op: "put" }>;

/**
 * Measures the cost of hook deliveries with and without the actors. The printed note explains the method. Pass lower
 * numbers of rounds or events for a shorter measurement.
 */
export async function run(rounds = ROUNDS, events = EVENTS): Promise<void> {
  const runs = new Map<HookSide, Figures[]>(hookSides.map((side) => [side, []]));
  await withReceiver(async (url) => {
    const processes = new Map<HookSide, ChildProcess>();
    for (const side of hookSides) processes.set(side, await startRounds(HOOK_PROCESS, [side.name, url]));
    // The sides alternate, so that other load affects all of them equally. The first round compiles the code.
    for (let round = 0; round <= rounds; round++) {
      for (const [side, process] of processes) {
        const figures = await deliverBy(process, events);
        if (round > 0) runs.get(side)?.push(figures);
      }
    }
    for (const process of processes.values()) process.disconnect();
  });
  const middle = (side: HookSide) => toMedian(runs.get(side) ?? []);
  const row = (side: HookSide) => {
    const figures = middle(side);
    const more = figures.cpuMicros - middle(plain).cpuMicros;
    return [
      side.name,
      figures.cpuMicros.toFixed(1),
      (middle(least).cpuMicros / figures.cpuMicros).toFixed(2),
      (middle(alike).cpuMicros / figures.cpuMicros).toFixed(2),
      side === written ? `${more.toFixed(1)} us, ${(more / middle(least).cpuMicros).toFixed(2)} of the least` : "",
      Math.round(figures.perSecond),
      figures.p50.toFixed(1),
      figures.p99.toFixed(1),
    ];
  };
  printTable({
    title: "Hook throughput",
    note:
      `From the event to delivered and recorded, ${IN_FLIGHT} in flight, ${events.toLocaleString("en-US")} events, ` +
      `medians of ${rounds} rounds in turns after one that does not count, each row in a process of its own, and one ` +
      "that receives on loopback. CPU is user and system time of the serving process alone; the ratios are those of the " +
      "references' CPU to it. All write the event durably, send a signed request, and write the result durably. The " +
      "first does no more than that; the second sends the very request and writes the very rows of history that " +
      "Signalbox does, and leaves out what its actors and streams live by.",
    columns: [
      ...["", "CPU us each", "the least to it", "the same to it", "more than plain"],
      ...["events/s", "p50 ms", "p99 ms"],
    ],
    rows: hookSides.map(row),
  });
}

/**
 * Passes to `inspect` the values of each batch written for hooks without expressions, before the batch is committed.
 */
export async function inspectHookValues(inspect: (values: readonly Put[]) => void): Promise<void> {
  const inspected = (store: Store): Store => ({
    reading: store.reading,
    commit: (changes) => {
      inspect(changes.filter((change) => change.op === "put"));
      return store.commit(changes);
    },
    view: () => store.view(),
    backup: (folder) => store.backup(folder),
    close: () => store.close(),
  });
  await withReceiver((url) =>
    inFolder(async (store) => {
      const deliverer = await plain.open(inspected(store), url);
      await measure(deliverer, 0, INSPECTED_EVENTS);
      await deliverer.close();
    }),
  );
}
