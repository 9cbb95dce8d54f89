import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { InstallationKey } from "./installation.js";

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends InstallationKey {
  readonly account: { readonly login: string; readonly kind: "organization" | "user" };
  readonly state: "connected" | "suspended" | "deleted";
  readonly connectedBy: string;
  readonly connectedAtMs: number;
  /** The code host's own time of what is known of it. */
  readonly asOfMs: number;
}

/** `[host, installation]` */
export const codeHostConnections = table<CodeHostConnection>("code-host-connection");

/** Installations that one workspace connects to, at most. */
export const MAX_CONNECTIONS = 100;

/** Writes a connection. */
export function storeCodeHostConnection(writing: Writing, workspaceId: string, connection: CodeHostConnection): void {
  codeHostConnections.put(writing, workspaceId, [connection.host, connection.installationId], connection);
}

/** Takes a connection away. */
export function removeCodeHostConnection(writing: Writing, workspaceId: string, name: InstallationKey): void {
  codeHostConnections.remove(writing, workspaceId, name.host, name.installationId);
}
