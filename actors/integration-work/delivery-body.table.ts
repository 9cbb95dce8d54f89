import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { findBlob, storeBlob } from "../tables/blobs.js";
import type { DeliveryBody, DeliveryRow } from "./delivery.js";

/**
 * `[integration, delivery]` -> the bytes that came, of a body that is neither short nor long. It stands beside its
 * delivery's row: lists read those, and do not show bodies.
 */
const deliveryBodies = table<Uint8Array>("delivery-body");

/** Up to this length, in bytes, a body is part of its delivery's row, as most are: a row of its own costs as much again. */
const MAX_IN_ROW_BYTES = 4 * 1024;
/** From this length on, in bytes, a body is stored under its digest, once for its workspace. */
const MIN_SHARED_BYTES = 64 * 1024;

/** Whether a body is its delivery's own, not stored under its digest. */
export function isOwn({ length }: Uint8Array): boolean {
  return length < MIN_SHARED_BYTES;
}

/** Whose body it is. */
type Place = Pick<DeliveryRow, "id" | "integrationId">;

/** Stores the body of a delivery whose row refers to it. */
export function storeBody(turn: Turn, { integrationId, id }: Place, bytes: Uint8Array): DeliveryBody {
  const { partition } = turn.self;
  const { length } = bytes;
  if (length <= MAX_IN_ROW_BYTES) return { digest: null, bytes: length, content: bytes };
  if (!isOwn(bytes)) return { digest: storeBlob(turn, partition, bytes), bytes: length };
  deliveryBodies.put(turn, partition, [integrationId, id], bytes);
  return { digest: null, bytes: length };
}

/** The body of a delivery; undefined once it was dropped. */
export function findBody(
  reading: Reading,
  workspaceId: string,
  { id, integrationId, body }: Place & Pick<DeliveryRow, "body">,
): Uint8Array | undefined {
  if (body === null) return undefined;
  if (body.content !== undefined) return body.content;
  if (body.digest !== null) return findBlob(reading, workspaceId, body.digest);
  return deliveryBodies.get(reading, workspaceId, integrationId, id);
}

/** Stores a body under its digest, where it is not yet; returns what the delivery's row then says of it. */
export function shareBody(turn: Turn, row: Place & Pick<DeliveryRow, "body">): DeliveryBody | null {
  const { partition } = turn.self;
  const bytes = row.body?.digest === null ? findBody(turn, partition, row) : undefined;
  if (bytes === undefined) return row.body;
  removeOwnBody(turn, row);
  return { digest: storeBlob(turn, partition, bytes), bytes: bytes.length };
}

/** Removes the row of a body that has one of its own, with the row that refers to it. */
export function removeOwnBody(turn: Turn, { id, integrationId, body }: Place & Pick<DeliveryRow, "body">): void {
  if (body?.digest === null && body.content === undefined)
    deliveryBodies.remove(turn, turn.self.partition, integrationId, id);
}
