import { actorSpace, undeliveredSpace } from "../../storage/keys.js";
import type { Change, Reading } from "../../storage/store.js";
import type { Address } from "../cells/address.js";
import { type CellRecord, cellKey } from "../cells/cell-record.js";
import { markLeft } from "../recovery.js";
import { Overlays } from "../turns/overlays.js";
import type { Message } from "../turns/turn.js";
import { Envelope } from "./envelope.js";
import { UndeliveredMessages } from "./undelivered.js";

/**
 * Returns the changes that store an undelivered message. The next runtime on the store delivers the message. Stop the
 * store's runtime first: a running runtime would not notice the message.
 */
export function offlineSend(reading: Reading, to: Address, message: Message): Change[] {
  const overlays = new Overlays(reading);
  const undelivered = new UndeliveredMessages(overlays);
  undelivered.store(Envelope.sent(to, message, undelivered.nextSequence()));
  return [...overlays.close().changes(), ...markLeft(reading, to.partition)];
}

/** Whether the store has a record of the actor, or undelivered messages to it. */
export function isStored(reading: Reading, { partition, kind, id }: Address): boolean {
  const own = [actorSpace, undeliveredSpace].map((space) => [partition, space, kind, id]);
  return own.some((key) => reading.get(key) !== undefined || reading.range({ prefix: key, limit: 1 }).length > 0);
}

/**
 * Returns the due time of a stored actor's wake-up, in milliseconds since 1970; null if the actor or the wake-up does
 * not exist.
 */
export function storedWakeUp(reading: Reading, of: Address, name: string): number | null {
  const record = reading.get(cellKey(of)) as CellRecord | undefined;
  return record?.timers?.[name] ?? null;
}
