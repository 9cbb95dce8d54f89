import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findUser } from "../access/accounts/session.queries.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { timeText } from "../time-text.js";
import { defineView, type Shown } from "../view.js";
import { type IntegrationConnectionRow, integrationConnectionSchema } from "./connection.js";
import { findIntegrationConnection } from "./connection.table.js";
import { findActingConnection } from "./connection-permissions.js";
import type { IntegrationFields } from "./definition.js";
import { findApprover } from "./tool-rule.js";

const showConnection = defineView<IntegrationConnectionRow, Reading>()(integrationConnectionSchema, {
  holder: ({ holder }) => (holder === "team" ? "team" : "person"),
  userId: ({ holder }) => (holder === "team" ? null : holder),
  email: ({ holder }, reading) => (holder === "team" ? null : (findUser(reading, holder)?.email ?? null)),
  scopes: ({ linked }) => linked?.scopes ?? [],
  expiresAt: ({ linked }) => (typeof linked?.expiresAtMs === "number" ? timeText(linked.expiresAtMs) : null),
});

/** Returns one connection for the API. */
export function integrationConnectionView(
  reading: Reading,
  row: IntegrationConnectionRow,
): Shown<typeof integrationConnectionSchema> {
  return showConnection(row, reading);
}

/** An integration's connections from one user's point of view. */
export const ownIntegrationConnectionSchema = z
  .strictObject({
    actsAs: z
      .enum(["team", "requester"])
      .describe("Which connection the tools use: the team's, or that of the person who opened the task."),
    team: integrationConnectionSchema
      .pick({ state: true, problem: true })
      .describe("The state of the team's connection; `none` if the team has none."),
    own: integrationConnectionSchema.nullable().describe("The caller's own connection; null if there is none."),
    isReady: z.boolean().describe("Whether the tools have a usable connection for tasks that the caller opens."),
    tools: z
      .array(
        z.strictObject({
          tool: z.string().describe("The name of the tool in the integration's definition."),
          approval: z.boolean().describe("Whether the team requires approval of each call."),
          ask: z.boolean().describe("Whether the caller requires approval of calls with their own connection."),
          approver: z
            .enum(["person", "assignee"])
            .nullable()
            .describe(
              "Who approves a call, by the stricter rule: `person` is the caller, `assignee` the task's assignee. Null " +
                "if no approval is needed.",
            ),
        }),
      )
      .describe("The integration's tools, and who must approve their calls."),
  })
  .meta({ title: "own-connection" });

/**
 * Returns a user's view of an integration's connections: the user's own connection, and the state of the team's
 * connection.
 */
export function ownIntegrationConnectionView(
  reading: Reading,
  { id: integrationId, workspaceId, fields }: ResourceRow<IntegrationFields>,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): Shown<typeof ownIntegrationConnectionSchema> {
  const team = findIntegrationConnection(reading, workspaceId, integrationId, "team");
  const own = findIntegrationConnection(reading, workspaceId, integrationId, userId);
  const actsAs = fields.connection?.holder ?? "team";
  return {
    actsAs,
    team: { state: team?.state ?? "none", problem: team?.problem ?? null },
    own: own === undefined ? null : integrationConnectionView(reading, own),
    isReady: findActingConnection(reading, { workspaceId, integrationId }, { userId, nowMs }) !== null,
    tools: Object.entries(fields.tools).map(([tool, { approval }]) => {
      const ask = actsAs === "requester" && (own?.asks.includes(tool) ?? false);
      return { tool, approval, ask, approver: findApprover({ team: approval, person: ask }) };
    }),
  };
}
