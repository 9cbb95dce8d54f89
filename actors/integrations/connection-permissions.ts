/** Checks who may have and use connections to an integration. */
import type { Reading } from "../../storage/store.js";
import { isOnTeam, permit } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";
import type { ConnectionHolder, IntegrationConnectionRow, LinkedAccount } from "./connection.js";
import { findIntegrationConnection } from "./connection.table.js";
import type { IntegrationFields } from "./definition.js";
import { isSameServer } from "./oauth-terms.js";
import type { OAuth2 } from "./oauth2.js";

/** Identifies a connection of a workspace. */
export interface IntegrationConnectionKey {
  readonly workspaceId: string;
  readonly integrationId: string;
  readonly holder: ConnectionHolder;
}

/** The integration and OAuth terms of a connection that is permitted. */
export interface ConnectionTarget {
  readonly integration: ResourceRow<IntegrationFields>;
  readonly oauth2: OAuth2;
}

/**
 * Finds the target of a connection; null if the connection is not permitted. It is permitted if these conditions hold:
 *
 * - The integration exists and links accounts, and the workspace is open.
 * - For a user's connection: the integration acts as its users, and the user is on the integration's team.
 */
export function findConnectionTarget(
  reading: Reading,
  { workspaceId, integrationId, holder }: IntegrationConnectionKey,
): ConnectionTarget | null {
  if (!isWorkspaceOpen(reading, workspaceId)) return null;
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const oauth2 = integration?.fields.connection?.oauth2 ?? null;
  if (integration === undefined || oauth2 === null) return null;
  if (holder === "team") return { integration, oauth2 };
  const isPersons = integration.fields.connection?.holder === "requester";
  const { teamId } = integration;
  return isPersons && teamId !== null && isOnTeam(reading, holder, workspaceId, teamId)
    ? { integration, oauth2 }
    : null;
}

/** Returns why the caller may not connect or disconnect this connection; null if the caller may. */
export function whyNotLinked(reading: Reading, caller: Caller, key: IntegrationConnectionKey): Refusal | null {
  return whyNotOwner(reading, caller, key) ?? whyNoConnection(reading, key);
}

/**
 * Returns why the caller does not manage this connection; null if the caller does. Administrators manage the team's
 * connection. Users on the team manage their own connections.
 */
function whyNotOwner(reading: Reading, caller: Caller, key: IntegrationConnectionKey): Refusal | null {
  const { workspaceId, integrationId, holder } = key;
  if (holder === "team") return permit(reading, caller, workspaceId, "administer", "integration");
  const unseen = permit(reading, caller, workspaceId, "read", "integration");
  if (unseen !== null) return unseen;
  const teamId = findResource(reading, workspaceId, "integration", integrationId)?.teamId ?? "";
  const isOwn = caller.kind === "person" && caller.userId === holder;
  return isOwn && isOnTeam(reading, holder, workspaceId, teamId) ? null : notOnTeam;
}

/** Returns why the integration cannot have a connection of this holder; null if it can. */
function whyNoConnection(
  reading: Reading,
  { workspaceId, integrationId, holder }: IntegrationConnectionKey,
): Refusal | null {
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const connection = integration?.fields.connection ?? null;
  if (connection === null || connection.oauth2 === null) {
    return { refused: "conflict", detail: "The integration links no accounts: its connection has no oauth2." };
  }
  if (holder === "team" || connection.holder === "requester") return null;
  return { refused: "conflict", detail: "The integration acts as its team: people connect no accounts of their own." };
}

const notOnTeam: Refusal = {
  refused: "forbidden",
  title: "Not on the team",
  detail: "Only people on the team connect their accounts to its integrations.",
};

/**
 * Finds the connection that a tool uses in this user's tasks: the user's own connection or the team's. Returns null if
 * requests cannot use that connection now (see {@link findUsableConnection}).
 */
export function findActingConnection(
  reading: Reading,
  { workspaceId, integrationId }: Pick<IntegrationConnectionKey, "workspaceId" | "integrationId">,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): IntegrationConnectionRow | null {
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const holder = integration?.fields.connection?.holder === "requester" ? userId : "team";
  const key = { workspaceId, integrationId, holder };
  if (findUsableConnection(reading, key, nowMs) === null) return null;
  return findIntegrationConnection(reading, workspaceId, integrationId, holder) ?? null;
}

/**
 * Returns the tokens of a connection if requests may use them now. Returns null in these cases:
 *
 * - The connection has no tokens, or is not permitted.
 * - The tokens belong to a host or client other than the definition's.
 * - The access token has expired.
 */
export function findUsableConnection(
  reading: Reading,
  key: IntegrationConnectionKey,
  nowMs: number,
): LinkedAccount | null {
  const target = findConnectionTarget(reading, key);
  const { workspaceId, integrationId, holder } = key;
  const linked = findIntegrationConnection(reading, workspaceId, integrationId, holder)?.linked ?? null;
  if (target === null || linked === null || !isSameServer(linked.terms, target.oauth2)) return null;
  return linked.expiresAtMs === null || linked.expiresAtMs > nowMs ? linked : null;
}
