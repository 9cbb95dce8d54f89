import { GLOBAL_PARTITION } from "../../storage/keys.js";
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
/** `[host, installation]` under the global partition: the one workspace that it is connected to. */
export const installationOwners = table<{ readonly workspaceId: string }>("code-host-installation");

/** Installations that one workspace connects to, at most. */
export const MAX_CONNECTIONS = 100;

/** Writes a connection; the installation is the workspace's alone until it is deleted there or disconnected here. */
export function storeCodeHostConnection(writing: Writing, workspaceId: string, connection: CodeHostConnection): void {
  const { host, installationId, state } = connection;
  codeHostConnections.put(writing, workspaceId, [host, installationId], connection);
  if (state === "deleted") releaseInstallation(writing, workspaceId, connection);
  else installationOwners.put(writing, GLOBAL_PARTITION, [host, installationId], { workspaceId });
}

/** Takes a connection away and gives its installation free. */
export function removeCodeHostConnection(writing: Writing, workspaceId: string, name: InstallationKey): void {
  codeHostConnections.remove(writing, workspaceId, name.host, name.installationId);
  releaseInstallation(writing, workspaceId, name);
}

function releaseInstallation(writing: Writing, workspaceId: string, { host, installationId }: InstallationKey): void {
  if (installationOwners.get(writing, GLOBAL_PARTITION, host, installationId)?.workspaceId !== workspaceId) return;
  installationOwners.remove(writing, GLOBAL_PARTITION, host, installationId);
}
