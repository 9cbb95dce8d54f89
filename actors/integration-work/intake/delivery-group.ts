import type { Picture } from "../../../runtime/rows/picture.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { Key } from "../../../storage/store.js";
import { timeText } from "../../time-text.js";
import type { NewDelivery } from "../deliveries/delivery.js";
import { deliveries } from "../deliveries/delivery.table.js";
import { isOwn, storeBody } from "../deliveries/delivery-body.table.js";
import { recordKey } from "../deliveries/delivery-key.table.js";
import { deliveryGroups, findGroup, type Grouped, type GroupedKey, groupedKeys } from "./delivery-group.table.js";
import { insertDelivery } from "./record-delivery.js";

/** Minimum size of a group. Fewer deliveries are stored individually, because writing them twice would save little. */
const FEWEST = 4;

/** The location of a group member. */
interface Place {
  readonly id: string;
  /** The id of the first delivery in the group. */
  readonly first: string;
}

/**
 * The group members of an integration by delivery key. Damaged keys are skipped, so a repeated delivery with such a key
 * is accepted again.
 */
export const groupedKeysPicture: Picture<Map<string, Place>> = {
  rows: [[groupedKeys.name]],
  isOfActor: true,
  build: (reading, { partition, id }) => {
    const rows = reading.range<readonly GroupedKey[]>({
      prefix: groupedKeys.key(partition, id),
      onDamaged: () => {},
    });
    return new Map(
      rows.flatMap(({ key, value }) => value.map(([name, id]) => [name, { id, first: String(key.at(-1)) }] as const)),
    );
  },
};

/** A delivery with only the common fields: no causes, and a body that is not stored under its digest. */
type Plain = NewDelivery & { readonly body: Uint8Array };

/**
 * Collects the deliveries of one message that wait for a slot. {@link store} writes them as a group, or individually if
 * they are few.
 */
export class NewGroup {
  readonly #turn: Turn;
  readonly #plain: { readonly id: string; readonly delivery: Plain; repeated: number }[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Returns whether a delivery can be a member. */
  takes(delivery: NewDelivery): delivery is Plain {
    const { source, body, keyProblem, causes } = delivery;
    if (source !== "webhook" || keyProblem !== undefined || causes.length > 0) return false;
    if (!ArrayBuffer.isView(body) || !isOwn(body)) return false;
    const first = this.#plain[0]?.delivery ?? delivery;
    return first.teamId === delivery.teamId && first.block === delivery.block;
  }

  add(id: string, delivery: Plain): void {
    this.#plain.push({ id, delivery, repeated: 0 });
    const first = this.#plain[0]?.id ?? id;
    if (delivery.key !== null) this.#turn.picture(groupedKeysPicture).set(delivery.key, { id, first });
  }

  /** Counts a repeated delivery of a member. Returns false if the delivery is not a member. */
  repeat(id: string): boolean {
    const member = this.#plain.find((one) => one.id === id);
    if (member === undefined) return false;
    member.repeated += 1;
    return true;
  }

  /** Writes all members. */
  store(): void {
    const { self, now } = this.#turn;
    const [first] = this.#plain;
    if (first === undefined) return;
    if (this.#plain.length < FEWEST) return this.#storeAlone();
    const { teamId, block } = first.delivery;
    const members = this.#plain.map(({ id, delivery: { key, headers, body } }): Grouped => [id, key, headers, body]);
    const keys = this.#plain.flatMap(({ id, delivery: { key }, repeated }): GroupedKey[] => {
      return key === null ? [] : [[key, id, repeated]];
    });
    const place = [self.id, first.id];
    deliveryGroups.put(this.#turn, self.partition, place, { teamId, block, receivedAt: timeText(now), members });
    if (keys.length > 0) groupedKeys.put(this.#turn, self.partition, place, keys);
  }

  #storeAlone(): void {
    const turn = this.#turn;
    for (const { id, delivery, repeated } of this.#plain) {
      insertDelivery(turn, delivery, { id, repeated });
      if (delivery.key === null) continue;
      turn.picture(groupedKeysPicture).delete(delivery.key);
      recordKey(turn, delivery.key, id, turn.now);
    }
  }
}

/** Counts a repeated delivery of a stored group's member. */
export function countRepeated(turn: Turn, { id, first }: Place): void {
  const { partition, id: integrationId } = turn.self;
  const keys = groupedKeys.get(turn, partition, integrationId, first) ?? [];
  const counted = keys.map(([key, of, repeated]): GroupedKey => [key, of, of === id ? repeated + 1 : repeated]);
  groupedKeys.put(turn, partition, [integrationId, first], counted);
}

/**
 * Stores all members of a delivery's group as individual rows, if the delivery is in a group. Returns false if the
 * delivery has no row and the group that may contain it is damaged. The damaged group stays for `doctor` to find, and
 * its deliveries leave the queue.
 */
export function storeAlone(turn: Turn, id: string): boolean {
  const { partition, id: integrationId } = turn.self;
  let isDamaged = false;
  const found = findGroup(turn, partition, [integrationId, id], () => {
    isDamaged = true;
  });
  if (found === null) {
    if (!isDamaged || turn.get(deliveries.key(partition, integrationId, id)) !== undefined) return true;
    storeKeysAlone(turn, id);
    return false;
  }
  deliveryGroups.remove(turn, partition, integrationId, found.first);
  groupedKeys.remove(turn, partition, integrationId, found.first);
  for (const { row, content } of found.members) {
    deliveries.insert(turn, partition, { ...row, body: storeBody(turn, row, content) });
    if (row.key !== null) storeKeyAlone(turn, [row.key, row.id], Date.parse(row.receivedAt));
  }
  return true;
}

/**
 * Stores the keys of a damaged group like other keys. They count from now, because the time of their arrival is
 * unknown.
 */
function storeKeysAlone(turn: Turn, id: string): void {
  const keys = turn.picture(groupedKeysPicture);
  const first = [...keys.values()].find((place) => place.id === id)?.first;
  if (first === undefined) return;
  groupedKeys.remove(turn, turn.self.partition, turn.self.id, first);
  for (const [key, place] of [...keys]) if (place.first === first) storeKeyAlone(turn, [key, place.id], turn.now);
}

/** Skips a key if another delivery was accepted under it while the group was unreadable. */
function storeKeyAlone(turn: Turn, [key, id]: readonly [key: string, id: string], atMs: number): void {
  const keys = turn.picture(groupedKeysPicture);
  const known = keys.get(key)?.id;
  if (known !== undefined && known !== id) return;
  keys.delete(key);
  recordKey(turn, key, id, atMs);
}

/** Removes some group rows of a removed integration, damaged or not. Returns the number of removed rows. */
export function removeSomeGroups(turn: Turn, limits: { readonly groups: number; readonly keys: number }): number {
  const { partition, id } = turn.self;
  const removed: Key[] = [];
  const collect = (key: Key) => void removed.push(key);
  const groups = { prefix: deliveryGroups.key(partition, id), limit: limits.groups, onDamaged: collect };
  for (const { key } of turn.range(groups)) collect(key);
  const picture = turn.picture(groupedKeysPicture);
  const keys = { prefix: groupedKeys.key(partition, id), limit: limits.keys, onDamaged: collect };
  for (const { key, value } of turn.range<readonly GroupedKey[]>(keys)) {
    collect(key);
    for (const [name] of value) picture.delete(name);
  }
  for (const key of removed) turn.remove(key);
  return removed.length;
}
