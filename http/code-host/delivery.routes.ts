import { z } from "zod";
import { codeHostConnectionRef } from "../../actors/code-host/connection.messages.js";
import { findInstallationOwner } from "../../actors/code-host/connection.queries.js";
import {
  INSTALLATION_EVENT,
  installationEventSchema,
  isSignatureValid,
  reportRefused,
  toInstallationChange,
} from "../../actors/code-host/delivery.js";
import { type HostedNews, isNewsEvent, toHostedNews } from "../../actors/code-host/hosted-news.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { findPullRequestLog } from "../../actors/pull-requests/pull-request-log.messages.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Reported } from "../../runtime/turns/turn.js";
import { parseJson } from "../transport/request-body.js";
import type { Metrics } from "../wire/metrics.js";
import { Refused } from "../wire/refused.js";
import { type Answer, type Route, type RouteRequest, route } from "../wire/route.js";

export interface CodeHostDeliveryOptions {
  readonly runtime: Runtime;
  readonly codeHost: CodeHost | null;
  readonly metrics: Pick<Metrics, "delivered">;
  /** Takes the report of a refused delivery. */
  readonly reported: (reported: Reported) => void;
  /** The secret that deliveries are signed with. Null refuses all deliveries. */
  readonly secret: string | null;
}

/**
 * Maximum size of a delivery, in bytes. An installation event lists every repository that the installation can access.
 */
const MAX_DELIVERY_BYTES = 4 * 1024 * 1024;

type InstallationEvent = z.output<typeof installationEventSchema>;

/** The route that receives the code host's webhook deliveries. */
export function codeHostDeliveryRoutes(options: CodeHostDeliveryOptions): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/code-host/deliveries",
      operation: "takeCodeHostDelivery",
      summary: "Receive a delivery of the code host's webhook",
      description:
        "The body is JSON, or a form whose field `payload` is JSON. `x-hub-signature-256` contains its " +
        "signature with CODE_HOST_WEBHOOK_SECRET; `x-github-event` and `x-github-delivery` identify the event. " +
        "A repeated delivery has no effect. If an installation is suspended, resumed, deleted or granted " +
        "permissions, the service updates its connection. The service records the pull request events of the " +
        "lines' repositories in any order, and the renaming and transfer of repositories. It accepts and " +
        "ignores all other events.",
      access: "public",
      body: z.instanceof(Uint8Array),
      rawBodyBytes: MAX_DELIVERY_BYTES,
      takes: installationEventSchema,
      example: { action: "suspend", installation: { id: 16598467, updated_at: "2026-09-23T12:00:00Z" } },
      answers: { 204: null },
      problems: ["unauthenticated", "unsupported-media-type"],
      handle: (request) => take(options, request),
    }),
  ];
}

async function take(
  options: CodeHostDeliveryOptions,
  { body, header }: RouteRequest<"public", Uint8Array>,
): Promise<Answer | Refusal> {
  const { codeHost, metrics, secret, reported } = options;
  if (codeHost === null || secret === null || !isSignatureValid(secret, body, header("x-hub-signature-256"))) {
    if (codeHost !== null && secret !== null) reported(reportRefused(codeHost.name));
    return {
      refused: "unauthenticated",
      detail: "The delivery has no valid signature: set the webhook's secret to CODE_HOST_WEBHOOK_SECRET.",
    };
  }
  const delivery = header("x-github-delivery");
  if (delivery === undefined || !/^[\w-]{1,100}$/.test(delivery)) {
    return { refused: "bad-request", detail: "x-github-delivery must name the delivery." };
  }
  const name = header("x-github-event") ?? "";
  const from = { host: codeHost.name, delivery };
  const json = readPayload(body, header("content-type"));
  const isUsed =
    name === INSTALLATION_EVENT
      ? await use(options.runtime, from, toInstallationEvent(json))
      : await useNews(options.runtime, from, isNewsEvent(name) ? toHostedNews(name, json) : []);
  metrics.delivered(isUsed ? "used" : "unused");
  return { status: 204 };
}

/** The id of a delivery and the code host that sent it. */
interface DeliveryFrom {
  readonly host: string;
  readonly delivery: string;
}

/**
 * Decodes a delivery. Throws {@link Refused} for a body that is neither JSON nor a form whose field `payload` is JSON.
 */
function readPayload(body: Uint8Array, contentType = "application/json"): unknown {
  const type = contentType.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && type !== FORM) {
    const detail = `The delivery must be JSON, or a form with the field payload: application/json or ${FORM}.`;
    throw new Refused({ refused: "unsupported-media-type", detail });
  }
  const read = parseJson(type === FORM ? readField(body) : body, Number.POSITIVE_INFINITY, "replaced");
  if ("refused" in read) throw new Refused(read);
  return read.json;
}

const FORM = "application/x-www-form-urlencoded";

function readField(body: Uint8Array): Uint8Array {
  const payload = new URLSearchParams(Buffer.from(body).toString("utf8")).get("payload");
  if (payload !== null) return Buffer.from(payload);
  throw new Refused({ refused: "bad-request", detail: "The form has no field payload." });
}

/**
 * Sends each item to the pull request log of its repository, if a workspace has connected the item's installation.
 * Resolves with true if any item had an effect.
 */
async function useNews(
  runtime: Runtime,
  { host, delivery }: DeliveryFrom,
  all: readonly HostedNews[],
): Promise<boolean> {
  let isUsed = false;
  for (const [index, news] of all.entries()) {
    const workspaceId = findInstallationOwner(runtime.reading, { host, installationId: news.installationId });
    if (workspaceId === undefined) continue;
    const to = findPullRequestLog(runtime.reading, workspaceId, { ...news, host });
    const messageId = `${delivery} ${index}`;
    isUsed = (await runtime.ask(to, { type: "host.news", host, news }, { messageId })) === true || isUsed;
  }
  return isUsed;
}

/** Parses an installation event. Throws {@link Refused} for any other payload. */
function toInstallationEvent(json: unknown): InstallationEvent {
  const event = installationEventSchema.safeParse(json);
  if (event.success) return event.data;
  throw new Refused({ refused: "bad-request", detail: "The payload is not an installation event." });
}

/**
 * Sends the event to the installation's connection, if there is one. Resolves with true if the event changed the
 * connection.
 */
async function use(runtime: Runtime, { host, delivery }: DeliveryFrom, event: InstallationEvent): Promise<boolean> {
  const change = toInstallationChange(event);
  const installation = { host, installationId: event.installation.id };
  const workspaceId = findInstallationOwner(runtime.reading, installation);
  if (change === null || workspaceId === undefined) return false;
  const to = codeHostConnectionRef(workspaceId, installation);
  return (await runtime.ask(to, change, { messageId: delivery })) === true;
}
