import { isKey } from "../../../storage/key-check.js";
import type { Reading } from "../../../storage/store.js";
import { createRawBudget } from "../../expressions/evaluate.js";
import { parseExpression } from "../../expressions/parse.js";
import { evaluateText, onlyExpression, readTemplate } from "../../expressions/templates.js";
import { type Json, toText } from "../../expressions/values.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { readReceivedBody } from "../../integrations/received-body.js";
import { toStorableHeaders } from "../../integrations/stored-headers.js";
import { findResource, findResourceAt, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { type Sealer, sha256Hex } from "../../sealer.js";
import type { SecretFields } from "../../workspaces/secret.kind.js";
import { type DeliveryHeaders, ReceivedDelivery } from "./received-delivery.js";
import { credentialHeader, type DeliveryFault, findFault } from "./verify-delivery.js";

type Webhook = NonNullable<IntegrationFields["webhook"]>;
type Respond = NonNullable<Webhook["respond"]>;

/** An integration that accepts deliveries. */
export interface DeliveryReceiver {
  readonly integration: ResourceRow<IntegrationFields>;
  readonly webhook: Webhook;
}

/** Maximum number of integrations whose workspace is cached; the oldest entry is evicted first. */
const MAX_REMEMBERED = 1_000;

/**
 * Finds the integrations that deliveries are addressed to. Caches the workspace of each integration, because this
 * workspace never changes.
 */
export class DeliveryReceivers {
  /**
   * The workspaces by integration id. The stored `id` comes from the integration's row, because the requested id is a
   * slice of the request path, and comparing such a slice is expensive.
   */
  readonly #remembered = new Map<string, Pick<ResourceRow<IntegrationFields>, "workspaceId" | "id">>();

  /**
   * Finds the integration with this id. Returns undefined if it does not exist or accepts no deliveries, or if its
   * workspace is closed.
   */
  find(reading: Reading, integrationId: string): DeliveryReceiver | undefined {
    const known = this.#remembered.get(integrationId);
    if (known !== undefined) return findReceiver(reading, known.workspaceId, known.id);
    const workspaceId = findOwningWorkspace(reading, "integration", integrationId);
    if (workspaceId === undefined) return undefined;
    const receiver = findReceiver(reading, workspaceId, integrationId);
    if (receiver !== undefined) this.#remember(receiver);
    return receiver;
  }

  /** Returns the workspace of an integration that accepts or accepted deliveries; null if unknown. */
  findWorkspace(reading: Reading, integrationId: string): string | null {
    if (!this.#remembered.has(integrationId)) this.find(reading, integrationId);
    return this.#remembered.get(integrationId)?.workspaceId ?? null;
  }

  #remember({ integration: { id, workspaceId } }: DeliveryReceiver): void {
    const [oldest] = this.#remembered.size >= MAX_REMEMBERED ? this.#remembered.keys() : [];
    if (oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(id, { id, workspaceId });
  }
}

/**
 * Finds the integration. Returns undefined if it does not exist or accepts no deliveries, or if its workspace is
 * closed.
 */
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

/** Returns why the sender's verification fails with the current definition and secret; null if it succeeds. */
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
 * Returns the delivery as expressions see it after verification. Removes its token or password, because an expression
 * could copy it into a response or a key. Keeps a signature, because it is not secret.
 */
export function withoutCredential({ webhook: { verify } }: DeliveryReceiver, received: ReceivedDelivery) {
  if (!verify?.token && !verify?.basic) return received;
  const shown = new Map(received.headers);
  shown.delete(credentialHeader(verify) ?? "");
  return received.withHeaders(shown);
}

/**
 * Converts a GET or HEAD request to a webhook's address to the form that `respond` sees: its body has the query
 * parameters.
 */
export function toQueried(query: string, headers: ReceivedDelivery["headers"]): ReceivedDelivery {
  return new ReceivedDelivery(Buffer.from(query), headers, null, (bytes) =>
    readReceivedBody(bytes, "application/x-www-form-urlencoded"),
  );
}

/**
 * Returns the immediate response to a request with this method. A request with an immediate response raises nothing.
 * Returns null if `respond` is not defined, does not list the method, or its `when` is not true.
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

/**
 * Returns why the expression `mine` has no value; null if it has a value or is not defined. A delivery for which `mine`
 * has no value counts as someone else's action.
 */
export function findMineProblem({ webhook: { mine } }: DeliveryReceiver, received: ReceivedDelivery): string | null {
  const outcome = mine === null ? null : evaluateText(mine, received.namesFor(mine));
  return outcome !== null && "error" in outcome ? outcome.error : null;
}

/**
 * For a POST request: returns why `respond` fails, or why the response has no body. Null if there is no such problem.
 */
export function findResponseProblem({ webhook: { respond } }: DeliveryReceiver, received: ReceivedDelivery) {
  if (respond === null || !respond.methods.includes("POST")) return null;
  const when = evaluateText(respond.when, received.namesFor(respond.when));
  if ("error" in when) return `\`when\` has no value: ${when.error}`;
  if (when.value !== true) return null;
  const body = evaluateText(respond.body, received.namesFor(respond.body));
  return "error" in body ? `\`body\` has no value: ${body.error}` : null;
}

/** A response. `body` is null if the response has none. */
export interface Response {
  readonly body: Json;
}

/** Maximum length of a key that is stored unhashed, in characters. */
const MAX_KEY = 255;

/** Returns the key that identifies repeated deliveries; null if the delivery has no key. */
export function toDeliveryKey({ webhook: { delivery } }: DeliveryReceiver, received: ReceivedDelivery): string | null {
  if (delivery === null) return null;
  const key = readHeader(delivery, received.headers) ?? evaluateKey(delivery, received);
  if (key === "") return null;
  return key.length <= MAX_KEY && isKey([key]) ? key : `sha256:${sha256Hex(toHashed(key))}`;
}

/**
 * Returns the text to hash for a key. UTF-8 encodes all unpaired surrogates the same way, so a key with an unpaired
 * surrogate is hashed as JSON text.
 */
function toHashed(key: string): string {
  return /\p{Surrogate}/u.test(key) ? JSON.stringify(key) : key;
}

/**
 * Returns why the definition's key expression gives no key; null if it gives a key, or if the definition has no such
 * expression.
 */
export function findKeyProblem(receiver: DeliveryReceiver, received: ReceivedDelivery): string | null {
  const { delivery } = receiver.webhook;
  if (delivery === null || toDeliveryKey(receiver, received) !== null) return null;
  const outcome = evaluateText(delivery, received.namesFor(delivery));
  return "error" in outcome ? outcome.error : "it is empty";
}

function evaluateKey(field: string, received: ReceivedDelivery): string {
  // Use a budget that keeps unpaired surrogates, because keys may differ only in their unpaired surrogates.
  const outcome = evaluateText(field, received.namesFor(field), createRawBudget());
  return "error" in outcome ? "" : toText(outcome.value);
}

/** Returns the headers of a delivery to store. */
export function toStoredHeaders({ webhook: { verify } }: DeliveryReceiver, received: ReceivedDelivery) {
  return toStorableHeaders(received.headers, credentialHeader(verify));
}

/** Maximum number of cached fields; the oldest is evicted first. */
const MAX_CACHED = 200;
const cachedNames = new Map<string, string | null>();

/**
 * Reads a field that consists of a single header, like most delivery keys. Returns "" if the header is missing, and
 * null for any other field. Evaluating such a field as an expression takes ten times as long.
 */
export function readHeader(field: string, headers: DeliveryHeaders): string | null {
  const name = nameIn(field);
  if (name === null) return null;
  return headers.get(name) ?? "";
}

function nameIn(field: string): string | null {
  const known = cachedNames.get(field);
  if (known !== undefined) return known;
  const name = findName(field);
  cachedNames.set(field, name);
  if (cachedNames.size > MAX_CACHED) cachedNames.delete(cachedNames.keys().next().value ?? "");
  return name;
}

/** Returns the name in `headers["name"]`; null for any other field. */
function findName(field: string): string | null {
  const read = readTemplate(field);
  const source = "fault" in read ? null : (onlyExpression(read.template)?.source ?? null);
  const parsed = source === null ? null : parseExpression(source);
  if (parsed === null || "fault" in parsed || parsed.tree.root.op !== "[]") return null;
  const [from, name] = parsed.tree.root.args;
  if (from.op !== "id" || from.args !== "headers") return null;
  return name.op === "value" && typeof name.args === "string" ? name.args : null;
}
