import { isKey } from "../../storage/key-check.js";
import type { Reading } from "../../storage/store.js";
import { createRawBudget } from "../expressions/evaluate.js";
import { evaluateText } from "../expressions/templates.js";
import { type Json, toText } from "../expressions/values.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { toKeptHeaders } from "../integrations/kept-headers.js";
import { readReceivedBody } from "../integrations/received-body.js";
import { findResource, findResourceAt, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";
import { findWorkspaceOf } from "../resources/resource-location.table.js";
import { type Sealer, sha256Hex } from "../sealer.js";
import type { SecretFields } from "../workspaces/secret.kind.js";
import { readHeader } from "./header-read.js";
import { ReceivedDelivery } from "./received-delivery.js";
import { credentialHeader, type DeliveryFault, findFault } from "./verify-delivery.js";

type Webhook = NonNullable<IntegrationFields["webhook"]>;
type Respond = NonNullable<Webhook["respond"]>;

/** An integration that takes deliveries. */
export interface DeliveryReceiver {
  readonly integration: ResourceRow<IntegrationFields>;
  readonly webhook: Webhook;
}

/** Integrations whose workspace is remembered; the first one is forgotten first. */
const MAX_REMEMBERED = 1_000;

/** Finds the integrations that deliveries are for. Remembers the workspace of each: it stays the same. */
export class DeliveryReceivers {
  /** With the id as text of its own: what is cut from a path is dear to compare. */
  readonly #remembered = new Map<string, Pick<ResourceRow<IntegrationFields>, "workspaceId" | "id">>();

  /** The integration with this id; undefined where there is none, or it takes no deliveries. */
  find(reading: Reading, integrationId: string): DeliveryReceiver | undefined {
    const known = this.#remembered.get(integrationId);
    if (known !== undefined) return findReceiver(reading, known.workspaceId, known.id);
    const workspaceId = findWorkspaceOf(reading, "integration", integrationId);
    if (workspaceId === undefined) return undefined;
    const receiver = findReceiver(reading, workspaceId, integrationId);
    if (receiver !== undefined) this.#remember(receiver);
    return receiver;
  }

  /** The workspace of an integration that takes deliveries, or took some; null for none. */
  workspaceOf(reading: Reading, integrationId: string): string | null {
    if (!this.#remembered.has(integrationId)) this.find(reading, integrationId);
    return this.#remembered.get(integrationId)?.workspaceId ?? null;
  }

  #remember({ integration: { id, workspaceId } }: DeliveryReceiver): void {
    const [oldest] = this.#remembered.size >= MAX_REMEMBERED ? this.#remembered.keys() : [];
    if (oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(id, { id, workspaceId });
  }
}

/** The integration; undefined where there is none, or it takes no deliveries. */
export function findReceiver(
  reading: Reading,
  workspaceId: string,
  integrationId: string,
): DeliveryReceiver | undefined {
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const isOpen = isWorkspaceOpen(reading, workspaceId);
  const webhook = integration?.fields.webhook ?? null;
  return integration === undefined || webhook === null || !isOpen ? undefined : { integration, webhook };
}

/** Why the delivery is not its sender's, by the definition and the secret as they are now; null where it is. */
export function findSenderFault(
  reading: Reading,
  { integration, webhook }: DeliveryReceiver,
  received: ReceivedDelivery,
  { sealer, nowMs }: { readonly sealer: Pick<Sealer, "open">; readonly nowMs: number },
): DeliveryFault | null {
  const { verify } = webhook;
  const name = (verify?.hmac ?? verify?.token ?? verify?.basic)?.secret ?? null;
  const row =
    name === null ? undefined : findResourceAt<SecretFields>(reading, integration.workspaceId, "secret", name);
  const sealed = row?.hidden.value;
  return findFault(received, { verify, secret: sealed === undefined ? null : sealer.open(sealed), nowMs });
}

/**
 * The delivery as expressions see it once it is verified: without a token or password, which an answer could repeat and a
 * key could store. A signature is no secret.
 */
export function withoutCredential({ webhook: { verify } }: DeliveryReceiver, received: ReceivedDelivery) {
  if (!verify?.token && !verify?.basic) return received;
  const shown = new Map(received.headers);
  shown.delete(credentialHeader(verify) ?? "");
  return received.withHeaders(shown);
}

/** A GET or HEAD to a webhook's address, as `respond` sees it: the fields of the query are the body. */
export function toQueried(query: string, headers: ReceivedDelivery["headers"]): ReceivedDelivery {
  return new ReceivedDelivery(Buffer.from(query), headers, null, (bytes) =>
    readReceivedBody(bytes, "application/x-www-form-urlencoded"),
  );
}

/**
 * What a request by the method is answered with at once, and nothing more comes of it: null where `respond` does not hold,
 * or does not name the method.
 */
export function respondTo(
  { webhook: { respond } }: DeliveryReceiver,
  received: ReceivedDelivery,
  method: Respond["methods"][number] = "POST",
): Response | null {
  if (respond === null || !respond.methods.includes(method)) return null;
  const when = evaluateText(respond.when, received.namesFor(respond.when));
  if ("error" in when || when.value !== true) return null;
  const outcome = evaluateText(respond.body, received.namesFor(respond.body));
  return { body: "error" in outcome ? null : outcome.value };
}

/** Why it is not known whether the integration did itself what a delivery tells: it is taken as another's. */
export function findMineProblem({ webhook: { mine } }: DeliveryReceiver, received: ReceivedDelivery): string | null {
  const outcome = mine === null ? null : evaluateText(mine, received.namesFor(mine));
  return outcome !== null && "error" in outcome ? outcome.error : null;
}

/** Why `respond` does not answer a delivery, or with nothing, though it should; null otherwise. */
export function findResponseProblem({ webhook: { respond } }: DeliveryReceiver, received: ReceivedDelivery) {
  if (respond === null || !respond.methods.includes("POST")) return null;
  const when = evaluateText(respond.when, received.namesFor(respond.when));
  if ("error" in when) return `\`when\` has no value: ${when.error}`;
  if (when.value !== true) return null;
  const body = evaluateText(respond.body, received.namesFor(respond.body));
  return "error" in body ? `\`body\` has no value: ${body.error}` : null;
}

/** An answer; null for one without a body. */
export interface Response {
  readonly body: Json;
}

/** Longest key that is stored as it is, in characters. */
const MAX_KEY = 255;

/** What identifies a delivery that is sent again; null where nothing does. */
export function toDeliveryKey({ webhook: { delivery } }: DeliveryReceiver, received: ReceivedDelivery): string | null {
  if (delivery === null) return null;
  const key = readHeader(delivery, received.headers) ?? evaluateKey(delivery, received);
  if (key === "") return null;
  return key.length <= MAX_KEY && isKey([key]) ? key : `sha256:${sha256Hex(toHashed(key))}`;
}

/** The text whose SHA-256 stands for a key. As UTF-8 all halves of pairs are alike, so they are written as JSON does. */
function toHashed(key: string): string {
  return /\p{Surrogate}/u.test(key) ? JSON.stringify(key) : key;
}

/** Why nothing identifies the delivery, though something should; null otherwise. */
export function findKeyProblem(receiver: DeliveryReceiver, received: ReceivedDelivery): string | null {
  const { delivery } = receiver.webhook;
  if (delivery === null || toDeliveryKey(receiver, received) !== null) return null;
  const outcome = evaluateText(delivery, received.namesFor(delivery));
  return "error" in outcome ? outcome.error : "it is empty";
}

function evaluateKey(field: string, received: ReceivedDelivery): string {
  // Two keys that differ in halves of surrogate pairs alone are two.
  const outcome = evaluateText(field, received.namesFor(field), createRawBudget());
  return "error" in outcome ? "" : toText(outcome.value);
}

/** The headers of a delivery that are stored. */
export function toStoredHeaders({ webhook: { verify } }: DeliveryReceiver, received: ReceivedDelivery) {
  return toKeptHeaders(received.headers, credentialHeader(verify));
}
