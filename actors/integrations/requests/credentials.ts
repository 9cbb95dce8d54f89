/** Finds the account that a request uses, and adds the credential to the request. */
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
  /** When a retry may succeed, in milliseconds from now; absent if unknown. */
  readonly retryAfterMs?: number;
}

/** The access token for the request; null if the integration links no accounts. `secrets` are the values to mask. */
export type Acting = { readonly token: string | null; readonly secrets: readonly string[] };

export interface CredentialScope {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
  readonly integration: ResourceRow<IntegrationFields>;
}

/** How long the renewal of an expired token is expected to take, in milliseconds. */
const RENEWAL_MS = 30_000;

/**
 * Returns the access token of the account that the request uses, or the reason why the request may not be sent. If the
 * integration acts as its users, an action must act as a user, except when a binding runs it.
 */
export function findActing(
  { reading, sealer, integration }: CredentialScope,
  { block, actsAs, after }: Pick<IntegrationRequestInput, "block" | "actsAs" | "after">,
  nowMs: number,
): Acting | NotSent {
  const { connection } = integration.fields;
  const isPersons = connection?.holder === "requester";
  if (actsAs.kind === "team" && isPersons && block.kind === "action" && after?.kind !== "binding")
    return { code: "not-connected", reason: "it acts as a person, but no person is known" };
  if (actsAs.kind === "person" && !isPersons)
    return { code: "not-connected", reason: "the integration now acts as its team" };
  if (connection === null || connection.oauth2 === null) return { token: null, secrets: [] };
  const holder = actsAs.kind === "team" ? "team" : actsAs.userId;
  const { workspaceId, id: integrationId } = integration;
  const linked = findUsableConnection(reading, { workspaceId, integrationId, holder }, nowMs);
  if (linked === null) {
    const whose = actsAs.kind === "team" ? "the team" : "the person who started the task";
    const reason = `${whose} has no usable connection to ${integration.fields.name}`;
    const ownConnection = findIntegrationConnection(reading, workspaceId, integrationId, holder);
    const isRenewed = ownConnection?.state === "connected" || ownConnection?.state === "refreshing";
    return { code: "not-connected", reason, ...(isRenewed ? { retryAfterMs: RENEWAL_MS } : {}) };
  }
  const { access, refresh } = openTokens(sealer, linked.sealed);
  return { token: access, secrets: refresh === null ? [access] : [access, refresh] };
}

/**
 * Returns the header with the team's secret for `url`, an address to which the request is redirected. Returns no header
 * if the secret is not bound to that address.
 */
export function findSecretHeader({ reading, sealer, integration }: CredentialScope, url: URL): Record<string, string> {
  const sent = integration.fields.connection?.token ?? null;
  if (sent === null) return {};
  const found = findSecretFor(reading, integration.workspaceId, { secret: sent.secret, url });
  return "reason" in found ? {} : { [sent.header.toLowerCase()]: `${sent.prefix}${sealer.open(found.sealed)}` };
}

/**
 * Adds the credential to the request. If the definition names a header for the team's secret, adds the secret in this
 * header; refuses if the secret is not bound to the address. Otherwise adds the access token as a bearer token. Does
 * not add the token if an expression already writes it, or if the request has an `authorization` header.
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
