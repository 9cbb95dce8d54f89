import type { RouteEntry } from "../access/edge-parts.js";
import { codeHostRoutes } from "./code-host.routes.js";
import { codeHostDeliveryRoutes } from "./delivery.routes.js";

/** Installations of the code host, and its deliveries. */
export const codeHostArea: readonly RouteEntry[] = [
  {
    tag: "Code host",
    make: ({ runtime, sealer, site: { baseUrl }, codeHost: { codeHost } }) =>
      codeHostRoutes({ runtime, sealer, baseUrl, codeHost }),
  },
  {
    tag: "Code host",
    make: ({ runtime, codeHost, operation: { metrics, reported } }) =>
      codeHostDeliveryRoutes({ runtime, metrics, reported, ...codeHost }),
  },
];
