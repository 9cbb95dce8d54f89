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
 * Finds the connection that reaches the repository (current or former `owner/name`): the connected installation of the
 * owner, or the installation that last reported the repository. Undefined if none is connected.
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

/** Finds the workspace that an installation is connected to, or is being connected to. */
export function findInstallationOwner(reading: Reading, installation: InstallationKey): string | undefined {
  return findClaimant(installationClaims, reading, toName(installation));
}

/** Returns whether any workspace is connected to an installation on the host. */
export function hasInstallation(reading: Reading, host: string): boolean {
  return installationClaims.rows.list(reading, GLOBAL_PARTITION, [host], { limit: 1 }).length > 0;
}

/** A workspace, and the user who may connect and disconnect installations. */
export interface AdministeredWorkspace {
  readonly workspaceId: string;
  readonly administrator: PersonCaller;
}

/**
 * Finds the workspace for a user who administers it. Refuses with `not-found` callers who cannot see it, and others
 * with a refusal that names the code host. `host` is the code host's name, null if none is configured.
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

/** Finds the workspace by its slug; see {@link findAdministered}. */
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
  /** The preferred host, if the workspace has two connections with this number; null if none is configured. */
  readonly host: string | null;
}

/** Finds the connection for a user who may remove it. Refuses like {@link findAdministered}. */
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

/** Finds the connection for callers who may configure the workspace; `not-found` for others. */
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
