import { deadLetterSpace } from "../storage/keys.js";
import type { Change, Key, Reading } from "../storage/store.js";
import { type Address, address } from "./address.js";
import type { DeadLetter, DeadLetters } from "./runtime.js";
import type { Message } from "./turn.js";

export interface DeadLetterRow {
  readonly kind: string;
  readonly actor: string;
  readonly message: Message;
  readonly error: string;
  readonly atMs: number;
}

/** The change that sets a message aside. */
export function deadLetterPut(letter: DeadLetter): Change {
  const { to, message, error, atMs } = letter;
  const row: DeadLetterRow = { kind: to.kind, actor: to.id, message, error, atMs };
  return { op: "put", key: deadLetterKey(to.partition, letter.id), value: row };
}

/** The dead letters of a partition, oldest first. */
export function listDeadLetters(reading: Reading, partition: string, limit: number): DeadLetter[] {
  return reading
    .range<DeadLetterRow>({ prefix: [partition, deadLetterSpace], limit })
    .map((entry) => toDeadLetter(partition, String(entry.key[2]), entry.value));
}

/** One dead letter, or undefined when there is none with that id. */
export function findDeadLetter(reading: Reading, partition: string, id: string): DeadLetter | undefined {
  const row = reading.get<DeadLetterRow>(deadLetterKey(partition, id));
  return row === undefined ? undefined : toDeadLetter(partition, id, row);
}

/** Lists dead letters of durable rows, and retries one of `current` rows by `sendAgain`, each once at a time. */
export function createDeadLetters(
  durable: Reading,
  current: Reading,
  sendAgain: (letter: DeadLetter) => Promise<unknown>,
): DeadLetters {
  const retrying = new Set<string>();
  return {
    list: (partition, limit) => listDeadLetters(durable, partition, limit),
    async retry(partition, id) {
      const letter = findDeadLetter(current, partition, id);
      const name = `${partition}\0${id}`;
      if (letter === undefined || retrying.has(name)) return false;
      retrying.add(name);
      try {
        await sendAgain(letter);
        return true;
      } finally {
        retrying.delete(name);
      }
    },
  };
}

export function deadLetterKey(partition: string, id: string): Key {
  return [partition, deadLetterSpace, id];
}

function toDeadLetter(partition: string, id: string, row: DeadLetterRow): DeadLetter {
  const to: Address = address(partition, row.kind, row.actor);
  return { id, to, message: row.message, error: row.error, atMs: row.atMs };
}
