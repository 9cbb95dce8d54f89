/** The account that a request uses, and what it carries of it. */
import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import type { Sealer } from "../../sealer.js";
import { findSecretFor } from "../../workspaces/secret-hosts.js";
import { findIntegrationConnection } from "../connection.table.js";
import { findUsableConnection } from "../connection-permissions.js";
import { openTokens } from "../connection-tokens.js";
import type { IntegrationFields } from "../definition.js";
import type { IntegrationRequestCode, IntegrationRequestInput } from "./integration-request.js";
import type { RenderedRequest } from "./render-request.js";

/** Why a request is not sent. */
export interface NotSent {
  readonly code: IntegrationRequestCode;
  readonly reason: string;
  /** When it may be different, in milliseconds from now; absent where nothing says so. */
  readonly retryAfterMs?: number;
}

/** The token that the request acts with; null where the integration links no accounts. */
export type Acting = { readonly token: string | null; readonly secrets: readonly string[] };

export interface CredentialScope {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
  readonly integration: ResourceRow<IntegrationFields>;
}

/** How soon access that has ended is renewed, in milliseconds, where it is. */
const RENEWAL_MS = 30_000;

/**
 * The access token of the account, or why there is none to act with: a tool or a schedule of a requester integration acts
 * as a person or not at all.
 */
export function findActing(
  { reading, sealer, integration }: CredentialScope,
  { block, actsAs, after }: Pick<IntegrationRequestInput, "block" | "actsAs" | "after">,
  nowMs: number,
): Acting | NotSent {
  const { connection } = integration.fields;
  const isPersons = connection?.holder === "requester";
  // What neither a tool nor a binding runs is run by a schedule.
  if (actsAs.kind === "team" && isPersons && block.kind === "action" && after?.kind !== "binding")
    return { code: "not-connected", reason: "it acts as a person, and there is nobody to act as" };
  if (actsAs.kind === "person" && !isPersons)
    return { code: "not-connected", reason: "the integration acts as its team now" };
  if (connection === null || connection.oauth2 === null) return { token: null, secrets: [] };
  const holder = actsAs.kind === "team" ? "team" : actsAs.userId;
  const { workspaceId, id: integrationId } = integration;
  const linked = findUsableConnection(reading, { workspaceId, integrationId, holder }, nowMs);
  if (linked === null) {
    const whose = actsAs.kind === "team" ? "the team" : "the person whose task it is";
    const reason = `${whose} has no usable connection to ${integration.fields.name}`;
    const held = findIntegrationConnection(reading, workspaceId, integrationId, holder);
    const isRenewed = held?.state === "connected" || held?.state === "refreshing";
    return { code: "not-connected", reason, ...(isRenewed ? { retryAfterMs: RENEWAL_MS } : {}) };
  }
  const { access, refresh } = openTokens(sealer, linked.sealed);
  return { token: access, secrets: refresh === null ? [access] : [access, refresh] };
}

/** The header with the team's secret, for another address than the request's own; none where the secret is not bound there. */
export function findSecretHeader({ reading, sealer, integration }: CredentialScope, url: URL): Record<string, string> {
  const sent = integration.fields.connection?.token ?? null;
  if (sent === null) return {};
  const found = findSecretFor(reading, integration.workspaceId, { secret: sent.secret, url });
  return "reason" in found ? {} : { [sent.header.toLowerCase()]: `${sent.prefix}${sealer.open(found.sealed)}` };
}

/**
 * The request with its credential: the team's secret in the header that the definition names, or the access token as
 * bearer where the definition writes it nowhere itself. Refused where the secret is not bound to the address.
 */
export function addCredential(
  { reading, sealer, integration }: CredentialScope,
  { token }: Acting,
  { request, writesToken }: { readonly request: RenderedRequest; readonly writesToken: boolean },
): { readonly request: RenderedRequest; readonly secrets: readonly string[] } | NotSent {
  const sent = integration.fields.connection?.token ?? null;
  if (sent !== null) {
    const found = findSecretFor(reading, integration.workspaceId, { secret: sent.secret, url: request.url });
    if ("reason" in found) return { code: "not-allowed", reason: found.reason };
    const value = sealer.open(found.sealed);
    const headers = { ...request.headers, [sent.header.toLowerCase()]: `${sent.prefix}${value}` };
    return { request: { ...request, headers }, secrets: [value] };
  }
  if (token === null || writesToken || request.headers.authorization !== undefined) return { request, secrets: [] };
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  return { request: { ...request, headers }, secrets: [] };
}
