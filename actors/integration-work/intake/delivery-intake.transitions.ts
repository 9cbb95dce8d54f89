import type { Delivered, Turn, Woken } from "../../../runtime/turns/turn.js";
import { listKeys } from "../../../storage/list-keys.js";
import { readPastDamage } from "../../../storage/past-damage.js";
import { timeText } from "../../time-text.js";
import { isOver } from "../deliveries/delivery.js";
import type { DeliveryDue, DeliveryLeft, DeliveryRecorded, RefuseDelivery } from "../deliveries/delivery.messages.js";
import { deliveries } from "../deliveries/delivery.table.js";
import { deliveryKeys, removeOldKeys } from "../deliveries/delivery-key.table.js";
import { count, remove, removeOldest, removeRows, SWEEP_MS } from "../deliveries/delivery-quota.js";
import { enqueue, fill, vacate, watch } from "../deliveries/delivery-slots.js";
import { redeliverNext } from "../deliveries/redeliver.js";
import { type IntakeContext, RETENTION_MS } from "./delivery-intake.js";
import { queuedDeliveries, refusedDeliveries } from "./delivery-intake.table.js";

/**
 * Number of rejected deliveries to store. {@link MAX_REFUSED_CHARACTERS} limits the headers of each delivery, in
 * characters.
 */
const MAX_REFUSED = 20;
const MAX_REFUSED_CHARACTERS = 2_000;
/** Maximum number of rows of each kind to remove per turn. */
const SWEPT_AT_ONCE = 50;

export function countRecorded({ turn, id, bytes }: Delivered<DeliveryRecorded>, context: IntakeContext): IntakeContext {
  return count(turn, context, { ids: [id], bytes });
}

export function countRefused({ turn, count, latest }: Delivered<RefuseDelivery>): void {
  const { partition, id } = turn.self;
  const before = refusedDeliveries.get(turn, partition, id) ?? { count: 0, latest: [] };
  const at = timeText(turn.now);
  const refused = latest.map(({ headers, bytes, reason = null }) => ({ at, headers: toShort(headers), bytes, reason }));
  const recent = [...refused, ...before.latest].slice(0, MAX_REFUSED);
  refusedDeliveries.put(turn, partition, id, { count: before.count + count, latest: recent });
  turn.report({
    name: "delivery.refused",
    line: { level: "warn", message: "delivery refused" },
    details: { integrationId: id, reason: latest[0]?.reason ?? null, count },
  });
}

function toShort(headers: Readonly<Record<string, string>>): Record<string, string> {
  let left = MAX_REFUSED_CHARACTERS;
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      left -= name.length + value.length;
      return left >= 0;
    }),
  );
}

/**
 * Frees the slot of a delivery. If the delivery has ended, also removes the oldest finished deliveries above the limit.
 */
export function releaseDelivery(
  { turn, id, isOver, bytes }: Delivered<DeliveryLeft>,
  context: IntakeContext,
): IntakeContext {
  const vacated = vacate(turn, context, id);
  if (!isOver) return vacated;
  const ended = {
    ...vacated,
    backlog: vacated.backlog - 1,
    backlogBytes: vacated.backlogBytes - bytes,
    ended: vacated.ended + 1,
  };
  return removeOldest(turn, ended);
}

export function queueDue({ turn, id }: Delivered<DeliveryDue>, context: IntakeContext): IntakeContext {
  return enqueue(turn, context, [id]);
}

/** Continues a redelivery period, watches the deliveries with a slot, or removes old deliveries. */
export function wakeUp({ turn, name }: Delivered<Woken>, context: IntakeContext): IntakeContext {
  if (name === "redeliver") return redeliverNext(turn, context);
  if (name === "watch") return watch(turn, context);
  // An earlier release set this wake-up for the time until which it withheld all slots.
  if (name === "places") return fill(turn, context);
  return sweep(turn, context);
}

function sweep(turn: Turn, context: IntakeContext): IntakeContext {
  const { partition, id } = turn.self;
  const before = timeText(turn.now - RETENTION_MS);
  const rows = deliveries.list(readPastDamage(turn), partition, [id], { limit: SWEPT_AT_ONCE });
  const old = rows.filter(({ state, receivedAt }) => isOver(state) && receivedAt < before);
  const swept = old.reduce((left, row) => remove(turn, left, row), context);
  const removed = context.ended - swept.ended;
  const keys = removeOldKeys(turn, id, SWEPT_AT_ONCE);
  if (removed === SWEPT_AT_ONCE || keys === SWEPT_AT_ONCE) {
    turn.wake("sweep", turn.now);
    return { ...swept, sweepAtMs: turn.now };
  }
  const isEmpty =
    rows.length === removed && deliveryKeys.entries(readPastDamage(turn), partition, [id], { limit: 1 }).length === 0;
  if (isEmpty) return { ...swept, sweepAtMs: null };
  turn.wake("sweep", turn.now + SWEEP_MS);
  return { ...swept, sweepAtMs: turn.now + SWEEP_MS };
}

/** Removes some rows of a removed integration. Stops when none remain. Damaged deliveries stay. */
export function clearSome(turn: Turn): void {
  const { partition, id } = turn.self;
  const rows = deliveries.list(readPastDamage(turn), partition, [id], { limit: SWEPT_AT_ONCE });
  const removed = rows.filter((row) => turn.attempt(() => removeRows(turn, row))).length;
  const collectKeys = ({ key }: Pick<typeof deliveryKeys, "key">) =>
    listKeys(turn, { prefix: key(partition, id), limit: SWEPT_AT_ONCE });
  const keys = [...collectKeys(deliveryKeys), ...collectKeys(queuedDeliveries)];
  for (const key of keys) turn.remove(key);
  refusedDeliveries.remove(turn, partition, id);
  if (removed + keys.length > 0) turn.wake("clear", turn.now);
  else turn.stop();
}
