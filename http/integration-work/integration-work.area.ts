import type { RouteEntry } from "../access/edge-parts.js";
import { actionRunRoutes } from "./action-run.routes.js";
import { deliveryRoutes } from "./delivery.routes.js";
import { takeDeliveryRoutes } from "./take-delivery.routes.js";

/** Deliveries of integrations, and what their actions did. */
export const integrationWorkArea: readonly RouteEntry[] = [
  { tag: "Deliveries", make: ({ runtime, sealer }) => takeDeliveryRoutes({ runtime, sealer }) },
  { tag: "Deliveries", make: ({ runtime, sealer }) => deliveryRoutes({ runtime, sealer }) },
  { tag: "Actions of integrations", make: ({ runtime, sealer }) => actionRunRoutes({ runtime, sealer }) },
];
