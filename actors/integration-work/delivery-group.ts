import type { Picture } from "../../runtime/picture.js";
import type { Turn } from "../../runtime/turn.js";
import type { Key } from "../../storage/store.js";
import { timeText } from "../time-text.js";
import type { NewDelivery } from "./delivery.js";
import { deliveries } from "./delivery.table.js";
import { isOwn, storeBody } from "./delivery-body.table.js";
import { deliveryGroups, findGroup, type Grouped, type GroupedKey, groupedKeys } from "./delivery-group.table.js";
import { recordKey } from "./delivery-key.table.js";
import { insertDelivery } from "./record-delivery.js";

/** Fewer are stored alone: they would be written twice for little. */
const FEWEST = 4;

/** Where a member of a group is found. */
interface Place {
  readonly id: string;
  /** The first of its group. */
  readonly first: string;
}

/** The members of an integration's groups by their key. Damaged keys are not known: what has them is taken again. */
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

/** A delivery that has what most have, and no more: no causes, and a body that is its own. */
type Plain = NewDelivery & { readonly body: Uint8Array };

/** Those of one message that wait for a place, while they are taken: a group, where they are enough. */
export class NewGroup {
  readonly #turn: Turn;
  readonly #plain: { readonly id: string; readonly delivery: Plain; repeated: number }[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Whether a delivery can be a member. */
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

  /** Counts a member that came again; false where the delivery is none. */
  repeat(id: string): boolean {
    const member = this.#plain.find((one) => one.id === id);
    if (member === undefined) return false;
    member.repeated += 1;
    return true;
  }

  /** Writes all of them. */
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

/** Counts a member of a stored group that came again. */
export function countRepeated(turn: Turn, { id, first }: Place): void {
  const { partition, id: integrationId } = turn.self;
  const keys = groupedKeys.get(turn, partition, integrationId, first) ?? [];
  const counted = keys.map(([key, of, repeated]): GroupedKey => [key, of, of === id ? repeated + 1 : repeated]);
  groupedKeys.put(turn, partition, [integrationId, first], counted);
}

/**
 * Has a delivery of the actor's integration stored alone, with the other members of its group, if it is of one. False where
 * it has no row, and the group in which it may be is damaged: that stays for the doctor to find, and nothing waits for it.
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

/** Has the keys of a damaged group count as others do, from now on: when its members came is not known any more. */
function storeKeysAlone(turn: Turn, id: string): void {
  const keys = turn.picture(groupedKeysPicture);
  const first = [...keys.values()].find((place) => place.id === id)?.first;
  if (first === undefined) return;
  groupedKeys.remove(turn, turn.self.partition, turn.self.id, first);
  for (const [key, place] of [...keys]) if (place.first === first) storeKeyAlone(turn, [key, place.id], turn.now);
}

/** Not where another delivery was taken under the key meanwhile, since it could not be read. */
function storeKeyAlone(turn: Turn, [key, id]: readonly [key: string, id: string], atMs: number): void {
  const keys = turn.picture(groupedKeysPicture);
  const known = keys.get(key)?.id;
  if (known !== undefined && known !== id) return;
  keys.delete(key);
  recordKey(turn, key, id, atMs);
}

/** Some of the rows of groups of an integration that is gone, damaged or not; removes them, and returns how many. */
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
