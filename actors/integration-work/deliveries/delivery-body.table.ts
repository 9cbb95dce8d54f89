import type { Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { findBlob, storeBlob } from "../../tables/blobs.js";
import type { DeliveryBody, DeliveryRow } from "./delivery.js";

/**
 * Key: `[integration, delivery]`. Value: the received bytes of a medium-sized body. Bodies are not in the delivery
 * rows, because lists read these rows but do not show bodies.
 */
export const deliveryBodies = table<Uint8Array>("delivery-body");

/**
 * Maximum size of a body that is stored in the delivery's row, in bytes. Most bodies are not larger; a separate row for
 * each would double the cost of a delivery.
 */
const MAX_IN_ROW_BYTES = 4 * 1024;
/** Minimum size of a body that is stored under its digest, in bytes. Such a body is stored once per workspace. */
const MIN_SHARED_BYTES = 64 * 1024;

/** The delivery that a body belongs to. */
type Place = Pick<DeliveryRow, "id" | "integrationId">;

/** Stores the body of a delivery and returns the reference for the delivery's row. */
export function storeBody(turn: Turn, { integrationId, id }: Place, bytes: Uint8Array): DeliveryBody {
  const { partition } = turn.self;
  const { length } = bytes;
  if (length <= MAX_IN_ROW_BYTES) return { digest: null, bytes: length, content: bytes };
  if (length >= MIN_SHARED_BYTES) return { digest: storeBlob(turn, partition, bytes), bytes: length };
  deliveryBodies.put(turn, partition, [integrationId, id], bytes);
  return { digest: null, bytes: length };
}

/** Finds the body of a delivery; undefined if the body was dropped. */
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

/**
 * Stores the body of a delivery under the body's digest, if it is not stored that way yet. Returns the reference for
 * the delivery's row, or null if the body was dropped.
 */
export function shareBody(turn: Turn, row: Place & Pick<DeliveryRow, "body">): DeliveryBody | null {
  const { partition } = turn.self;
  const bytes = row.body?.digest === null ? findBody(turn, partition, row) : undefined;
  if (bytes === undefined) return row.body;
  removeOwnBody(turn, row);
  return { digest: storeBlob(turn, partition, bytes), bytes: bytes.length };
}

/**
 * Removes the separate row of a delivery's body, if there is one. The caller must also remove the delivery row's
 * reference to the body.
 */
export function removeOwnBody(turn: Turn, { id, integrationId, body }: Place & Pick<DeliveryRow, "body">): void {
  if (body?.digest === null && body.content === undefined)
    deliveryBodies.remove(turn, turn.self.partition, integrationId, id);
}
