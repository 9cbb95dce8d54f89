import { z } from "zod";
import type { Metrics } from "../metrics.js";
import { type Route, route } from "../route.js";

export interface OperationRoutesOptions {
  readonly metrics: Metrics;
  /** Whether new work is taken: the store is open and the service is not draining. */
  readonly isReady: () => boolean;
}

const status = z.strictObject({ status: z.string() });

/** What a supervisor and a monitor ask. They show nothing of any workspace. */
export function operationRoutes({ metrics, isReady }: OperationRoutesOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/healthz",
      summary: "Whether the process is alive",
      access: "public",
      answers: { 200: status },
      handle: () => ({ status: 200, body: { status: "ok" } }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      summary: "Whether requests are taken",
      access: "public",
      answers: { 200: status, 503: status },
      handle: () =>
        isReady() ? { status: 200, body: { status: "ready" } } : { status: 503, body: { status: "draining" } },
    }),
    route({
      method: "GET",
      path: "/metrics",
      summary: "Figures for Prometheus",
      access: "public",
      answers: { 200: null },
      handle: async () => ({ status: 200, text: { type: metrics.contentType, content: await metrics.text() } }),
    }),
  ];
}
