import type { Turn } from "../../../runtime/turns/turn.js";
import { readPastDamage } from "../../../storage/past-damage.js";
import { releaseRows } from "../../tables/owned-rows.js";
import { type IntakeContext, MAX_ENDED, MAX_STORED_BYTES } from "../intake/delivery-intake.js";
import { type DeliveryRow, isOver } from "./delivery.js";
import { deliveries } from "./delivery.table.js";
import { removeOwnBody } from "./delivery-body.table.js";
import { forgetFailed } from "./delivery-key.table.js";
import { enqueue } from "./delivery-slots.js";

/** Time between sweeps for old deliveries, in milliseconds. */
export const SWEEP_MS = 24 * 60 * 60 * 1_000;
/** Number of extra finished deliveries to remove each time the limit is exceeded. */
const REMOVED_EARLY = 15;
/**
 * Number of rows to read at once when finding deliveries to remove. {@link MAX_SCANS} is the maximum number of such
 * reads per turn when dropping bodies.
 */
const SCAN_LIMIT = 32;
const MAX_SCANS = 32;
/** Number of extra rows to read when finding deliveries to remove: a few of the oldest deliveries may be unfinished. */
const FEW = 3;

/**
 * Counts recorded deliveries and queues them for processing. `ids` are in increasing order, and `bytes` is the total
 * size of the bodies.
 */
export function count(
  turn: Turn,
  context: IntakeContext,
  { ids, bytes }: { readonly ids: readonly string[]; readonly bytes: number },
): IntakeContext {
  const { sweepAtMs } = context;
  if (sweepAtMs === null) turn.wake("sweep", turn.now + SWEEP_MS);
  const counted = {
    ...context,
    backlog: context.backlog + ids.length,
    backlogBytes: context.backlogBytes + bytes,
    bytes: context.bytes + bytes,
    sweepAtMs: sweepAtMs ?? turn.now + SWEEP_MS,
  };
  return enqueue(turn, dropBodies(turn, counted), ids);
}

/**
 * Removes the oldest finished deliveries if more than {@link MAX_ENDED} are stored. Removes several at once, because
 * each search for the oldest deliveries is expensive.
 */
export function removeOldest(turn: Turn, context: IntakeContext): IntakeContext {
  if (context.ended <= MAX_ENDED) return context;
  const surplus = context.ended - MAX_ENDED + REMOVED_EARLY;
  const toOldest = (limit: number) => {
    const rows = deliveries.list(readPastDamage(turn), turn.self.partition, [turn.self.id], { limit });
    return rows.filter(({ state }) => isOver(state)).slice(0, surplus);
  };
  let oldest: readonly DeliveryRow[] = [];
  for (const limit of [surplus, surplus + FEW, SCAN_LIMIT]) {
    oldest = toOldest(limit);
    if (oldest.length === surplus) break;
  }
  return oldest.reduce((left, row) => remove(turn, left, row), context);
}

/** Drops the oldest bodies of finished deliveries if all bodies together exceed the limit. */
function dropBodies(turn: Turn, context: IntakeContext): IntakeContext {
  const { partition, id } = turn.self;
  let { bytes, bodiesAfter } = context;
  let from = bodiesAfter;
  let isGone = true;
  for (let scanned = 0; bytes > MAX_STORED_BYTES && scanned < MAX_SCANS; scanned++) {
    const after = from === null ? {} : { after: [id, from] };
    const rows = deliveries.list(readPastDamage(turn), partition, [id], { limit: SCAN_LIMIT, ...after });
    for (const row of rows) {
      const mayGo = isOver(row.state) && (row.body === null || bytes > MAX_STORED_BYTES);
      if (mayGo && row.body !== null) {
        const isDropped = turn.attempt(() => {
          removeOwnBody(turn, row);
          deliveries.put(turn, partition, row, { ...row, body: null });
        });
        if (isDropped) bytes -= row.body.bytes;
      }
      // An unfinished delivery keeps its body, so a later turn must check this delivery again.
      isGone &&= mayGo;
      if (isGone) bodiesAfter = row.id;
      from = row.id;
    }
    if (rows.length < SCAN_LIMIT) break;
  }
  return { ...context, bytes, bodiesAfter };
}

/** Removes all rows of a delivery. */
export function removeRows(turn: Turn, row: DeliveryRow): void {
  deliveries.remove(turn, turn.self.partition, row);
  removeOwnBody(turn, row);
  forgetFailed(turn, row);
  releaseRows(turn, deliveries.name, row.id);
}

/** Removes a finished delivery. The delivery stays if a row that must be changed is damaged. */
export function remove(turn: Turn, context: IntakeContext, row: DeliveryRow): IntakeContext {
  if (!turn.attempt(() => removeRows(turn, row))) return context;
  return { ...context, ended: context.ended - 1, bytes: context.bytes - (row.body?.bytes ?? 0) };
}
