import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { sha256Hex } from "../../actors/sealer.js";
import { timeText } from "../../actors/time-text.js";
import { defineView } from "../../actors/view.js";
import type { DeadLetter, Runtime } from "../../runtime/runtime.js";
import { bearerToken } from "../access/authenticate.js";
import type { ServiceState } from "../access/edge-parts.js";
import type { Metrics } from "../wire/metrics.js";
import { type Route, type RouteRequest, route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

export interface OperationRoutesOptions {
  readonly metrics: Metrics;
  /** Whether the service accepts requests: the store is open and the service is not draining. */
  readonly isReady: () => boolean;
  /**
   * Bearer token of the metrics endpoint. If it is null, the endpoint allows only requests from this machine that did
   * not come through a proxy.
   */
  readonly metricsToken: string | null;
  readonly state: () => ServiceState;
}

const status = (description: string) => z.strictObject({ status: z.string().describe(description) });

const stateSchema = z
  .strictObject({
    release: z.string().describe("The version of the running service, such as `1.4.0`."),
    storeFormat: z.int().describe("The format of the store. A release reads its own format and earlier ones."),
    startedAt: z.string().describe("When the service process started, as an RFC 3339 time."),
    backupAt: z
      .string()
      .nullable()
      .describe(
        "When `signalbox backup` last copied the store; null if that is not known, as with other ways to copy it.",
      ),
  })
  .meta({ title: "service-state" });

const stateView = defineView<ServiceState>()(stateSchema, {
  startedAt: ({ startedAtMs }) => timeText(startedAtMs),
  backupAt: ({ backupAtMs }) => (backupAtMs === null ? null : timeText(backupAtMs)),
});

/** The routes for health, readiness, metrics and the service's state. They reveal nothing about any workspace. */
export function operationRoutes({ metrics, isReady, metricsToken, state }: OperationRoutesOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/healthz",
      isAlwaysAdmitted: true,
      summary: "Check whether the process is alive",
      description: "For the liveness probe of a supervisor. Needs no credential, and has no rate limit.",
      access: "public",
      answers: { 200: status("Always `ok`: the process answers requests.") },
      handle: () => ({ status: 200, body: { status: "ok" } }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      isAlwaysAdmitted: true,
      summary: "Check whether the service accepts requests",
      description:
        "For the readiness probe of a supervisor or load balancer. Responds with 503 while the service drains.",
      access: "public",
      answers: {
        200: status("Always `ready`: the service accepts requests."),
        503: status("Always `draining`: the service is about to stop."),
      },
      handle: () =>
        isReady() ? { status: 200, body: { status: "ready" } } : { status: 503, body: { status: "draining" } },
    }),
    route({
      method: "GET",
      path: "/api/status",
      summary: "Read the service's release, store format, start and last backup",
      description: "For every signed-in person and every workspace token. Shows nothing about any workspace.",
      access: "any",
      answers: { 200: stateSchema },
      handle: () => ({ status: 200, body: stateView(state()) }),
    }),
    route({
      method: "GET",
      path: "/metrics",
      summary: "Read metrics in the Prometheus format",
      description:
        "Authenticate with METRICS_TOKEN. Without that setting, the service accepts only direct requests from its own " +
        "machine.",
      access: "public",
      credential: "metrics",
      answers: { 200: { body: null, text: "text/plain" } },
      problems: ["unauthenticated"],
      handle: async (request) => {
        if (!mayRead(request, metricsToken)) {
          return { refused: "unauthenticated", detail: "This endpoint requires METRICS_TOKEN as bearer token." };
        }
        return { status: 200, text: { type: metrics.contentType, content: await metrics.text() } };
      },
    }),
  ];
}

function mayRead(request: RouteRequest<"public">, metricsToken: string | null): boolean {
  if (metricsToken !== null) {
    const given = bearerToken(request.header("authorization"));
    return given !== null && timingSafeEqual(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(metricsToken)));
  }
  const isPassedOn = ["forwarded", "x-forwarded-for", "via"].some((name) => request.header(name) !== undefined);
  return !isPassedOn && /^(127\.|::1$|::ffff:127\.|0+:0+:0+:0+:0+:0+:0+:0*1$)/.test(request.remoteAddress);
}

const letterSchema = z
  .strictObject({
    id: z.string().describe("The id of the dead letter, for a retry."),
    to: z.string().describe("The receiving actor, as `<kind>/<id>`."),
    message: z.string().describe("The type of the message. The content is not shown."),
    error: z.string().describe("The error with which the last attempt failed."),
    at: z.string().describe("When the message became a dead letter, as an RFC 3339 time."),
  })
  .meta({ title: "dead-letter" });

const LISTED = 200;

/** The routes to list and retry the dead letters of a workspace, for its administrators. */
export function deadLetterRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    workspaceRoute(runtime, "administers", {
      method: "GET",
      path: "/api/workspaces/{slug}/dead-letters",
      summary: "List dead letters: messages that repeatedly failed, oldest first",
      description:
        "For owners and admins. Each dead letter is work that the service could not finish; report its error.",
      access: "any",
      answers: {
        200: z.strictObject({
          items: z.array(letterSchema).describe(`The oldest dead letters, at most ${LISTED}.`),
        }),
      },
      handle: (_request, { workspaceId }) => ({
        status: 200,
        body: { items: runtime.deadLetters.list(workspaceId, LISTED).map(letterView) },
      }),
    }),
    workspaceRoute(runtime, "administers", {
      method: "POST",
      path: "/api/workspaces/{slug}/dead-letters/{id}/retry",
      summary: "Send a dead letter again",
      description: "For owners and admins. A message that fails again becomes a dead letter again.",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: null },
      handle: async ({ params }, { workspaceId }) => {
        const found = await runtime.deadLetters.retry(workspaceId, params.id ?? "");
        return found ? { status: 202 } : { refused: "not-found" };
      },
    }),
  ];
}

const letterView = defineView<DeadLetter>()(letterSchema, {
  to: ({ to }) => `${to.kind}/${to.id}`,
  message: ({ message }) => message.type,
  at: ({ atMs }) => timeText(atMs),
});
