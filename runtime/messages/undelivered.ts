import { type Finding, listEntries } from "../../storage/finding.js";
import { GLOBAL_PARTITION, metaSpace, undeliveredSpace } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import { listPartitions } from "../../storage/partitions.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import type { Cell } from "../cells/cell.js";
import type { Message } from "../turns/turn.js";
import { Envelope } from "./envelope.js";

/** The row of an undelivered message. Its key contains the receiver and the order. */
export interface UndeliveredRow {
  readonly message: Message;
}

const COUNTER: Key = [GLOBAL_PARTITION, metaSpace, "mail-sequence"];
/** Number of sequence numbers that are reserved on disk at a time. */
const BLOCK = 1_000_000;
/** Maximum number of messages read from disk for one actor at a time. */
const READ_BACK = 64;

/**
 * Numbers the messages between actors. Stores a message if its receiver does not take it in the batch that sends it.
 *
 * 1. Numbers increase, also across restarts. The block that contains a stored number is reserved in the same batch or
 *   an earlier one.
 */
export class UndeliveredMessages {
  readonly #writing: Writing;
  #next: number;
  #reserved: number;

  constructor(writing: Writing) {
    this.#writing = writing;
    this.#next = (writing.get<number>(COUNTER) ?? 0) + 1;
    this.#reserved = this.#next - 1;
  }

  /** Returns the next sequence number. */
  nextSequence(): number {
    return this.#next++;
  }

  /** Writes the row of an undelivered message. */
  store(envelope: Envelope): void {
    if (envelope.sequence > this.#reserved) {
      this.#reserved = envelope.sequence + BLOCK;
      this.#writing.put(COUNTER, this.#reserved);
    }
    const row: UndeliveredRow = { message: envelope.message };
    this.#writing.put(undeliveredKey(envelope), row);
    envelope.stored = true;
  }

  /** Removes the row of a taken message, if it has one. */
  remove(envelope: Envelope): void {
    if (envelope.stored) this.#writing.remove(undeliveredKey(envelope));
  }

  /** Loads messages from disk into a cell's mailbox, in order. Skips damaged rows. */
  readBack(cell: Cell): void {
    const { partition, kind, id } = cell.to;
    const prefix = [partition, undeliveredSpace, kind, id];
    const after = [...prefix, cell.readUpTo];
    const rows = this.#writing.range<UndeliveredRow>({ prefix, after, limit: READ_BACK, onDamaged: () => undefined });
    for (const row of rows) {
      const sequence = Number(row.key[4]);
      const envelope = Envelope.sent(cell.to, row.value.message, sequence);
      envelope.stored = true;
      cell.mailbox.push(envelope);
      cell.readUpTo = sequence;
    }
    cell.hasUndelivered = rows.length === READ_BACK;
  }
}

/**
 * Returns the next actor of `partition` that has undelivered messages on disk: the first one after `after`, or the
 * first of all if `after` is null. Returns undefined if there is none.
 */
export function nextReceiver(
  reading: Reading,
  partition: string,
  after: { readonly kind: string; readonly id: string } | null,
): { readonly kind: string; readonly id: string } | undefined {
  const prefix = [partition, undeliveredSpace];
  const from = after === null ? {} : { after: [...prefix, after.kind, after.id] };
  const [key] = listKeys(reading, { prefix, ...from, limit: 1 });
  return key === undefined ? undefined : { kind: String(key[2]), id: String(key[3]) };
}

/** Checks that the counter is not below the number of any stored message. */
export function* checkCounter(reading: Reading): Generator<Finding> {
  let last = 0;
  for (const partition of listPartitions(reading)) {
    for (const { key } of listEntries(reading, [partition, undeliveredSpace])) last = Math.max(last, Number(key[4]));
  }
  if ((reading.get<number>(COUNTER) ?? 0) >= last) return;
  yield { what: "the counter of messages", key: COUNTER, repair: [{ op: "put", key: COUNTER, value: last + BLOCK }] };
}

function undeliveredKey(envelope: Envelope): Key {
  const { partition, kind, id } = envelope.to;
  return [partition, undeliveredSpace, kind, id, envelope.sequence];
}
