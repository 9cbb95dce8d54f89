import { actorSpace, undeliveredSpace } from "../storage/keys.js";
import type { Change, Reading } from "../storage/store.js";
import type { Address } from "./address.js";
import { Envelope } from "./envelope.js";
import { Overlays } from "./overlays.js";
import type { Message } from "./turn.js";
import { UndeliveredMessages } from "./undelivered.js";

/**
 * What lays a message among those undelivered, in a batch of its own or of its reason: the runtime that starts on the
 * store delivers it. For a store that no runtime is on: one that is would not see it.
 */
export function offlineSend(reading: Reading, to: Address, message: Message): Change[] {
  const layers = new Overlays(reading);
  const undelivered = new UndeliveredMessages(layers);
  undelivered.store(Envelope.sent(to, message, undelivered.nextSequence()));
  return [...layers.close().changes()];
}

/** Whether there is a record of the actor, or a message on its way to it. */
export function isStored(reading: Reading, { partition, kind, id }: Address): boolean {
  const own = [actorSpace, undeliveredSpace].map((space) => [partition, space, kind, id]);
  return own.some((key) => reading.get(key) !== undefined || reading.range({ prefix: key, limit: 1 }).length > 0);
}
