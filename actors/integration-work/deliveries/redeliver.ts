import { ulidTime } from "../../../runtime/turns/ids.js";
import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findRequestBefore, recordRequest } from "../../resources/repeated-request.js";
import { type IntakeContext, isCrowded } from "../intake/delivery-intake.js";
import { insertDelivery } from "../intake/record-delivery.js";
import { type DeliveryRow, isOver } from "./delivery.js";
import type { RedeliverOne, RedeliverPeriod, RedeliveryPeriod } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { findBody } from "./delivery-body.table.js";
import { count } from "./delivery-quota.js";

/**
 * Number of a period's deliveries to redeliver per second. To find these deliveries, at most {@link SCAN_LIMIT} rows
 * are read per second.
 */
const A_SECOND = 20;
const SCAN_LIMIT = 200;
/** Maximum number of periods that wait for redelivery, including the current period. */
const MAX_PERIODS = 10;

const tooManyPeriods: Refusal = {
  refused: "conflict",
  detail: `${MAX_PERIODS} periods of the integration are being redelivered.`,
};

/** Redelivers one delivery, even though a delivery with the same key was accepted before. */
export function redeliver(event: Delivered<RedeliverOne>, context: IntakeContext): IntakeContext {
  const { turn, id } = event;
  const before = findRequestBefore(turn, event);
  if (before !== null) {
    turn.reply(isRefusal(before) ? before : { id: before, replayed: true });
    return context;
  }
  const row = deliveries.get(turn, turn.self.partition, turn.self.id, id);
  const refused = row === undefined ? null : refuseRedelivery(row, context);
  const again = row === undefined || refused !== null ? null : repeat(turn, context, row);
  if (again === null) {
    turn.reply(refused ?? { refused: "not-found" });
    return context;
  }
  recordRequest(turn, event, again.id);
  turn.reply({ id: again.id, replayed: false });
  return again.context;
}

function refuseRedelivery({ state, body }: DeliveryRow, context: IntakeContext): Refusal | null {
  if (!isOver(state))
    return { refused: "conflict", detail: `The delivery is ${state}. Only a finished delivery can be redelivered.` };
  if (body === null) {
    return { refused: "body-gone", detail: "The delivery's body is no longer stored." };
  }
  if (!isCrowded(context)) return null;
  const detail = "Too many deliveries of this integration wait to be worked.";
  return { refused: "too-many-requests", detail, retryAfterSeconds: 30 };
}

/** Adds a period to the end of the list of periods to redeliver. Refuses if the list is full. */
export function addPeriod({ turn, period }: Delivered<RedeliverPeriod>, context: IntakeContext): IntakeContext {
  const { periods } = context;
  turn.reply(periods.length >= MAX_PERIODS ? tooManyPeriods : null);
  if (periods.length >= MAX_PERIODS) return context;
  if (periods.length === 0) turn.wake("redeliver", turn.now);
  return { ...context, periods: [...periods, { ...period, askedMs: turn.now }] };
}

/** Redelivers some deliveries of the current period; none while the backlog is full. */
export function redeliverNext(turn: Turn, context: IntakeContext): IntakeContext {
  const [period, ...others] = context.periods;
  if (period === undefined) return context;
  const limits = { maxFound: isCrowded(context) ? 0 : A_SECOND, scanLimit: SCAN_LIMIT };
  const { found, next } = listRedeliverable(
    turn,
    { workspaceId: turn.self.partition, id: turn.self.id },
    period,
    limits,
  );
  const redelivered = found.reduce((left, row) => repeat(turn, left, row)?.context ?? left, context);
  const periods = next === null ? others : [{ ...period, after: next }, ...others];
  if (periods.length > 0) turn.wake("redeliver", turn.now + 1_000);
  return { ...redelivered, periods };
}

/**
 * Lists the oldest redeliverable deliveries of a period, in order. Returns at most `maxFound` deliveries and reads at
 * most `scanLimit` rows. `next` is the id to continue after; null at the end of the period.
 */
export function listRedeliverable(
  reading: Reading,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
  period: RedeliveryPeriod,
  { maxFound, scanLimit }: { readonly maxFound: number; readonly scanLimit: number },
): { readonly found: readonly DeliveryRow[]; readonly next: string | null } {
  const { fromMs, toMs, after } = period;
  const from = after ?? `dlv_${ulidTime(fromMs)}`;
  const rows = deliveries.list(reading, workspaceId, [id], {
    after: [id, from],
    before: [id, `dlv_${ulidTime(toMs)}`],
    limit: scanLimit,
  });
  const found: DeliveryRow[] = [];
  let last = from;
  for (const row of rows) {
    if (isRedeliverable(reading, workspaceId, row, period)) {
      if (found.length === maxFound) return { found, next: last };
      found.push(row);
    }
    last = row.id;
  }
  return { found, next: rows.length < scanLimit ? null : last };
}

/**
 * Returns whether a delivery may be redelivered. All of these must hold:
 *
 * - The delivery has a body, has ended in one of `states`, and is not a redelivery itself.
 * - If the delivery was redelivered before: its last redelivery started before the period was requested. That
 *   redelivery is still stored, and has ended in `failed` or in one of `states`, but not in `done`.
 */
function isRedeliverable(
  reading: Reading,
  workspaceId: string,
  { integrationId, state, body, source, redeliveredAs }: DeliveryRow,
  { states, askedMs }: RedeliveryPeriod,
): boolean {
  if (!isOver(state) || !states.includes(state) || body === null || source === "redelivery") return false;
  if (redeliveredAs === null) return true;
  if (askedMs !== undefined && redeliveredAs >= `dlv_${ulidTime(askedMs)}`) return false;
  const again = deliveries.get(reading, workspaceId, integrationId, redeliveredAs)?.state;
  if (again === undefined || again === "done" || !isOver(again)) return false;
  return again === "failed" || states.includes(again);
}

function repeat(turn: Turn, context: IntakeContext, { integrationId, id: of }: DeliveryRow) {
  const { partition } = turn.self;
  // An earlier redelivery in the same turn may have removed the delivery or its body.
  const row = deliveries.get(turn, partition, integrationId, of);
  if (row === undefined || row.body === null) return null;
  const { teamId, block, key, headers, cursor, causes } = row;
  const { digest, bytes } = row.body;
  const body = digest === null ? findBody(turn, partition, row) : { digest, bytes };
  if (body === undefined) return null;
  const { id } = insertDelivery(turn, {
    integrationId,
    teamId,
    block,
    key,
    headers,
    cursor,
    causes,
    body,
    source: "redelivery",
    redeliveryOf: of,
  });
  deliveries.put(turn, partition, row, { ...row, redeliveredAs: id });
  return { id, context: count(turn, context, { ids: [id], bytes }) };
}
