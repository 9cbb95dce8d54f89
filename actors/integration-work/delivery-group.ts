import type { Picture } from "../../runtime/picture.js";
import type { Turn } from "../../runtime/turn.js";
import { isDamage } from "../../storage/store.js";
import { timeText } from "../time-text.js";
import type { NewDelivery } from "./delivery.js";
import { deliveries } from "./delivery.table.js";
import { isShort, storeBody } from "./delivery-body.table.js";
import { deliveryGroups, findGroup, type Grouped, groupedKeys, listMembers } from "./delivery-group.table.js";
import { recordKey } from "./delivery-key.table.js";
import { insertDelivery } from "./record-delivery.js";

/** Fewer are stored alone: they would be written twice for little. */
const FEWEST = 4;

/** The members of an integration's groups by their key. Damaged keys are not known: what has them is taken again. */
export const groupedKeysPicture: Picture<Map<string, string>> = {
  rows: [[groupedKeys.name]],
  isOfActor: true,
  build: (reading, { partition, id }) => {
    const rows = reading.range<readonly (readonly [string, string])[]>({
      prefix: groupedKeys.key(partition, id),
      onDamaged: () => {},
    });
    return new Map(rows.flatMap(({ value }) => value));
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
    if (!ArrayBuffer.isView(body) || !isShort(body)) return false;
    const first = this.#plain[0]?.delivery ?? delivery;
    return first.teamId === delivery.teamId && first.block === delivery.block;
  }

  add(id: string, delivery: Plain): void {
    this.#plain.push({ id, delivery, repeated: 0 });
    if (delivery.key !== null) this.#turn.picture(groupedKeysPicture).set(delivery.key, id);
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
    const members = this.#plain.map(({ id, delivery: { key, headers, body }, repeated }): Grouped => {
      return [id, key, headers, body, repeated];
    });
    const keys = members.flatMap(([id, key]) => (key === null ? [] : [[key, id] as const]));
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

/** Has a delivery of the actor's integration, if it is a member of a group, and the other members, stored each alone. */
export function storeAlone(turn: Turn, id: string): void {
  const { partition, id: integrationId } = turn.self;
  const found = findGroupUnlessDamaged(turn, id);
  if (found === null) return;
  deliveryGroups.remove(turn, partition, integrationId, found.first);
  groupedKeys.remove(turn, partition, integrationId, found.first);
  const keys = turn.picture(groupedKeysPicture);
  for (const { row, content } of listMembers(integrationId, found.group)) {
    deliveries.insert(turn, partition, { ...row, body: storeBody(turn, row, content) });
    if (row.key === null) continue;
    keys.delete(row.key);
    recordKey(turn, row.key, row.id, Date.parse(row.receivedAt));
  }
}

/** A damaged one stays, for the doctor to find; whoever works one of its members fails, and others go on. */
function findGroupUnlessDamaged(turn: Turn, id: string) {
  try {
    return findGroup(turn, turn.self.partition, turn.self.id, id);
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
