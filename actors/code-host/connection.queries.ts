import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { permit } from "../access/visibility/visibility.js";
import type { Caller, PersonCaller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findClaimant } from "../tables/claims.js";
import { findWorkspaceBySlug } from "../workspaces/slug-claims.machine.js";
import { type CodeHostConnection, MAX_CONNECTIONS } from "./connection.js";
import { codeHostConnections } from "./connection.table.js";
import { findHosted } from "./hosted-repository.queries.js";
import type { InstallationKey } from "./installation.js";
import { installationClaims, toName } from "./installation-claims.machine.js";
import { notAWorkspaceAdministrator } from "./refusals.js";

/** Lists the connections of a workspace, ordered by host and installation id, at most {@link MAX_CONNECTIONS}. */
export function listCodeHostConnections(reading: Reading, workspaceId: string): CodeHostConnection[] {
  return codeHostConnections.list(reading, workspaceId, [], { limit: MAX_CONNECTIONS });
}

/**
 * Finds the connected installation that reaches the repository. `repository` is its current or a former `owner/name`.
 * Prefers the installation on the owner's account. Otherwise returns the installation that last reported the
 * repository, if it is connected.
 */
export function findReachingConnection(
  reading: Reading,
  workspaceId: string,
  repository: string,
): CodeHostConnection | undefined {
  const known = findHosted(reading, workspaceId, { repository });
  const owner = (known?.name ?? repository).split("/")[0]?.toLowerCase();
  const connected = listCodeHostConnections(reading, workspaceId).filter(({ state }) => state === "connected");
  return (
    connected.find(({ account }) => account.login.toLowerCase() === owner) ??
    connected.find(({ host, installationId }) => host === known?.host && installationId === known.installationId)
  );
}

/**
 * Returns the id of the workspace that an installation is connected or being connected to; undefined if there is none.
 */
export function findInstallationOwner(reading: Reading, installation: InstallationKey): string | undefined {
  return findClaimant(installationClaims, reading, toName(installation));
}

/** Returns whether an installation on the host is connected, or being connected, to any workspace. */
export function hasInstallation(reading: Reading, host: string): boolean {
  return installationClaims.rows.list(reading, GLOBAL_PARTITION, [host], { limit: 1 }).length > 0;
}

/** A workspace, and the user who may connect and disconnect installations. */
export interface AdministeredWorkspace {
  readonly workspaceId: string;
  readonly administrator: PersonCaller;
}

/**
 * Finds a workspace that the signed-in caller administers. `host` is the name of the code host, or null if none is
 * configured. Refuses a caller who cannot see the workspace with `not-found`. Refuses any other caller with a message
 * that names the code host.
 */
export function findAdministered(
  reading: Reading,
  caller: Caller,
  { workspaceId, host }: { readonly workspaceId: string; readonly host: string | null },
): AdministeredWorkspace | Refusal {
  const refused = permit(reading, caller, workspaceId, "administer", "workspace");
  if (refused === null && caller.kind === "person") return { workspaceId, administrator: caller };
  return refused?.refused === "not-found" ? refused : notAWorkspaceAdministrator(host ?? "the code host");
}

/** Like {@link findAdministered}, but finds the workspace by its slug. */
export function findAdministeredBySlug(
  reading: Reading,
  caller: Caller,
  { slug, host }: { readonly slug: string; readonly host: string | null },
): AdministeredWorkspace | Refusal {
  return findAdministered(reading, caller, { workspaceId: findWorkspaceBySlug(reading, slug) ?? "", host });
}

/** Identifies a connection in the API: the workspace's slug, and the installation's number on any host. */
export interface ConnectionName {
  readonly slug: string;
  readonly number: string;
  /**
   * The name of the configured code host, or null if none is configured. If connections on several hosts have this
   * number, the connection on this host is used.
   */
  readonly host: string | null;
}

/**
 * Finds a connection for a user who may remove it. Refuses with `not-found` if it does not exist, and otherwise as
 * {@link findAdministered} does.
 */
export function findConnectionToEnd(
  reading: Reading,
  caller: Caller,
  name: ConnectionName,
): (AdministeredWorkspace & { readonly connection: CodeHostConnection }) | Refusal {
  const found = findAdministeredBySlug(reading, caller, name);
  if (isRefusal(found)) return found;
  const connection = findConnection(reading, found.workspaceId, name);
  return connection === undefined ? { refused: "not-found" } : { ...found, connection };
}

/**
 * Finds a connection for a caller who may configure the workspace. Refuses with `not-found` if the caller may not, or
 * if the connection does not exist.
 */
export function findConfiguredConnection(
  reading: Reading,
  caller: Caller,
  name: ConnectionName,
): CodeHostConnection | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, name.slug) ?? "";
  const isAllowed = permit(reading, caller, workspaceId, "configure", "workspace") === null;
  const connection = isAllowed ? findConnection(reading, workspaceId, name) : undefined;
  return connection ?? { refused: "not-found" };
}

function findConnection(
  reading: Reading,
  workspaceId: string,
  { number, host }: ConnectionName,
): CodeHostConnection | undefined {
  const found = listCodeHostConnections(reading, workspaceId).filter((one) => String(one.installationId) === number);
  return found.find((one) => one.host === host) ?? found[0];
}
