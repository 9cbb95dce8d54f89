import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { findBlob, storeBlob } from "../tables/blobs.js";
import type { DeliveryBody, DeliveryRow } from "./delivery.js";

/**
 * `[integration, delivery]` -> the bytes that came. A body like most is a row beside its delivery's, where rows are
 * written anyway: one under its digest costs three rows all over the store.
 */
const deliveryBodies = table<Uint8Array>("delivery-body");

/** From this length on, in bytes, a body is stored under its digest, once for its workspace. */
const MIN_SHARED_BYTES = 64 * 1024;

/** Whose body it is. */
type Place = Pick<DeliveryRow, "id" | "integrationId">;

/** Stores the body of a delivery whose row refers to it. */
export function storeBody(turn: Turn, { integrationId, id }: Place, bytes: Uint8Array): DeliveryBody {
  const { partition } = turn.self;
  const isShared = bytes.length >= MIN_SHARED_BYTES;
  if (!isShared) deliveryBodies.put(turn, partition, [integrationId, id], bytes);
  return { digest: isShared ? storeBlob(turn, partition, bytes) : null, bytes: bytes.length };
}

/** The body of a delivery; undefined once it was dropped. */
export function findBody(
  reading: Reading,
  workspaceId: string,
  { id, integrationId, body }: Place & Pick<DeliveryRow, "body">,
): Uint8Array | undefined {
  if (body === null) return undefined;
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

/** Removes a body that is not stored under its digest, with the row that refers to it. */
export function removeOwnBody(turn: Turn, { id, integrationId, body }: Place & Pick<DeliveryRow, "body">): void {
  if (body?.digest === null) deliveryBodies.remove(turn, turn.self.partition, integrationId, id);
}
