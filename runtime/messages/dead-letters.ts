import { deadLetterSpace } from "../../storage/keys.js";
import type { Change, Key, Reading } from "../../storage/store.js";
import { type Address, address } from "../cells/address.js";
import type { DeadLetter, DeadLetters } from "../runtime.js";
import type { Message } from "../turns/turn.js";

export interface DeadLetterRow {
  readonly kind: string;
  readonly actor: string;
  readonly message: Message;
  readonly error: string;
  readonly atMs: number;
}

/** Returns the change that stores a message as a dead letter. */
export function deadLetterPut(letter: DeadLetter): Change {
  const { to, message, error, atMs } = letter;
  const row: DeadLetterRow = { kind: to.kind, actor: to.id, message, error, atMs };
  return { op: "put", key: deadLetterKey(to.partition, letter.id), value: row };
}

/** Lists the dead letters of a partition, oldest first. */
export function listDeadLetters(reading: Reading, partition: string, limit: number): DeadLetter[] {
  return reading
    .range<DeadLetterRow>({ prefix: [partition, deadLetterSpace], limit })
    .map((entry) => toDeadLetter(partition, String(entry.key[2]), entry.value));
}

/** Returns the dead letter with this id, or undefined if there is none. */
export function findDeadLetter(reading: Reading, partition: string, id: string): DeadLetter | undefined {
  const row = reading.get<DeadLetterRow>(deadLetterKey(partition, id));
  return row === undefined ? undefined : toDeadLetter(partition, id, row);
}

/**
 * Returns functions that list and retry dead letters. `list` reads `durable` rows. `retry` reads `current` rows and
 * sends the message with `sendAgain`. It returns false if the same dead letter is already being retried.
 */
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
