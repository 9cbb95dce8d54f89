import type { WorkEvent } from "../../actors/events/catalogue.js";
import type { ServerKind } from "./servers.js";

/** A receiver's answer. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What the worker of a queue does with an event, and whom it tells when the outcome is recorded. */
export interface Work {
  deliver(work: WorkEvent): Promise<Answer>;
  ended(occurrence: string): void;
}

/** A queue and its worker, both in this process. */
export interface Queue {
  /** Resolves once the event is on disk. */
  add(work: WorkEvent): Promise<unknown>;
  close(): Promise<void>;
}

/** One way to use a queue. */
export interface QueueSetting {
  readonly name: string;
  readonly server: ServerKind;
  /** Opens it at the address of a server that holds nothing yet. */
  open(address: string, work: Work): Promise<Queue>;
}

/** Events are added one by one, or those together that came while others were on their way. */
export type Adding = "each alone" | "in batches";

/** Sends what is added one at a time in batches: each holds what was added while the one before was on its way. */
export function inBatches<Item>(send: (items: Item[]) => Promise<unknown>): (item: Item) => Promise<void> {
  let gathered: Item[] = [];
  let next: Promise<void> | null = null;
  let underWay: Promise<void> = Promise.resolve();
  const sendGathered = async () => {
    const items = gathered;
    gathered = [];
    next = null;
    await send(items);
  };
  return (item) => {
    gathered.push(item);
    if (next === null) {
      next = underWay.then(sendGathered);
      underWay = next;
    }
    return next;
  };
}
