import type { Reading, Store } from "../storage/store.js";
import { deadLetterKey, findDeadLetter, listDeadLetters } from "./dead-letters.js";
import { Envelope } from "./envelope.js";
import { Layers } from "./layers.js";
import { Mail } from "./mail.js";
import type { DeadLetter } from "./runtime.js";

/** The dead letters of every partition, the service's own included; of each the oldest `limit`, oldest first. */
export function everyDeadLetter(reading: Reading, limit: number): DeadLetter[] {
  return partitionsOf(reading).flatMap((partition) => listDeadLetters(reading, partition, limit));
}

/**
 * Lays a dead letter into its actor's mail, whoever's it is: the runtime that starts on the store delivers it. False
 * when there is none of the id. For a store that no runtime is on: one that is would not see it.
 */
export async function retryDeadLetter(store: Store, id: string): Promise<boolean> {
  const letter = partitionsOf(store.reading)
    .map((partition) => findDeadLetter(store.reading, partition, id))
    .find((found) => found !== undefined);
  if (letter === undefined) return false;
  const layers = new Layers(store.reading);
  const mail = new Mail(layers);
  mail.store(Envelope.mail(letter.to, letter.message, mail.nextSequence()));
  layers.remove(deadLetterKey(letter.to.partition, id));
  await store.commit([...layers.close().changes()]);
  return true;
}

function partitionsOf(reading: Reading): string[] {
  const partitions: string[] = [];
  for (;;) {
    const [row] = reading.range({ prefix: [], after: [partitions.at(-1) ?? ""], limit: 1 });
    if (row === undefined) return partitions;
    partitions.push(String(row.key[0]));
  }
}
