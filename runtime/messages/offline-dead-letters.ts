import { listPartitions } from "../../storage/partitions.js";
import type { Reading, Store } from "../../storage/store.js";
import type { DeadLetter } from "../runtime.js";
import { deadLetterKey, findDeadLetter, listDeadLetters } from "./dead-letters.js";
import { offlineSend } from "./offline-send.js";

/** Lists the oldest `limit` dead letters of each partition, including the global partition `~`, oldest first. */
export function listAllDeadLetters(reading: Reading, limit: number): DeadLetter[] {
  return listPartitions(reading).flatMap((partition) => listDeadLetters(reading, partition, limit));
}

/**
 * Turns a dead letter of any partition back into an undelivered message. The next runtime on the store delivers this
 * message. Returns false if there is no dead letter with that id. Stop the store's runtime first: a running runtime
 * would not notice the message.
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
