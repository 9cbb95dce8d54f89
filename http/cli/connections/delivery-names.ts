import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { type IdPrefix, parseIdPrefix, pickId, toIdAfter } from "../command/id-prefix.js";
import { type NamedTeam, orNull } from "../command/names.js";
import { pickResource } from "../command/pick-resource.js";

/** A delivery, with the start of its body and the results of its entries. */
export type Delivery = Schema<"Delivery">;

/** An integration, and its team. */
export interface NamedIntegration {
  readonly team: NamedTeam;
  readonly integration: Schema<"Integration">;
}

/** The option `--integration`. */
export interface IntegrationOption {
  readonly integration?: string;
}

/**
 * Finds an integration by its key, `<team>/<key>`, its id or a unique beginning of its id. Default: the team's only
 * integration.
 */
export async function findIntegration(context: Context, name: string | undefined): Promise<NamedIntegration> {
  const { team, listed, key } = await listIntegrations(context, name);
  const kind = { what: "integration", where: `the team ${team.key}`, key: toKey };
  return { team, integration: pickResource(kind, listed, key) };
}

/**
 * Finds a delivery by its id or a unique id prefix. Searches the named integration or, without a name, all integrations
 * of the team. Default: the latest delivery of the named integration, or of the team's only integration.
 */
export async function findDelivery(
  context: Context,
  name: string | undefined,
  integrationName: string | undefined,
): Promise<NamedIntegration & { readonly delivery: Delivery }> {
  if (name === undefined) {
    const found = await findIntegration(context, integrationName);
    const [latest] = await listIds(context, found.integration, { limit: 1 });
    const delivery = latest === undefined ? null : await readDelivery(context, found.integration, latest);
    if (delivery !== null) return { ...found, delivery };
    throw new CommandError(`the integration ${toKey(found.integration)} has no deliveries`);
  }
  const beginning = parseIdPrefix("dlv", name);
  if (beginning === null)
    throw new CommandError(`${name} is not the id of a delivery: signalbox delivery list shows them`);
  const { team, integrations } = await findIntegrations(context, integrationName);
  const found: { readonly integration: Schema<"Integration">; readonly id: string }[] = [];
  for (const integration of integrations) {
    const ids = beginning.isWhole ? [beginning.text] : await listBeginning(context, integration, beginning);
    found.push(...ids.map((id) => ({ integration, id })));
  }
  const id = pickId(beginning.text, [...new Set(found.map((one) => one.id))]);
  for (const { integration } of found.filter((one) => one.id === id)) {
    const delivery = await readDelivery(context, integration, id);
    if (delivery !== null) return { team, integration, delivery };
  }
  const where = integrations.length === 0 ? "which has no integrations" : integrations.map(toKey).join(", ");
  throw new CommandError(
    `there is no delivery ${name} in the team ${team.key} (${where}): signalbox delivery list shows them`,
  );
}

/** Lists the delivery ids of an integration that have the prefix `beginning`, at most 200. */
async function listBeginning(
  context: Context,
  integration: Schema<"Integration">,
  beginning: IdPrefix,
): Promise<readonly string[]> {
  const before = toIdAfter("dlv", beginning);
  const ids = await listIds(context, integration, { limit: 200, ...(before === undefined ? {} : { before }) });
  return ids.filter((id) => id.startsWith(beginning.text));
}

/** The key of an integration in its team. */
export function toKey({ integration }: Schema<"Integration">): string {
  return integration;
}

async function findIntegrations(
  context: Context,
  name: string | undefined,
): Promise<{ readonly team: NamedTeam; readonly integrations: readonly Schema<"Integration">[] }> {
  if (name !== undefined) {
    const { team, integration } = await findIntegration(context, name);
    return { team, integrations: [integration] };
  }
  const { team, listed } = await listIntegrations(context, undefined);
  return { team, integrations: listed };
}

async function listIntegrations(context: Context, name: string | undefined) {
  const { client, names, signal } = context;
  const [first = "", second] = (name ?? "").split("/");
  const team = await names.team(second === undefined ? undefined : first);
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/integrations", {
    path: { workspaceId: team.workspace.id },
    signal,
  });
  const listed = items.filter(({ teamId }) => teamId === team.id);
  return { team, listed, key: name === undefined ? undefined : (second ?? first) };
}

async function listIds(
  { client, signal }: Context,
  { id: integrationId }: Schema<"Integration">,
  query: { readonly limit: number; readonly before?: string },
): Promise<readonly string[]> {
  const options = { path: { integrationId }, query, signal };
  const { items } = await client.get("/api/integrations/{integrationId}/deliveries", options);
  return items.map(({ id }) => id);
}

/** Reads a delivery; null if the integration has none with this id. */
export async function readDelivery(
  { client, signal }: Context,
  { id: integrationId }: Pick<Schema<"Integration">, "id">,
  deliveryId: string,
): Promise<Delivery | null> {
  const options = { path: { integrationId, deliveryId }, signal };
  return await orNull(client.get("/api/integrations/{integrationId}/deliveries/{deliveryId}", options));
}
