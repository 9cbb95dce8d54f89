import { z } from "zod";

const person = z.strictObject({
  kind: z.literal("person").describe("A signed-in person opened the task."),
  userId: z.string().describe("The id of the person who opened the task (`usr_…`)."),
});
/** A workspace token. The opener stores its name, because the task may outlive the token. */
const token = z.strictObject({
  kind: z.literal("token").describe("A program with a workspace token opened the task."),
  tokenId: z.string().describe("The id of the workspace token that opened the task."),
  name: z.string().describe("The token's name; for a token that a trust minted, the trust's key."),
  trust: z.string().nullable().describe("The id of the trust that minted the token; null for an issued token."),
});
/** A run at a station of the line. */
const station = z.strictObject({
  kind: z.literal("station").describe("A run at a station opened the task."),
  lineId: z.string().describe("The line of the station that opened the task."),
  station: z.string().describe("The key of the station that opened the task."),
});
/** An integration, by its key and id. */
const integration = z.strictObject({
  kind: z.literal("integration").describe("A webhook or poll of an integration opened the task."),
  integration: z.string(),
  integrationId: z
    .string()
    .optional()
    .describe("The id of the integration; absent for tasks from releases that did not store it."),
});

/** The opener of a task, as it is stored. */
const openerSchema = z.discriminatedUnion("kind", [person, token, station, integration]);
export type Opener = z.output<typeof openerSchema>;

/** The opener in API responses and events. */
export const shownOpenerSchema = z.discriminatedUnion("kind", [
  person,
  token,
  station,
  integration.extend({
    integration: z.string().describe("The integration's key, as in `key`."),
    key: z.string().describe("The key of the integration that opened the task."),
  }),
]);

export type ShownOpener = z.output<typeof shownOpenerSchema>;

/** Returns the opener as API responses and events show it; null if it is unknown. */
export function toShownOpener(opener: Opener | null): ShownOpener | null {
  return opener?.kind === "integration" ? { ...opener, key: opener.integration } : opener;
}

/**
 * Returns the origin of a task: `person`, `station`, the key of an integration, or `unknown`. A task that a token
 * opened has the origin `person`, because a token acts for a person.
 */
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
