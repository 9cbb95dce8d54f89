import type { WorkEvent } from "../../actors/events/catalogue.js";
import type { ServerKind } from "./servers.js";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * The functions that a queue's worker calls. `deliver` delivers an event. `ended` reports that the outcome of the event
 * is recorded.
 */
export interface Work {
  deliver(work: WorkEvent): Promise<Answer>;
  ended(occurrence: string): void;
}

/** A queue's client and its workers, all in this process. */
export interface Queue {
  /** Resolves once the event is on disk. */
  add(work: WorkEvent): Promise<unknown>;
  close(): Promise<void>;
}

export interface QueueSetting {
  readonly name: string;
  readonly server: ServerKind;
  /** Opens the queue on an empty server at this address. */
  open(address: string, work: Work): Promise<Queue>;
}

/**
 * Events are added one by one, or in batches. A batch has the events that arrive while the previous batch is in flight.
 */
export type Adding = "each alone" | "in batches";

/**
 * Returns a function that adds single items but sends them in batches: each batch holds the items added while the
 * previous batch was in flight.
 */
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
