import type { RouteEntry } from "../access/edge-parts.js";
import { callbackRoutes } from "./callback.routes.js";
import { connectionRoutes } from "./connection.routes.js";

/** Accounts linked to integrations. */
export const connectionsArea: readonly RouteEntry[] = [
  {
    tag: "Connections",
    make: ({ runtime, sealer, hosts, site: { baseUrl } }) => connectionRoutes({ runtime, sealer, baseUrl, ...hosts }),
  },
  { tag: "Connections", make: ({ runtime, sealer }) => callbackRoutes({ runtime, sealer }) },
];
