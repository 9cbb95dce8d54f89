import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findUser } from "../access/accounts/session.queries.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { findIntegrationConnection, type IntegrationConnectionRow } from "./connection.table.js";
import { findActingConnection } from "./connection-permissions.js";
import type { IntegrationFields } from "./definition.js";
import { findApprover } from "./tool-rule.js";

const state = z.enum(["none", "linking", "connected", "refreshing", "broken"]);

/** A connection as administrators see it, and users their own. Nobody can see its tokens. */
export const integrationConnectionSchema = z
  .strictObject({
    holder: z.enum(["team", "person"]),
    /** The user who owns it, with their mail address; null for the team's connection. */
    userId: z.string().nullable(),
    email: z.string().nullable(),
    state,
    /** The host's name for the account, if the integration reads it. */
    account: z.string().nullable(),
    scopes: z.array(z.string()),
    connectedBy: z.string().nullable(),
    connectedAt: z.string().nullable(),
    renewedAt: z.string().nullable(),
    expiresAt: z.string().nullable(),
    problem: z.string().nullable(),
  })
  .meta({ title: "connection" });

/** Returns one connection for the API. */
export function integrationConnectionView(
  reading: Reading,
  row: IntegrationConnectionRow,
): z.output<typeof integrationConnectionSchema> {
  const { holder, linked } = row;
  const isTeams = holder === "team";
  const endsMs = linked?.expiresAtMs ?? null;
  return {
    holder: isTeams ? "team" : "person",
    userId: isTeams ? null : holder,
    email: isTeams ? null : (findUser(reading, holder)?.email ?? null),
    state: row.state,
    account: row.account,
    scopes: [...(linked?.scopes ?? [])],
    connectedBy: row.connectedBy,
    connectedAt: row.connectedAt,
    renewedAt: row.renewedAt,
    expiresAt: endsMs === null ? null : new Date(endsMs).toISOString(),
    problem: row.problem,
  };
}

/** An integration's connections from one user's point of view. */
export const ownIntegrationConnectionSchema = z
  .strictObject({
    /** Which connection the tools use: the team's, or that of the user who started the task. */
    actsAs: z.enum(["team", "requester"]),
    team: z.strictObject({ state, problem: z.string().nullable() }),
    own: integrationConnectionSchema.nullable(),
    /** Whether the tools have a usable connection for tasks that the user starts. */
    isReady: z.boolean(),
    tools: z.array(
      z.strictObject({
        tool: z.string(),
        /**
         * Whether the team requires approval of each call, and whether the user requires it for calls with their
         * connection.
         */
        approval: z.boolean(),
        ask: z.boolean(),
        /** Who approves a call: the stricter of both rules wins. Null when no approval is needed. */
        approver: z.enum(["person", "assignee"]).nullable(),
      }),
    ),
  })
  .meta({ title: "own-connection" });

/** Returns a user's view of an integration's connections: their own, and whether the team has one. */
export function ownIntegrationConnectionView(
  reading: Reading,
  { id: integrationId, workspaceId, fields }: ResourceRow<IntegrationFields>,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): z.output<typeof ownIntegrationConnectionSchema> {
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
