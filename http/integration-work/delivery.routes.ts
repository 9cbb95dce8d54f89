import { z } from "zod";
import { writeJson } from "../../actors/exact-json.js";
import { toText } from "../../actors/expressions/values.js";
import { deliveryItemSchema, deliveryStates } from "../../actors/integration-work/deliveries/delivery.js";
import {
  deliveryIntakeRef,
  type RedeliveryPeriod,
} from "../../actors/integration-work/deliveries/delivery.messages.js";
import {
  countRedeliverable,
  findDelivery,
  findIntegrationFor,
  findIntegrationOfOutcomes,
  findRefusedDeliveries,
  listDeliveries,
  type RedeliveryCount,
} from "../../actors/integration-work/deliveries/delivery.queries.js";
import {
  deliveryItemView,
  deliverySchema,
  deliveryView,
  refusedDeliveriesSchema,
  refusedDeliveriesView,
} from "../../actors/integration-work/deliveries/delivery.view.js";
import { tryDelivery, tryResultSchema } from "../../actors/integration-work/deliveries/try-delivery.js";
import { ReceivedDelivery } from "../../actors/integration-work/intake/received-delivery.js";
import {
  type DeliveryReceiver,
  DeliveryReceivers,
  findReceiver,
  respondTo,
  toQueried,
} from "../../actors/integration-work/intake/take-delivery.js";
import type { VisibleIntegration } from "../../actors/integrations/connection.queries.js";
import { invalid } from "../../actors/refusal.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { runInSteps } from "../wire/in-steps.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Answer, Route, RouteRequest, UnknownRequest } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

export interface DeliveryRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

const at = "/api/integrations/{integrationId}/deliveries";

const time = z.iso.datetime({ offset: true, message: "must be an RFC 3339 time" });
const endedStates = deliveryStates.filter((state) => !["accepted", "working", "waiting"].includes(state));
const usualStates = ["failed", "unrouted"] as const;

const listing = z.strictObject({
  state: z
    .enum(deliveryStates, `must be one of ${deliveryStates.join(", ")}`)
    .optional()
    .describe("Returns only deliveries in this state."),
  before: idCursor("dlv"),
  limit: pageSize(),
});

const periodBody = z.strictObject({
  from: time.describe("Start of the period, by the time of arrival."),
  to: time.describe("End of the period, exclusive."),
  states: z
    .array(z.enum(endedStates, `must be one of ${endedStates.join(", ")}`))
    .min(1, "must name at least one state")
    .default([...usualStates])
    .describe("The end states to include; `failed` and `unrouted` by default."),
});

const redelivering = z
  .strictObject({
    count: z.int().describe("Number of deliveries to process again, 20 per second."),
    isMore: z.boolean().describe("Whether the count is incomplete; the service processes all deliveries again."),
  })
  .meta({ title: "redelivering" });

const tryBody = z.strictObject({
  headers: z
    .record(z.string().max(255, "must be at most 255 characters"), z.string())
    .default({})
    .describe("The headers of the delivery, by name in any case; none by default."),
  body: z.unknown().describe("The body: text is used as it is, anything else as JSON."),
});

/** The routes for an integration's deliveries and their results. */
export function deliveryRoutes(options: DeliveryRoutesOptions): readonly Route[] {
  return [...readRoutes(options), ...redeliveryRoutes(options), tryRoute(options)];
}

function readRoutes({ runtime }: DeliveryRoutesOptions): readonly Route[] {
  const { reading } = runtime;
  const receivers = new DeliveryReceivers();
  const seen: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findIntegrationOfOutcomes(reading, caller, params.integrationId ?? ""),
  };
  return [
    subjectRoute(seen, {
      method: "GET",
      path: at,
      operation: "listDeliveries",
      summary: "List the deliveries of an integration, newest first",
      description:
        "Lists webhook deliveries, poll responses and redeliveries of the past 30 days, including the last " +
        "10,000 that ended. `refused` are deliveries that failed verification: all are counted, the last 20 are " +
        "listed. A request without a valid credential gets a text response if `webhook.respond` names its method " +
        "and matches, such as a host's challenge of the address; its query can have any parameters.",
      access: "any",
      query: listing,
      answers: {
        200: {
          body: z.strictObject({
            items: z.array(deliveryItemSchema).describe("The deliveries of this page, newest first."),
            next: nextPage("before"),
            refused: refusedDeliveriesSchema,
          }),
          text: "text/plain",
        },
      },
      audience: ({ integrationId = "" }) => receivers.findWorkspace(reading, integrationId),
      answersAnyone: (request) => answerChallenge(receivers.find(reading, request.params.integrationId ?? ""), request),
      handle: async (request, integration) => {
        const { query } = request;
        const { rows, next } = await readListPageInSlices(
          query,
          (page) => readPage(runtime, request, listDeliveries(integration, page)),
          byId,
        );
        const items = await inPieces(rows, request, deliveryItemView);
        const refused = refusedDeliveriesView(findRefusedDeliveries(reading, integration));
        return { status: 200, body: { items, next, refused } };
      },
    }),
    subjectRoute(seen, {
      method: "GET",
      path: `${at}/{deliveryId}`,
      operation: "getDelivery",
      summary: "Read a delivery, with its payload and the result of each entry",
      description: "For callers who may read the team's outcomes. Credentials and signatures are never stored.",
      access: "any",
      answers: { 200: deliverySchema },
      handle: ({ params }, integration) => {
        const row = granted(findDelivery(reading, integration, params.deliveryId ?? ""));
        return { status: 200, body: deliveryView(reading, integration.workspaceId, row) };
      },
    }),
  ];
}

/**
 * Returns the response that the webhook's `respond` defines for a GET or HEAD request, as text. Returns null if
 * `respond` does not apply. Stores nothing.
 */
function answerChallenge(
  receiver: DeliveryReceiver | undefined,
  { method, query, headers }: UnknownRequest,
): Answer | null {
  if (receiver === undefined || (method !== "GET" && method !== "HEAD")) return null;
  const response = respondTo(receiver, toQueried(query, headers()), method);
  if (response === null) return null;
  return { status: 200, text: { type: "text/plain; charset=utf-8", content: toText(response.body) } };
}

function redeliveryRoutes({ runtime, sealer }: DeliveryRoutesOptions): readonly Route[] {
  const { reading } = runtime;
  const configured: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findIntegrationFor(reading, caller, params.integrationId ?? "", "configure"),
    problems: ["forbidden"],
  };
  return [
    subjectRoute(configured, {
      method: "POST",
      path: `${at}/{deliveryId}/redeliver`,
      operation: "redeliver",
      summary: "Process a delivery again with the current definition",
      description:
        "Only for an ended delivery whose body is still stored. Creates a new delivery, which is not " +
        "deduplicated by key.",
      access: "any",
      body: z.strictObject({}),
      headers: { "idempotency-key": "optional" },
      answers: { 202: { body: deliverySchema, headers: replayedHeader } },
      problems: ["conflict", "body-gone"],
      handle: async (request, integration) => {
        const { workspaceId, id: integrationId } = integration;
        const id = request.params.deliveryId ?? "";
        const idempotency = findIdempotency(sealer, request, `POST ${at}/redeliver ${integrationId} ${id}`);
        const intake = deliveryIntakeRef(workspaceId, integrationId);
        const answer = granted(await runtime.ask(intake, { type: "delivery.redeliver", id, idempotency }));
        const row = granted(findDelivery(reading, integration, answer.id));
        const body = deliveryView(reading, workspaceId, row);
        return { status: 202, headers: replayHeaders(answer.replayed), body };
      },
    }),
    subjectRoute(configured, {
      method: "POST",
      path: `${at}/redeliver`,
      operation: "redeliverPeriod",
      summary: "Process the deliveries of a period again",
      description:
        "Processes each delivery that ended in one of these states, has its body, and was not processed again " +
        "successfully since. Runs oldest first, 20 per second, and continues after a restart of the service. " +
        "Requesting the same period twice processes it once.",
      access: "any",
      body: periodBody,
      example: { from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z" },
      answers: { 202: redelivering },
      problems: ["conflict"],
      handle: async ({ body, pause }, integration) => {
        const { from, to, states } = body;
        const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
        if (fromMs >= toMs) return invalid("to", "must be after from");
        const period: RedeliveryPeriod = { fromMs, toMs, states, after: null };
        const counted = await countInSlices(runtime, pause, integration, period);
        const intake = deliveryIntakeRef(integration.workspaceId, integration.id);
        if (counted.count > 0) granted(await runtime.ask(intake, { type: "deliveries.redeliver", period }));
        return { status: 202, body: counted };
      },
    }),
  ];
}

/**
 * Counts the deliveries of a period that can be processed again. Counts in slices, and lets other requests run in
 * between.
 */
async function countInSlices(
  { reading }: Runtime,
  pause: RouteRequest["pause"],
  integration: VisibleIntegration,
  period: RedeliveryPeriod,
): Promise<RedeliveryCount> {
  let counted: RedeliveryCount = { count: 0, isMore: false };
  for (const count of countRedeliverable(reading, integration, period)) {
    counted = count;
    await pause();
  }
  return counted;
}

function tryRoute({ runtime, sealer }: DeliveryRoutesOptions): Route {
  const { reading, clock } = runtime;
  const planned: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findIntegrationFor(reading, caller, params.integrationId ?? "", "plan"),
    problems: ["forbidden"],
  };
  return subjectRoute(planned, {
    method: "POST",
    path: `${at}/try`,
    operation: "tryDelivery",
    summary: "Preview what a delivery would raise, and why not",
    description:
      "Evaluates the input like a webhook delivery, verified or not. Stores and sends nothing. Lookups are not " +
      "made: their captures are null, and each entry with a lookup says so. Returns the first 50 entries that " +
      "raise something or fail, and the first 50 that no `when` matches, including events without entries.",
    access: "any",
    body: tryBody,
    example: { headers: { "x-event": "issue" }, body: { issue: { id: 7, title: "The tests fail" } } },
    answers: { 200: tryResultSchema },
    problems: ["conflict"],
    handle: async (request, integration) => {
      const receiver = findReceiver(reading, integration.workspaceId, integration.id);
      if (receiver === undefined) return { refused: "conflict", detail: "The integration has no webhook." };
      const { headers, body = "" } = request.body;
      const bytes = Buffer.from(typeof body === "string" ? body : writeJson(body));
      const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
      const received = new ReceivedDelivery(bytes, new Map(named));
      const slices = tryDelivery(receiver, received, { reading, sealer, nowMs: clock.now() });
      return { status: 200, body: await runInSteps(slices, request) };
    },
  });
}
