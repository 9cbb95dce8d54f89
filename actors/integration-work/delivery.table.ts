import { toChangeEntry, topic } from "../../runtime/topic.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { DeliveryEntry, DeliveryRow } from "./delivery.js";

/** What readers of a team receive of deliveries: that one waits for a lookup, or is over. */
const teamTopic = topic<{ readonly type: "delivery" } & Pick<DeliveryRow, "id" | "integrationId" | "state">>("team");

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
  blobs: ({ body }) => (body === null || body.digest === null ? [] : [body.digest]),
  changes: ({ id, teamId, integrationId, state }, _reading, { first }) =>
    first?.state === state || state === "accepted" || state === "working"
      ? []
      : [toChangeEntry(teamTopic(teamId), { type: "delivery", id, integrationId, state })],
});

/** `[delivery, n]`: what became of its entries, as they were told; some of them a row. */
export const deliveryEntries = table<readonly DeliveryEntry[]>("delivery-entry");
