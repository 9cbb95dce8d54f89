import { toChangeEntry, topic } from "../../runtime/topic.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { storedAs } from "../tables/table-declaration.js";
import type { DeliveryEntry, DeliveryRow } from "./delivery.js";

/** What readers of a team receive of deliveries: that one waits for a lookup, or is over. */
const teamTopic = topic<{ readonly type: "delivery" } & Pick<DeliveryRow, "id" | "integrationId" | "state">>("team");

/** What most deliveries have when they come. */
const USUAL = {
  ...{ reason: null, endedAt: null, attempts: 0, retryAt: null, cursor: null, causes: [] },
  ...{ repeated: 0, skipped: 0, redeliveryOf: null, redeliveredAs: null },
} satisfies Partial<DeliveryRow>;

/** A delivery without what is in its key. Most are as {@link USUAL} when they come, and are stored without that too. */
type StoredDelivery = Omit<DeliveryRow, "id" | "integrationId" | keyof typeof USUAL> & Partial<DeliveryRow>;

function toStored(row: DeliveryRow): StoredDelivery {
  // All of it or none: the store knows a limited number of sets of fields.
  if (isUsual(row)) {
    const { teamId, source, block, key, receivedAt, state, headers, body } = row;
    return { teamId, source, block, key, receivedAt, state, headers, body };
  }
  const { id: _id, integrationId: _integrationId, ...stored } = row;
  return stored;
}

function isUsual(row: Pick<DeliveryRow, keyof typeof USUAL>): boolean {
  const { reason, endedAt, retryAt, cursor, redeliveryOf, redeliveredAs } = row;
  const isEmpty = reason === null && endedAt === null && retryAt === null && cursor === null;
  const isNew = redeliveryOf === null && redeliveredAs === null && row.causes.length === 0;
  return isEmpty && isNew && row.attempts === 0 && row.repeated === 0 && row.skipped === 0;
}

/** `[integration, delivery]`; ids rise with time. The index has none of the states that most deliveries are or come by. */
export const deliveries = indexedTable<DeliveryRow>("delivery", {
  under: ["integrationId"],
  order: ["id"],
  indexes: {
    "delivery-in": {
      by: ["integrationId", "state"],
      only: { state: ["waiting", "failed", "unrouted"] },
    },
  },
  stored: storedAs(toStored, (stored, key) => ({
    ...{ ...USUAL, ...stored },
    integrationId: String(key.at(-2)),
    id: String(key.at(-1)),
  })),
  blobs: ({ body }) => (body === null || body.digest === null ? [] : [body.digest]),
  changes: ({ id, teamId, integrationId, state }, _reading, { first }) =>
    first?.state === state || state === "accepted" || state === "working"
      ? []
      : [toChangeEntry(teamTopic(teamId), { type: "delivery", id, integrationId, state })],
});

/** `[delivery, n]`: what became of its entries, as they were told; some of them a row. */
export const deliveryEntries = table<readonly DeliveryEntry[]>("delivery-entry");
