import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import type { ConnectionHolder, IntegrationConnectionRow } from "./connection.js";

/** Key: `[person, integration]`. Value: true. */
const connectionsOfPeople = table<true>("connection-of");
/** Key: `[integration, holder]`. */
export const connections = indexedTable<IntegrationConnectionRow>("connection", {
  under: ["integrationId"],
  order: ["holder"],
  derived: [
    derivedRows(connectionsOfPeople, ({ integrationId, holder }) =>
      holder === "team" ? [] : [[[holder, integrationId], true]],
    ),
  ],
});

/** Finds the connection; undefined if there is none. */
export function findIntegrationConnection(
  reading: Reading,
  workspaceId: string,
  integrationId: string,
  holder: ConnectionHolder,
): IntegrationConnectionRow | undefined {
  return connections.get(reading, workspaceId, integrationId, holder);
}

/** Lists the connections of one integration, or of the whole workspace if `under` is empty. */
export function listIntegrationConnections(
  reading: Reading,
  workspaceId: string,
  under: readonly string[],
): IntegrationConnectionRow[] {
  return connections.list(reading, workspaceId, under);
}

/** Lists a page of an integration's connections, ordered by holder. */
export function listIntegrationConnectionPage(
  reading: Reading,
  { workspaceId, integrationId }: { readonly workspaceId: string; readonly integrationId: string },
  { after, limit }: { readonly after: ConnectionHolder | undefined; readonly limit: number },
): IntegrationConnectionRow[] {
  const from = after === undefined ? {} : { after: [integrationId, after] };
  return connections.list(reading, workspaceId, [integrationId], { ...from, limit });
}

/** Lists the integrations where a user has a connection or settings. */
export function listIntegrationsOfPerson(reading: Reading, workspaceId: string, userId: string): string[] {
  return connectionsOfPeople.entries(reading, workspaceId, [userId]).map(({ key }) => String(key.at(-1)));
}

export function storeIntegrationConnection(writing: Writing, workspaceId: string, row: IntegrationConnectionRow): void {
  const before = findIntegrationConnection(writing, workspaceId, row.integrationId, row.holder);
  connections.put(writing, workspaceId, before ?? null, row);
}

export function removeIntegrationConnection(
  writing: Writing,
  workspaceId: string,
  { integrationId, holder }: Pick<IntegrationConnectionRow, "integrationId" | "holder">,
): void {
  const before = findIntegrationConnection(writing, workspaceId, integrationId, holder);
  if (before !== undefined) connections.remove(writing, workspaceId, before);
}

/** Returns the row of a connection that does not exist yet. */
export function newIntegrationConnection(integrationId: string, holder: ConnectionHolder): IntegrationConnectionRow {
  const none = { linked: null, account: null, connectedBy: null, connectedAt: null, renewedAt: null, problem: null };
  return { integrationId, holder, state: "none", ...none, asks: [] };
}
