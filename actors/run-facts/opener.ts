import { z } from "zod";

const person = z.strictObject({ kind: z.literal("person"), userId: z.string() });
/** A workspace token, by its id. */
const token = z.strictObject({ kind: z.literal("token"), tokenId: z.string() });
/** A run at a station of the line. */
const station = z.strictObject({ kind: z.literal("station"), lineId: z.string(), station: z.string() });
/** An integration, by its key and id. */
const integration = z.strictObject({
  kind: z.literal("integration"),
  integration: z.string(),
  integrationId: z.string().optional(),
});

/** The opener of a task. */
const openerSchema = z.discriminatedUnion("kind", [person, token, station, integration]);
export type Opener = z.output<typeof openerSchema>;

/** The opener in API responses. */
export const shownOpenerSchema = z.discriminatedUnion("kind", [
  person,
  token,
  station,
  integration.extend({
    integration: z.string().describe("The integration's key, as in `key`."),
    key: z.string().describe("The integration's key."),
  }),
]);

export function toShownOpener(opener: Opener | null): z.output<typeof shownOpenerSchema> | null {
  return opener?.kind === "integration" ? { ...opener, key: opener.integration } : opener;
}

/** The origin of a task: `person`, `station`, the key of an integration, or `unknown`. A token acts for a person. */
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
