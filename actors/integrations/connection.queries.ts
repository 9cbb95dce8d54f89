import type { Reading } from "../../storage/store.js";
import { permit } from "../access/visibility/visibility.js";
import type { Caller, PersonCaller } from "../caller.js";
import { type FieldError, isRefusal, type Refusal } from "../refusal.js";
import { findKnownResource, type ResourceRow } from "../resources/resource.table.js";
import { findOwningWorkspace } from "../resources/resource-location.table.js";
import { readListPage } from "../tables/list-page.js";
import { notLinked } from "./authorization.js";
import type { ConnectionHolder, IntegrationConnectionRow } from "./connection.js";
import { findIntegrationConnection, listIntegrationConnectionPage } from "./connection.table.js";
import { type IntegrationConnectionKey, whyNotLinked } from "./connection-permissions.js";
import type { IntegrationFields } from "./definition.js";

/** An integration that a caller can see. */
export type VisibleIntegration = ResourceRow<IntegrationFields>;

/** Finds the integration with this id; refuses with `not-found` if the caller cannot see it. */
export function findVisibleIntegration(
  reading: Reading,
  caller: Caller,
  integrationId: string,
): VisibleIntegration | Refusal {
  const workspaceId = findOwningWorkspace(reading, "integration", integrationId);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", "integration");
  if (refused !== null) return refused;
  const row = findKnownResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  return row ?? { refused: "not-found" };
}

/** Finds the integration for a caller who administers integrations. Other callers get `not-found`. */
export function findAdministeredIntegration(
  reading: Reading,
  caller: Caller,
  integrationId: string,
): VisibleIntegration | Refusal {
  const found = findVisibleIntegration(reading, caller, integrationId);
  if (isRefusal(found)) return found;
  const refused = permit(reading, caller, found.workspaceId, "administer", "integration");
  return refused === null ? found : { refused: "not-found" };
}

/** A connection that a user may link and remove. It may not exist yet. */
export interface LinkableConnection {
  readonly key: IntegrationConnectionKey;
  readonly integration: VisibleIntegration;
  readonly person: PersonCaller;
}

/**
 * Finds the team's connection to an integration, or the caller's own connection, if the caller may link that
 * connection. Workspace tokens cannot link connections.
 */
export function findLinkableConnection(
  reading: Reading,
  caller: Caller,
  { integrationId, whose }: { readonly integrationId: string; readonly whose: "team" | "own" },
): LinkableConnection | Refusal {
  const integration = findVisibleIntegration(reading, caller, integrationId);
  if (isRefusal(integration)) return integration;
  const holder: ConnectionHolder = whose === "team" || caller.kind === "token" ? "team" : caller.userId;
  const key = { workspaceId: integration.workspaceId, integrationId: integration.id, holder };
  const refused = whyNotLinked(reading, caller, key);
  if (refused !== null) return refused;
  return caller.kind === "person" ? { key, integration, person: caller } : { refused: "not-found" };
}

/** Refuses tools that the integration does not have. Returns null if it has all of `tools`. */
export function refuseAsks({ fields }: VisibleIntegration, tools: readonly string[]): Refusal | null {
  const errors = tools.flatMap((tool, index): FieldError[] =>
    Object.hasOwn(fields.tools, tool) ? [] : [{ path: `ask[${index}]`, message: `there is no tool ${tool}` }],
  );
  return errors.length === 0 ? null : { refused: "invalid", errors };
}

/** Connections of an integration, ordered by holder. `next` is the last holder of the page; null on the last page. */
export interface ConnectionPage {
  readonly rows: readonly IntegrationConnectionRow[];
  readonly next: ConnectionHolder | null;
}

/**
 * Lists a page of an integration's connections after a holder. A page may be short, because rows with only settings are
 * left out.
 */
export function listConnections(
  reading: Reading,
  { workspaceId, id: integrationId }: VisibleIntegration,
  { after, limit }: { readonly after: ConnectionHolder | undefined; readonly limit: number },
): ConnectionPage {
  const { rows, next } = readListPage(
    { after, limit },
    (page) => listIntegrationConnectionPage(reading, { workspaceId, integrationId }, page),
    ({ holder }) => holder,
  );
  return { rows: rows.filter(({ state }) => state !== "none"), next };
}

/** Finds a connection that was just linked. Refuses if the connection was removed in the meantime. */
export function findLinkedConnection(
  reading: Reading,
  { workspaceId, integrationId, holder }: IntegrationConnectionKey,
): IntegrationConnectionRow | Refusal {
  const row = findIntegrationConnection(reading, workspaceId, integrationId, holder);
  return row ?? notLinked("it was disconnected in the meantime");
}
