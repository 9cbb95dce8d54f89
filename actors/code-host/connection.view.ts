import { z } from "zod";
import type { CodeHostConnection } from "./connection.js";
import { listLackingPermissions } from "./lacking-permissions.js";

/** A connection as callers see it who can see the workspace. */
export const codeHostConnectionSchema = z
  .strictObject({
    installationId: z.int().describe("The installation's number on the code host."),
    host: z.string().describe("What the code host is called, such as github.com."),
    account: z.strictObject({ login: z.string(), kind: z.enum(["organization", "user"]) }),
    state: z
      .enum(["connected", "suspended", "deleted"])
      .describe("As the code host has told: suspended or deleted there, or neither."),
    connectedBy: z.string().describe("The person who connected it."),
    connectedAt: z.string(),
    warnings: z
      .array(z.string())
      .optional()
      .describe("What the installation does not allow that the service would do there; absent for nothing."),
  })
  .meta({ title: "code-host-connection" });

/** Returns the view of a connection. */
export function codeHostConnectionView(connection: CodeHostConnection): z.output<typeof codeHostConnectionSchema> {
  const { installationId, host, account, state, connectedBy, connectedAtMs } = connection;
  const { login, kind } = account;
  const warnings = listLackingPermissions(connection);
  return {
    installationId,
    host,
    account: { login, kind },
    state,
    connectedBy,
    connectedAt: new Date(connectedAtMs).toISOString(),
    ...(warnings.length > 0 && { warnings }),
  };
}
