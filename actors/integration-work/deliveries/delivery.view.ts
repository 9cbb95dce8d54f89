import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { RefusedDeliveries } from "../intake/delivery-intake.table.js";
import { deliveryFaults } from "../intake/verify-delivery.js";
import { type DeliveryRow, deliverySources, deliveryStates, entryOutcomes } from "./delivery.js";
import { deliveryEntries } from "./delivery.table.js";
import { findBody } from "./delivery-body.table.js";

const entrySchema = z.strictObject({
  event: z.int().describe("The event's place in the definition, from 0 on."),
  item: z.int().nullable().describe("The entry of its `forEach`; null without one, and for all that are left out."),
  outcome: z.enum(entryOutcomes),
  taskId: z.string().nullable(),
  reason: z.string().nullable(),
});

const common = {
  id: z.string(),
  integrationId: z.string(),
  source: z.enum(deliverySources),
  key: z.string().nullable().describe("Identifies what its sender sends again; null where nothing does."),
  keyProblem: z
    .string()
    .nullable()
    .describe("Why nothing does, though `delivery` is to say what: it is worked however often it comes."),
  receivedAt: z.string(),
  state: z.enum(deliveryStates),
  reason: z.string().nullable(),
  endedAt: z.string().nullable(),
  attempts: z.int().describe("How often the lookup that it waits for was tried."),
  retryAt: z.string().nullable().describe("When its lookup is tried again, while it waits."),
  repeated: z.int().describe("How often it came again under its key, and was not taken."),
  bodyBytes: z.int().nullable().describe("Null once the body was dropped for newer ones."),
  redeliveryOf: z.string().nullable(),
  redeliveredAs: z.string().nullable().describe("The last delivery that repeats it."),
};

/** A delivery as lists return it. */
export const deliveryItemSchema = z.strictObject(common).meta({ title: "delivery-item" });

/** A delivery with its results. */
export const deliverySchema = z
  .strictObject({
    ...common,
    headers: z.record(z.string(), z.string()).describe("Without credentials and signatures."),
    body: z.string().nullable().describe("The first 64 KiB as text; null once it was dropped."),
    isCut: z.boolean().describe("Whether the body is longer."),
    causes: z.array(z.string()).describe("The firings and events that led to it, oldest first."),
    skipped: z.int().describe("Entries that no `when` let through."),
    entries: z.array(entrySchema),
  })
  .meta({ title: "delivery" });

/** The deliveries whose verification failed. */
export const refusedDeliveriesSchema = z
  .strictObject({
    count: z.int(),
    latest: z.array(
      z.strictObject({
        at: z.string(),
        headers: z.record(z.string(), z.string()),
        bytes: z.int(),
        reason: z
          .enum(deliveryFaults)
          .nullable()
          .describe("Why it was not verified; its sender is not told. Null where an earlier release refused it."),
      }),
    ),
  })
  .meta({ title: "refused-deliveries" });

export function refusedDeliveriesView({ count, latest }: RefusedDeliveries): z.output<typeof refusedDeliveriesSchema> {
  return { count, latest: latest.map((one) => ({ ...one, reason: one.reason ?? null })) };
}

/** Maximum number of body bytes to show. */
const MAX_SHOWN_BYTES = 64 * 1024;

export function deliveryItemView(row: DeliveryRow): z.output<typeof deliveryItemSchema> {
  const { id, integrationId, source, key, receivedAt, state, reason, endedAt, attempts, retryAt } = row;
  const { repeated, body, redeliveryOf, redeliveredAs } = row;
  return {
    id,
    integrationId,
    source,
    key,
    receivedAt,
    state,
    reason,
    endedAt,
    attempts,
    retryAt,
    keyProblem: row.keyProblem ?? null,
    repeated,
    bodyBytes: body?.bytes ?? null,
    redeliveryOf,
    redeliveredAs,
  };
}

export function deliveryView(reading: Reading, workspaceId: string, row: DeliveryRow): z.output<typeof deliverySchema> {
  const { headers, causes, skipped } = row;
  const bytes = findBody(reading, workspaceId, row);
  return {
    ...deliveryItemView(row),
    headers: { ...headers },
    body: bytes === undefined ? null : Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString(),
    isCut: (bytes?.length ?? 0) > MAX_SHOWN_BYTES,
    causes: [...causes],
    skipped,
    entries: deliveryEntries.list(reading, workspaceId, [row.id]).flatMap((entries) => [...entries]),
  };
}
