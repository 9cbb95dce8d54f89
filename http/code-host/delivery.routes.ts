import { z } from "zod";
import { codeHostConnectionRef } from "../../actors/code-host/connection.messages.js";
import { findInstallationOwner } from "../../actors/code-host/connection.table.js";
import {
  INSTALLATION_EVENT,
  installationEventSchema,
  isSignatureValid,
  toInstallationChange,
} from "../../actors/code-host/delivery.js";
import type { CodeHost } from "../../actors/outbound/code-host.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Metrics } from "../process/metrics.js";
import { type Answer, type Route, type RouteRequest, route } from "../route.js";
import { parseJson } from "../transport/request-body.js";

export interface CodeHostDeliveryOptions {
  readonly runtime: Runtime;
  readonly codeHost: CodeHost | null;
  readonly metrics: Pick<Metrics, "delivered">;
  /** Null takes no delivery. */
  readonly secret: string | null;
}

/** Longest delivery, in bytes: those about an installation name every repository that it reaches. */
const MAX_DELIVERY_BYTES = 4 * 1024 * 1024;

/** Where the code host tells what happens there. */
export function codeHostDeliveryRoutes(options: CodeHostDeliveryOptions): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/code-host/deliveries",
      operation: "takeCodeHostDelivery",
      summary: "Take a delivery of the code host's webhook",
      description:
        "Signed with CODE_HOST_WEBHOOK_SECRET in `x-hub-signature-256`, named by `x-github-event` and " +
        "`x-github-delivery`; a delivery that comes again changes nothing. An installation that is suspended, taken " +
        "up again or deleted there changes its connection; every other event is taken and unused.",
      access: "public",
      body: z.instanceof(Uint8Array),
      rawBodyBytes: MAX_DELIVERY_BYTES,
      takes: installationEventSchema,
      example: { action: "suspend", installation: { id: 16598467, updated_at: "2026-09-23T12:00:00Z" } },
      answers: { 204: null },
      problems: ["unauthenticated"],
      handle: (request) => take(options, request),
    }),
  ];
}

async function take(
  { runtime, codeHost, metrics, secret }: CodeHostDeliveryOptions,
  { body, header }: RouteRequest<"public", Uint8Array>,
): Promise<Answer | Refusal> {
  if (codeHost === null || secret === null || !isSignatureValid(secret, body, header("x-hub-signature-256"))) {
    return { refused: "unauthenticated", detail: "The delivery is not signed as this service wants it." };
  }
  const delivery = header("x-github-delivery");
  if (delivery === undefined || !/^[\w-]{1,100}$/.test(delivery)) {
    return { refused: "bad-request", detail: "x-github-delivery must name the delivery." };
  }
  const unused = (): Answer => {
    metrics.delivered("unused");
    return { status: 204 };
  };
  if (header("x-github-event") !== INSTALLATION_EVENT) return unused();
  const read = parseJson(body);
  if ("refused" in read) return read;
  const event = installationEventSchema.safeParse(read.json);
  if (!event.success) return { refused: "bad-request", detail: "This is no event of an installation." };
  const change = toInstallationChange(event.data);
  const installation = { host: codeHost.name, installationId: event.data.installation.id };
  const workspaceId = findInstallationOwner(runtime.reading, installation);
  if (change === null || workspaceId === undefined) return unused();
  const isUsed = await runtime.ask(codeHostConnectionRef(workspaceId, installation), change, {
    messageId: delivery,
  });
  if (isUsed !== true) return unused();
  metrics.delivered("used");
  return { status: 204 };
}
