import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { defineView, type Shown } from "../../view.js";
import type { RefusedDeliveries } from "../intake/delivery-intake.table.js";
import { deliveryFaults } from "../intake/verify-delivery.js";
import { type DeliveryRow, deliveryEntrySchema, deliveryItemSchema } from "./delivery.js";
import { deliveryEntries } from "./delivery.table.js";
import { findBody } from "./delivery-body.table.js";

/** A delivery with its results. */
export const deliverySchema = z
  .strictObject({
    ...deliveryItemSchema.shape,
    headers: z
      .record(z.string(), z.string())
      .describe("The headers of the delivery, without credentials and signatures."),
    body: z.string().nullable().describe("The first 64 KiB of the body, as text; null if the body was dropped."),
    isCut: z.boolean().describe("Whether the body is longer than 64 KiB, so that `body` is cut."),
    causes: z.array(z.string()).describe("The hook firings and events that caused the delivery, oldest first."),
    skipped: z.int().describe("Number of entries that no `when` accepted."),
    entries: z.array(deliveryEntrySchema).describe("The results so far, one for each entry that a `when` accepted."),
  })
  .meta({ title: "delivery" });

/** The number of deliveries whose verification failed, and the newest of them. */
export const refusedDeliveriesSchema = z
  .strictObject({
    count: z.int().describe("Number of deliveries that failed verification so far."),
    latest: z
      .array(
        z.strictObject({
          at: z.string().describe("When the delivery arrived, as an RFC 3339 time."),
          headers: z.record(z.string(), z.string()).describe("Its headers, without credentials and signatures."),
          bytes: z.int().describe("The size of its body, in bytes; the body is not stored."),
          reason: z
            .enum(deliveryFaults)
            .nullable()
            .describe(
              "Why verification failed. The sender does not see this. Null for deliveries that an earlier release " +
                "refused.",
            ),
        }),
      )
      .describe("The latest 20 of these deliveries, newest first."),
  })
  .meta({
    title: "refused-deliveries",
    description: "The deliveries whose verification failed, which the service did not process.",
  });

export function refusedDeliveriesView({ count, latest }: RefusedDeliveries): z.output<typeof refusedDeliveriesSchema> {
  return { count, latest: latest.map((one) => ({ ...one, reason: one.reason ?? null })) };
}

/** Maximum number of body bytes to show. */
const MAX_SHOWN_BYTES = 64 * 1024;

/** Shows a delivery in lists. */
export const deliveryItemView = defineView<DeliveryRow>()(deliveryItemSchema, {
  keyProblem: ({ keyProblem }) => keyProblem ?? null,
  bodyBytes: ({ body }) => body?.bytes ?? null,
});

/** Shows a delivery with its body and results. */
export function deliveryView(reading: Reading, workspaceId: string, row: DeliveryRow): Shown<typeof deliverySchema> {
  const { headers, causes, skipped } = row;
  const bytes = findBody(reading, workspaceId, row);
  return {
    ...deliveryItemView(row),
    headers,
    body: bytes === undefined ? null : Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString(),
    isCut: (bytes?.length ?? 0) > MAX_SHOWN_BYTES,
    causes,
    skipped,
    entries: deliveryEntries.list(reading, workspaceId, [row.id]).flatMap((entries) => [...entries]),
  };
}
