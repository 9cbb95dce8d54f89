import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** An installation, by what the code host is called and its number there. */
export interface InstallationKey {
  /** The host that people know the code host by, such as `github.com`. */
  readonly host: string;
  readonly installationId: number;
}

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
const connections = table<CodeHostConnection>("code-host-connection");
/** `[host, installation]` under the global partition: the one workspace that it is connected to. */
const owners = table<{ readonly workspaceId: string }>("code-host-installation");

/** Installations that one workspace connects to, at most. */
export const MAX_CONNECTIONS = 100;

/** The connections of a workspace, in the order of hosts and numbers; there are {@link MAX_CONNECTIONS} at most. */
export function listCodeHostConnections(reading: Reading, workspaceId: string): CodeHostConnection[] {
  return connections.list(reading, workspaceId, [], { limit: MAX_CONNECTIONS });
}

/** The workspace that an installation is connected to, or undefined. */
export function findInstallationOwner(reading: Reading, { host, installationId }: InstallationKey): string | undefined {
  return owners.get(reading, GLOBAL_PARTITION, host, installationId)?.workspaceId;
}

/** Writes a connection; the installation is the workspace's alone until it is deleted there or disconnected here. */
export function storeCodeHostConnection(writing: Writing, workspaceId: string, connection: CodeHostConnection): void {
  const { host, installationId, state } = connection;
  connections.put(writing, workspaceId, [host, installationId], connection);
  if (state === "deleted") releaseInstallation(writing, workspaceId, connection);
  else owners.put(writing, GLOBAL_PARTITION, [host, installationId], { workspaceId });
}

/** Takes a connection away and gives its installation free. */
export function removeCodeHostConnection(writing: Writing, workspaceId: string, name: InstallationKey): void {
  connections.remove(writing, workspaceId, name.host, name.installationId);
  releaseInstallation(writing, workspaceId, name);
}

function releaseInstallation(writing: Writing, workspaceId: string, name: InstallationKey): void {
  if (findInstallationOwner(writing, name) === workspaceId)
    owners.remove(writing, GLOBAL_PARTITION, name.host, name.installationId);
}
