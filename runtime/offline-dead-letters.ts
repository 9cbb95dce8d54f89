import { listPartitions } from "../storage/partitions.js";
import type { Reading, Store } from "../storage/store.js";
import { deadLetterKey, findDeadLetter, listDeadLetters } from "./dead-letters.js";
import { offlineSend } from "./offline-send.js";
import type { DeadLetter } from "./runtime.js";

/** The dead letters of every partition, the service's own included; of each the oldest `limit`, oldest first. */
export function listAllDeadLetters(reading: Reading, limit: number): DeadLetter[] {
  return listPartitions(reading).flatMap((partition) => listDeadLetters(reading, partition, limit));
}

/**
 * Lays a dead letter into its actor's mail, whoever's it is: the runtime that starts on the store delivers it. False
 * when there is none of the id. For a store that no runtime is on: one that is would not see it.
 */
export async function retryOffline(store: Store, id: string): Promise<boolean> {
  const letter = listPartitions(store.reading)
    .map((partition) => findDeadLetter(store.reading, partition, id))
    .find((found) => found !== undefined);
  if (letter === undefined) return false;
  const sent = offlineSend(store.reading, letter.to, letter.message);
  await store.commit([...sent, { op: "remove", key: deadLetterKey(letter.to.partition, id) }]);
  return true;
}
