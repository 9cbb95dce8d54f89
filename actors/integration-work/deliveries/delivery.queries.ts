import type { Reading } from "../../../storage/store.js";
import { permit, seesOutcomes } from "../../access/visibility/visibility.js";
import type { Caller } from "../../caller.js";
import { findVisibleIntegration, type VisibleIntegration } from "../../integrations/connection.queries.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import { type RefusedDeliveries, refusedDeliveries } from "../intake/delivery-intake.table.js";
import type { DeliveryRow, DeliveryState } from "./delivery.js";
import type { RedeliveryPeriod } from "./delivery.messages.js";
import { deliveries } from "./delivery.table.js";
import { listRedeliverable } from "./redeliver.js";

/**
 * Finds the integration for a caller who can read the outcomes of the integration's team. Other callers get
 * `not-found`.
 */
export function findIntegrationOfOutcomes(reading: Reading, caller: Caller, id: string): VisibleIntegration | Refusal {
  const found = findVisibleIntegration(reading, caller, id);
  if (isRefusal(found)) return found;
  return seesOutcomes(reading, caller, found.workspaceId, found.teamId ?? "") ? found : { refused: "not-found" };
}

/**
 * Finds the integration for a caller who has `permission` and can read the outcomes of the integration's team. Other
 * callers get a refusal.
 */
export function findIntegrationFor(
  reading: Reading,
  caller: Caller,
  id: string,
  permission: "configure" | "plan",
): VisibleIntegration | Refusal {
  const found = findIntegrationOfOutcomes(reading, caller, id);
  if (isRefusal(found)) return found;
  return permit(reading, caller, found.workspaceId, permission, "integration") ?? found;
}

/** Lists an integration's deliveries, newest first. The returned function reads one slice of the page. */
export function listDeliveries(
  { workspaceId, id: integrationId }: VisibleIntegration,
  {
    state,
    before,
    limit,
  }: { readonly state?: DeliveryState | undefined; readonly before?: string | undefined; readonly limit: number },
): (reading: Reading, cursor: Cursor<DeliveryRow> | null) => Slice<DeliveryRow> {
  const place = before === undefined ? undefined : [before];
  return (reading, cursor) =>
    deliveries.page(reading, workspaceId, { integrationId, state }, { before: place, limit, cursor });
}

export function findDelivery(
  reading: Reading,
  { workspaceId, id: integrationId }: VisibleIntegration,
  id: string,
): DeliveryRow | Refusal {
  return deliveries.get(reading, workspaceId, integrationId, id) ?? { refused: "not-found" };
}

/** Returns the number of the integration's deliveries whose verification failed, and the newest of these deliveries. */
export function findRefusedDeliveries(reading: Reading, { workspaceId, id }: VisibleIntegration): RefusedDeliveries {
  return refusedDeliveries.get(reading, workspaceId, id) ?? { count: 0, latest: [] };
}

/** Counting stops after the slice that reaches this number. A slice has at most {@link COUNTED_AT_ONCE} deliveries. */
const MAX_COUNTED = 10_000;
const COUNTED_AT_ONCE = 200;

export interface RedeliveryCount {
  readonly count: number;
  /** Whether counting stopped before the end of the period. The period may then have more redeliverable deliveries. */
  readonly isMore: boolean;
}

/** Counts the redeliverable deliveries of a period, in slices. The last yielded value is the answer. */
export function* countRedeliverable(
  reading: Reading,
  integration: VisibleIntegration,
  period: RedeliveryPeriod,
): Generator<RedeliveryCount> {
  let count = 0;
  let { after } = period;
  do {
    const limits = { maxFound: COUNTED_AT_ONCE, scanLimit: COUNTED_AT_ONCE };
    const { found, next } = listRedeliverable(reading, integration, { ...period, after }, limits);
    count += found.length;
    after = next;
    yield { count, isMore: after !== null };
  } while (after !== null && count < MAX_COUNTED);
}
