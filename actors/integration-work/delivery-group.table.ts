import { isKey } from "../../storage/key-check.js";
import { compareKeys } from "../../storage/key-order.js";
import { isBelow } from "../../storage/ranges.js";
import { type Entry, isDamage, type Key, type KeyPart, type Range, type Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { DeliveryRow } from "./delivery.js";

/** One of a group, with its body. */
export type Grouped = readonly [id: string, key: string | null, headers: DeliveryRow["headers"], content: Uint8Array];

/** Deliveries that came together and wait for a place: one row costs less than one for each, while many come. */
export interface DeliveryGroup extends Pick<DeliveryRow, "teamId" | "block" | "receivedAt"> {
  /** By id. */
  readonly members: readonly Grouped[];
}

/** `[integration, first delivery]`. The members of two groups are not between each other. */
export const deliveryGroups = table<DeliveryGroup>("delivery-group");

/** A member that has a key, and how often it came again. */
export type GroupedKey = readonly [key: string, id: string, repeated: number];

/** `[integration, first delivery]`: what changes of a group, and is looked for; read without the bodies. */
export const groupedKeys = table<readonly GroupedKey[]>("delivery-group-keys");

/** A group that was found, by its first member. */
interface FoundGroup {
  readonly first: string;
  readonly members: readonly Member[];
}

/**
 * The group that a delivery is a member of; null where it is of none, also where the one is damaged in which it may be: of
 * what else has an id after that, nothing is known to be damaged.
 */
export function findGroup(
  reading: Reading,
  partition: string,
  [integrationId, id]: readonly [integrationId: string, id: string],
  onDamaged: () => void = () => undefined,
): FoundGroup | null {
  const end = deliveryGroups.key(partition, integrationId, justAfter(id));
  // An id that no delivery can have may come from a request's path.
  if (!isKey(end)) return null;
  const [found] = reading.range<DeliveryGroup>({
    prefix: deliveryGroups.key(partition, integrationId),
    ...{ before: end, reverse: true, limit: 1, onDamaged },
  });
  if (found === undefined || !found.value.members.some(([member]) => member === id)) return null;
  return { first: String(found.key.at(-1)), members: listMembers(reading, found.key, found.value) };
}

/** The delivery with a key of the table of deliveries, where it is a member of a group. */
export function findGrouped(reading: Reading, key: Key): DeliveryRow | undefined {
  const [partition, integrationId, id] = [key[0], key.at(-2), key.at(-1)].map(String) as [string, string, string];
  return findGroup(reading, partition, [integrationId, id])?.members.find(({ row }) => row.id === id)?.row;
}

/** The deliveries of a range: those `alone` that have rows in it, and the members of groups between them. */
export function withGrouped(reading: Reading, range: Range, alone: Entry<DeliveryRow>[]): Entry<DeliveryRow>[] {
  const { limit = Number.POSITIVE_INFINITY, reverse = false } = range;
  if (limit === 0) return alone;
  const last = alone.length >= limit ? alone.at(-1)?.key : undefined;
  // What is beyond the last that may be returned is not read.
  const within = last === undefined ? range : { ...range, ...(reverse ? { after: last } : { before: last }) };
  const grouped = listGrouped(reading, within, limit);
  if (grouped.length === 0) return alone;
  const sign = reverse ? -1 : 1;
  return [...alone, ...grouped].sort((left, right) => sign * compareKeys(left.key, right.key)).slice(0, limit);
}

/** The members of groups in a range, the nearest `limit` at least; in no order. */
function listGrouped(reading: Reading, range: Range, limit: number): Entry<DeliveryRow>[] {
  const listed: Entry<DeliveryRow>[] = [];
  for (const { key, value } of walkGroups(reading, range)) {
    for (const { row } of listMembers(reading, key, value)) {
      const own = [...range.prefix.slice(0, 3), row.integrationId, row.id];
      if (isWithin(own, range)) listed.push({ key: own, value: row });
    }
    if (listed.length >= limit) break;
  }
  return listed;
}

/** The groups that may have members in a range of deliveries, one after another in its direction. */
function* walkGroups(reading: Reading, { prefix, after, before, reverse, onDamaged }: Range) {
  const under = { prefix: toGroupKey(prefix), limit: 1, ...(onDamaged === undefined ? {} : { onDamaged }) };
  const read = (bounds: Omit<Range, "prefix">) => reading.range<DeliveryGroup>({ ...under, ...bounds })[0];
  const from = after === undefined ? undefined : toGroupKey(after);
  const to = before === undefined ? undefined : toGroupKey(before);
  // The members of the last group that begins at the lower bound, or before it, may be beyond that.
  const isBound = from !== undefined && from.length > prefix.length;
  const lowest = isBound
    ? read({ before: [...from.slice(0, -1), justAfter(from.at(-1) ?? "")], reverse: true })
    : undefined;
  let next = reverse === true ? read({ before: to, reverse }) : (lowest ?? read({ after: from, before: to }));
  while (next !== undefined) {
    yield next;
    const { key } = next;
    if (reverse === true && from !== undefined && compareKeys(key, from) <= 0) return;
    next = reverse === true ? read({ before: key, reverse }) : read({ after: key, before: to });
  }
}

function isWithin(key: Key, { prefix, after, before }: Range): boolean {
  if (!isBelow(key, prefix) || (before !== undefined && compareKeys(key, before) >= 0)) return false;
  return after === undefined || (compareKeys(key, after) > 0 && !isBelow(key, after));
}

/** The place in the table of groups that a key of the table of deliveries stands for. */
function toGroupKey([partition = "", space = "", _table, ...id]: Key): Key {
  return [partition, space, deliveryGroups.name, ...id];
}

/** Sorts after an id, and before all others that do. */
function justAfter(id: KeyPart): string {
  return `${id}0`;
}

/** A member of a group as a delivery, and its body. */
export interface Member {
  readonly row: DeliveryRow;
  readonly content: Uint8Array;
}

/** The members of the group under a key. */
function listMembers(reading: Reading, key: Key, group: DeliveryGroup): readonly Member[] {
  const { teamId, block, receivedAt, members } = group;
  const integrationId = String(key.at(-2));
  const repeated = new Map(readKeys(reading, key).map(([, id, times]) => [id, times]));
  return members.map(([id, key, headers, content]) => ({
    row: {
      ...{ id, integrationId, teamId, source: "webhook", block, key, receivedAt, headers },
      ...{ state: "accepted", reason: null, endedAt: null, attempts: 0, retryAt: null, cursor: null, causes: [] },
      ...{ repeated: repeated.get(id) ?? 0, skipped: 0, redeliveryOf: null, redeliveredAs: null },
      body: { digest: null, bytes: content.length, content },
    },
    content,
  }));
}

/** None where they are damaged: the deliveries are there all the same. */
function readKeys(reading: Reading, key: Key): readonly GroupedKey[] {
  try {
    return groupedKeys.get(reading, String(key[0]), ...key.slice(-2)) ?? [];
  } catch (error) {
    if (isDamage(error)) return [];
    throw error;
  }
}
