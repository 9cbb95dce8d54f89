import { z } from "zod";
import { cachingSealer } from "../../actors/hooks/delivery/delivery-request.js";
import { chainWithin } from "../../actors/hooks/loop-guard.js";
import { MAX_BODY_BYTES, type NewDelivery } from "../../actors/integration-work/deliveries/delivery.js";
import { deliveryIntakeRef } from "../../actors/integration-work/deliveries/delivery.messages.js";
import { ReceivedDelivery } from "../../actors/integration-work/intake/received-delivery.js";
import {
  type DeliveryReceiver,
  DeliveryReceivers,
  findKeyProblem,
  findSenderFault,
  respondTo,
  toDeliveryKey,
  toStoredHeaders,
  withoutCredential,
} from "../../actors/integration-work/intake/take-delivery.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Answer, type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";
import { ArrivingDeliveries } from "./arriving-deliveries.js";
import { RefusedDeliveries } from "./refused-deliveries.js";

export interface TakeDeliveryOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/**
 * Returns the refusal of a delivery that could not be verified. The refusal is the same for every fault. If the webhook
 * expects basic authentication, the refusal asks for credentials.
 */
function notVerified({ webhook: { verify } }: DeliveryReceiver): Refusal {
  const refused: Refusal = { refused: "unauthenticated", detail: "The delivery could not be verified." };
  return verify?.basic ? { ...refused, basicRealm: "deliveries" } : refused;
}

/** The routes of the integrations' webhooks. */
export function takeDeliveryRoutes({ runtime, sealer }: TakeDeliveryOptions): readonly Route[] {
  const refused = new RefusedDeliveries(({ workspaceId, id }, these) =>
    runtime.ask(deliveryIntakeRef(workspaceId, id), { type: "delivery.refuse", ...these }),
  );
  const options: Taking = {
    runtime,
    sealer: cachingSealer(sealer),
    refused,
    arriving: new ArrivingDeliveries(),
    receivers: new DeliveryReceivers(),
  };
  return [
    route({
      method: "POST",
      path: "/api/integrations/{integrationId}/deliveries",
      operation: "takeDelivery",
      summary: "Receive a delivery of an integration's webhook",
      description:
        "Verified according to the integration's `webhook.verify`, whatever other credentials the request has; " +
        "without `verify` every delivery is refused. Responds with 202, or the status in `webhook.accepted`, " +
        "once the delivery is stored, and processes it afterwards. A delivery whose `webhook.delivery` was seen " +
        "within 7 days gets the same response and is counted, unless the earlier delivery failed. Responds with " +
        "200 and stores nothing where `respond` matches. Accepts bodies of any type; reads forms and JSON.",
      access: "public",
      body: z.instanceof(Uint8Array),
      rawBodyBytes: MAX_BODY_BYTES,
      takes: z.unknown(),
      example: { action: "opened", issue: { id: 7, title: "The tests fail" } },
      headers: { "service-cause": "optional" },
      answers: { 200: z.unknown(), 201: null, 202: null, 203: null, 204: null },
      problems: ["not-found", "unauthenticated"],
      audience: ({ integrationId = "" }) => options.receivers.findWorkspace(runtime.reading, integrationId),
      handle: (request) => take(options, request),
    }),
  ];
}

interface Taking extends TakeDeliveryOptions {
  readonly refused: RefusedDeliveries;
  readonly arriving: ArrivingDeliveries;
  readonly receivers: DeliveryReceivers;
}

function take(
  { runtime, sealer, refused, arriving, receivers }: Taking,
  { params, body, headers, header }: RouteRequest<"public", Uint8Array>,
): Outcome | Promise<Outcome> {
  const { reading, clock } = runtime;
  const receiver = receivers.find(reading, params.integrationId ?? "");
  if (receiver === undefined) return { refused: "not-found" };
  const sent = new ReceivedDelivery(body, headers());
  const { integration, webhook } = receiver;
  const reason = findSenderFault(reading, receiver, sent, { sealer, nowMs: clock.now() });
  if (reason !== null) {
    const headers = toStoredHeaders(receiver, sent);
    return refused.record(integration, { headers, bytes: body.length, reason }).then(() => notVerified(receiver));
  }
  const received = withoutCredential(receiver, sent);
  const response = respondTo(receiver, received);
  if (response !== null) return toAnswer(response.body);
  const causes = [header("service-cause"), received.headers.get("webhook-id")];
  const delivery = toNewDelivery(runtime, receiver, received, causes);
  const taken = arriving.take(delivery, body.length, (deliveries) => {
    const intake = deliveryIntakeRef(integration.workspaceId, integration.id);
    return runtime.ask(intake, { type: "deliveries.take", deliveries });
  });
  return taken.then((one) => (isRefusal(one) ? one : { status: webhook.accepted }));
}

/** Returns the response: a text unchanged, null as an empty body, and any other value as JSON. */
function toAnswer(body: unknown): Answer {
  if (typeof body === "string") return { status: 200, text: { type: "text/plain; charset=utf-8", content: body } };
  return body === null ? { status: 200 } : { status: 200, body };
}

function toNewDelivery(
  { reading }: Runtime,
  receiver: DeliveryReceiver,
  received: ReceivedDelivery,
  causes: readonly (string | undefined)[],
): NewDelivery {
  const { id: integrationId, workspaceId } = receiver.integration;
  const teamId = receiver.integration.teamId ?? "";
  const key = toDeliveryKey(receiver, received);
  const headers = toStoredHeaders(receiver, received);
  // Derive the problem from the stored headers only. The problem may quote a header, and the stored headers contain no
  // signature.
  const keyProblem =
    key === null && receiver.webhook.delivery !== null
      ? findKeyProblem(receiver, received.withHeaders(new Map(Object.entries(headers))))
      : null;
  const delivery: NewDelivery = {
    integrationId,
    teamId,
    source: "webhook",
    block: "webhook",
    key,
    headers,
    cursor: null,
    redeliveryOf: null,
    body: received.bytes,
    causes: chainWithin(reading, { workspaceId, teamId }, causes),
  };
  return keyProblem === null ? delivery : { ...delivery, keyProblem };
}
