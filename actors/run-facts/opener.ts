import { z } from "zod";

/** Who opened a task. */
export const openerSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("person"), userId: z.string() }),
  /** A workspace token, by its id. */
  z.strictObject({ kind: z.literal("token"), tokenId: z.string() }),
  /** A run at a station of the line. */
  z.strictObject({ kind: z.literal("station"), lineId: z.string(), station: z.string() }),
  /** An event of an integration, by its key and id. */
  z.strictObject({ kind: z.literal("integration"), integration: z.string(), integrationId: z.string().optional() }),
]);
export type Opener = z.output<typeof openerSchema>;

/** Where a task came from: `person`, `station`, the key of an integration, or `unknown`. A token acts for a person. */
export function toOrigin(opener: Opener | null): string {
  switch (opener?.kind) {
    case undefined:
      return "unknown";
    case "integration":
      return opener.integration;
    case "station":
      return "station";
    default:
      return "person";
  }
}
