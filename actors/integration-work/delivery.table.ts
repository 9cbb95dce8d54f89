import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Key } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { type StoredForm, storedAs } from "../tables/table-declaration.js";
import type { DeliveryEntry, DeliveryRow } from "./delivery.js";
import { findGrouped, withGrouped } from "./delivery-group.table.js";

/** What readers of a team receive of deliveries: that one waits for a lookup, or is over. */
const teamTopic = topic<{ readonly type: "delivery" } & Pick<DeliveryRow, "id" | "integrationId" | "state">>("team");

/** What few deliveries have when they come. */
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

/** A delivery without what is in its key, and without all of {@link Later} while it has none of that. */
type StoredDelivery = Omit<DeliveryRow, "id" | "integrationId" | Later> & Partial<DeliveryRow>;

const NO_CAUSES: readonly string[] = [];

function toStored(row: DeliveryRow): StoredDelivery {
  // All of it or none: the store knows a limited number of sets of fields.
  if (hasCome(row)) {
    const { teamId, source, block, key, receivedAt, state, headers, body } = row;
    return { teamId, source, block, key, receivedAt, state, headers, body };
  }
  const { id: _id, integrationId: _integrationId, ...stored } = row;
  return stored;
}

/** Member by member: an object that two others are spread into takes several times the memory. */
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

/** Whether it has come, and nothing more. */
function hasCome(row: Pick<DeliveryRow, Later>): boolean {
  const { reason, endedAt, retryAt, cursor, redeliveryOf, redeliveredAs, keyProblem } = row;
  const isEmpty = reason === null && endedAt === null && retryAt === null && cursor === null;
  const isNew = redeliveryOf === null && redeliveredAs === null && row.causes.length === 0 && keyProblem === undefined;
  return isEmpty && isNew && row.attempts === 0 && row.repeated === 0 && row.skipped === 0;
}

const alone = storedAs(toStored, toRow);

/** Readers see no difference between a delivery that has a row and one that is a member of a group. */
const stored: StoredForm<DeliveryRow> = {
  toStored,
  get: (reading, key) => alone.get(reading, key) ?? findGrouped(reading, key),
  range: (reading, range) => withGrouped(reading, range, alone.range(reading, range)),
};

/**
 * `[integration, delivery]`; ids rise with time. The index has none of the states that most deliveries are or come by.
 * A member of a group is not written here: whoever writes has it stored alone first (`delivery-group.ts`).
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
  stored,
  blobs: ({ body }) => (body === null || body.digest === null ? [] : [body.digest]),
  changes: ({ id, teamId, integrationId, state }, _reading, { first }) =>
    first?.state === state || state === "accepted" || state === "working"
      ? []
      : [toChangeEntry(teamTopic(teamId), { type: "delivery", id, integrationId, state })],
});

/** `[delivery, n]`: what became of its entries, as they were told; some of them a row. */
export const deliveryEntries = table<readonly DeliveryEntry[]>("delivery-entry");
