import { toChangeEntry, topic } from "../../../runtime/feeds/topic.js";
import type { Key } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { storedAs } from "../../tables/table-declaration.js";
import type { DeliveryEntry, DeliveryRow } from "./delivery.js";

/** The change that subscribers of a team receive when a delivery starts to wait for a lookup, or ends. */
const teamTopic = topic<{ readonly type: "delivery" } & Pick<DeliveryRow, "id" | "integrationId" | "state">>("team");

/** The fields of a delivery that usually still have no value when the delivery arrives. */
type Later =
  | "keyProblem"
  | "reason"
  | "endedAt"
  | "attempts"
  | "retryAt"
  | "cursor"
  | "causes"
  | "repeated"
  | "skipped"
  | "redeliveryOf"
  | "redeliveredAs";

/**
 * A stored delivery. The fields `id` and `integrationId` are in the row's key instead. If no field of {@link Later} has
 * a value, all these fields are omitted.
 */
type StoredDelivery = Omit<DeliveryRow, "id" | "integrationId" | Later> & Partial<DeliveryRow>;

const NO_CAUSES: readonly string[] = [];

function toStored(row: DeliveryRow): StoredDelivery {
  // Store all fields of `Later` or none: the store supports a limited number of field sets.
  if (hasCome(row)) {
    const { teamId, source, block, key, receivedAt, state, headers, body } = row;
    return { teamId, source, block, key, receivedAt, state, headers, body };
  }
  const { id: _id, integrationId: _integrationId, ...stored } = row;
  return stored;
}

/** Assigns each member by name, because an object built by spreading two others takes several times the memory. */
function toRow(stored: StoredDelivery, key: Key): DeliveryRow {
  const row = {
    id: String(key.at(-1)),
    integrationId: String(key.at(-2)),
    teamId: stored.teamId,
    source: stored.source,
    block: stored.block,
    key: stored.key,
    receivedAt: stored.receivedAt,
    state: stored.state,
    reason: stored.reason ?? null,
    endedAt: stored.endedAt ?? null,
    attempts: stored.attempts ?? 0,
    retryAt: stored.retryAt ?? null,
    headers: stored.headers,
    body: stored.body,
    cursor: stored.cursor ?? null,
    causes: stored.causes ?? NO_CAUSES,
    repeated: stored.repeated ?? 0,
    skipped: stored.skipped ?? 0,
    redeliveryOf: stored.redeliveryOf ?? null,
    redeliveredAs: stored.redeliveredAs ?? null,
  };
  return stored.keyProblem === undefined ? row : { ...row, keyProblem: stored.keyProblem };
}

/** Returns whether all fields of {@link Later} have their initial values. */
function hasCome(row: Pick<DeliveryRow, Later>): boolean {
  const { reason, endedAt, retryAt, cursor, redeliveryOf, redeliveredAs, keyProblem } = row;
  const isEmpty = reason === null && endedAt === null && retryAt === null && cursor === null;
  const isNew = redeliveryOf === null && redeliveredAs === null && row.causes.length === 0 && keyProblem === undefined;
  return isEmpty && isNew && row.attempts === 0 && row.repeated === 0 && row.skipped === 0;
}

/**
 * Key: `[integration, delivery]`. Ids increase with time. The index by state omits the states that most deliveries pass
 * through or end in.
 */
export const deliveries = indexedTable<DeliveryRow>("delivery", {
  under: ["integrationId"],
  order: ["id"],
  indexes: {
    "delivery-in": {
      by: ["integrationId", "state"],
      only: { state: ["waiting", "failed", "unrouted"] },
    },
  },
  stored: storedAs(toStored, toRow),
  blobs: ({ body }) => (body === null || body.digest === null ? [] : [body.digest]),
  changes: ({ id, teamId, integrationId, state }, _reading, { first }) =>
    first?.state === state || state === "accepted" || state === "working"
      ? []
      : [toChangeEntry(teamTopic(teamId), { type: "delivery", id, integrationId, state })],
});

/**
 * Key: `[delivery, n]`. Value: outcomes of entries. The outcomes are in the order of recording, over all rows of a
 * delivery.
 */
export const deliveryEntries = table<readonly DeliveryEntry[]>("delivery-entry");
