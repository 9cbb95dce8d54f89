import { isKey } from "../../../storage/key-check.js";
import { compareKeys } from "../../../storage/key-order.js";
import { isBelow } from "../../../storage/ranges.js";
import { type Entry, isDamage, type Key, type KeyPart, type Range, type Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import type { DeliveryRow } from "../deliveries/delivery.js";

/** One member of a group, with its body. */
export type Grouped = readonly [id: string, key: string | null, headers: DeliveryRow["headers"], content: Uint8Array];

/**
 * Deliveries that arrived together and wait for a slot. Under load, one row for the group costs less than one row per
 * delivery.
 */
export interface DeliveryGroup extends Pick<DeliveryRow, "teamId" | "block" | "receivedAt"> {
  /** Sorted by id. */
  readonly members: readonly Grouped[];
}

/** Key: `[integration, first delivery]`. The id ranges of two groups do not overlap. */
export const deliveryGroups = table<DeliveryGroup>("delivery-group");

/** A member that has a key, and the number of its repeated deliveries. */
export type GroupedKey = readonly [key: string, id: string, repeated: number];

/**
 * Key: `[integration, first delivery]`. The mutable, searchable part of a group, which can be read without the bodies.
 */
export const groupedKeys = table<readonly GroupedKey[]>("delivery-group-keys");

/** A group, identified by its first member. */
interface FoundGroup {
  readonly first: string;
  readonly members: readonly Member[];
}

/**
 * Finds the group of a delivery. Returns null if it has none, or if the group that may contain it is damaged. Only the
 * nearest group is read, so damage in other groups is not reported.
 */
export function findGroup(
  reading: Reading,
  partition: string,
  [integrationId, id]: readonly [integrationId: string, id: string],
  onDamaged: () => void = () => undefined,
): FoundGroup | null {
  const end = deliveryGroups.key(partition, integrationId, justAfter(id));
  // The id may come from a request path, so it may be invalid.
  if (!isKey(end)) return null;
  const [found] = reading.range<DeliveryGroup>({
    prefix: deliveryGroups.key(partition, integrationId),
    before: end,
    reverse: true,
    limit: 1,
    onDamaged,
  });
  if (found === undefined || !found.value.members.some(([member]) => member === id)) return null;
  return { first: String(found.key.at(-1)), members: listMembers(reading, found.key, found.value) };
}

/** Finds a delivery by its key in the delivery table, if it is a member of a group. */
export function findGrouped(reading: Reading, key: Key): DeliveryRow | undefined {
  const [partition, integrationId, id] = [key[0], key.at(-2), key.at(-1)].map(String) as [string, string, string];
  return findGroup(reading, partition, [integrationId, id])?.members.find(({ row }) => row.id === id)?.row;
}

/**
 * Returns the deliveries of a range: the entries `alone`, which have rows of their own, merged with the members of
 * groups.
 */
export function withGrouped(reading: Reading, range: Range, alone: Entry<DeliveryRow>[]): Entry<DeliveryRow>[] {
  const { limit = Number.POSITIVE_INFINITY, reverse = false } = range;
  if (limit === 0) return alone;
  const last = alone.length >= limit ? alone.at(-1)?.key : undefined;
  // Do not read beyond the last entry that can be returned.
  const within = last === undefined ? range : { ...range, ...(reverse ? { after: last } : { before: last }) };
  const grouped = listGrouped(reading, within, limit);
  if (grouped.length === 0) return alone;
  const sign = reverse ? -1 : 1;
  return [...alone, ...grouped].sort((left, right) => sign * compareKeys(left.key, right.key)).slice(0, limit);
}

/** Lists at least the nearest `limit` group members in a range, unordered. */
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

/** Yields the groups that may have members in a range of deliveries, in the direction of the range. */
function* walkGroups(reading: Reading, { prefix, after, before, reverse, onDamaged }: Range) {
  const under = { prefix: toGroupKey(prefix), limit: 1, ...(onDamaged === undefined ? {} : { onDamaged }) };
  const read = (bounds: Omit<Range, "prefix">) => reading.range<DeliveryGroup>({ ...under, ...bounds })[0];
  const from = after === undefined ? undefined : toGroupKey(after);
  const to = before === undefined ? undefined : toGroupKey(before);
  // The last group that starts at or before the lower bound may have members beyond the bound.
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

/** Converts a key of the delivery table to a key of the group table. */
function toGroupKey([partition = "", space = "", _table, ...id]: Key): Key {
  return [partition, space, deliveryGroups.name, ...id];
}

/** Returns a key part that sorts directly after an id. */
function justAfter(id: KeyPart): string {
  return `${id}0`;
}

/** A group member as a delivery, with its body. */
export interface Member {
  readonly row: DeliveryRow;
  readonly content: Uint8Array;
}

/** Returns the members of the group with this key. */
function listMembers(reading: Reading, key: Key, group: DeliveryGroup): readonly Member[] {
  const { teamId, block, receivedAt, members } = group;
  const integrationId = String(key.at(-2));
  const repeated = new Map(readKeys(reading, key).map(([, id, times]) => [id, times]));
  return members.map(([id, key, headers, content]) => ({
    row: {
      id,
      integrationId,
      teamId,
      source: "webhook",
      block,
      key,
      receivedAt,
      headers,
      state: "accepted",
      reason: null,
      endedAt: null,
      attempts: 0,
      retryAt: null,
      cursor: null,
      causes: [],
      repeated: repeated.get(id) ?? 0,
      skipped: 0,
      redeliveryOf: null,
      redeliveredAs: null,
      body: { digest: null, bytes: content.length, content },
    },
    content,
  }));
}

/** Damaged keys count as no keys: the deliveries themselves are still readable. */
function readKeys(reading: Reading, key: Key): readonly GroupedKey[] {
  try {
    return groupedKeys.get(reading, String(key[0]), ...key.slice(-2)) ?? [];
  } catch (error) {
    if (isDamage(error)) return [];
    throw error;
  }
}
