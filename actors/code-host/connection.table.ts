import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { InstallationKey } from "./installation.js";

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends InstallationKey {
  readonly account: { readonly login: string; readonly kind: "organization" | "user" };
  readonly state: "connected" | "suspended" | "deleted";
  readonly connectedBy: string;
  readonly connectedAtMs: number;
  /** The code host's timestamp of the stored data. */
  readonly asOfMs: number;
}

/** `[host, installation]` */
export const codeHostConnections = table<CodeHostConnection>("code-host-connection");

/** Most installations that one workspace connects to. */
export const MAX_CONNECTIONS = 100;

/** Writes a connection. */
export function storeCodeHostConnection(writing: Writing, workspaceId: string, connection: CodeHostConnection): void {
  codeHostConnections.put(writing, workspaceId, [connection.host, connection.installationId], connection);
}

/** Removes a connection. */
export function removeCodeHostConnection(writing: Writing, workspaceId: string, name: InstallationKey): void {
  codeHostConnections.remove(writing, workspaceId, name.host, name.installationId);
}
