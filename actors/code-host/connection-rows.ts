import { type Address, address } from "../../runtime/address.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** An installation, by what the code host is called and its number there. */
export interface InstallationName {
  /** The host that people know the code host by, such as `github.com`. */
  readonly host: string;
  readonly installationId: number;
}

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends InstallationName {
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
export const MOST_CONNECTIONS = 100;

/** The actor of one installation's connection to a workspace. */
export function connectionActor(workspaceId: string, { host, installationId }: InstallationName): Address {
  return address(workspaceId, "code-host-connection", `${installationId}@${host}`);
}

/** The installation that a connection's actor is about. */
export function installationOfActor(actorId: string): InstallationName {
  const [number = "", host = ""] = actorId.split("@");
  return { host, installationId: Number(number) };
}

/** The connections of a workspace, in the order of hosts and numbers; there are {@link MOST_CONNECTIONS} at most. */
export function connectionsOf(reading: Reading, workspaceId: string): CodeHostConnection[] {
  return connections.list(reading, workspaceId, [], { limit: MOST_CONNECTIONS });
}

/** The workspace that an installation is connected to, or undefined. */
export function ownerOf(reading: Reading, { host, installationId }: InstallationName): string | undefined {
  return owners.get(reading, GLOBAL_PARTITION, host, installationId)?.workspaceId;
}

/** Writes a connection; the installation is the workspace's alone until it is deleted there or disconnected here. */
export function putConnection(writing: Writing, workspaceId: string, connection: CodeHostConnection): void {
  const { host, installationId, state } = connection;
  connections.put(writing, workspaceId, [host, installationId], connection);
  if (state === "deleted") giveFree(writing, workspaceId, connection);
  else owners.put(writing, GLOBAL_PARTITION, [host, installationId], { workspaceId });
}

/** Takes a connection away and gives its installation free. */
export function removeConnection(writing: Writing, workspaceId: string, name: InstallationName): void {
  connections.remove(writing, workspaceId, name.host, name.installationId);
  giveFree(writing, workspaceId, name);
}

function giveFree(writing: Writing, workspaceId: string, name: InstallationName): void {
  if (ownerOf(writing, name) === workspaceId) owners.remove(writing, GLOBAL_PARTITION, name.host, name.installationId);
}
