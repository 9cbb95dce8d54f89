import type { RouteEntry } from "../access/edge-parts.js";
import { findRoutes } from "./find.routes.js";
import { workspaceSearchRoutes } from "./search.routes.js";

/** The search for objects of all kinds. */
export const navigationArea: readonly RouteEntry[] = [
  { tag: "Navigation", make: ({ runtime, kinds }) => findRoutes({ runtime, kinds }) },
  { tag: "Navigation", make: ({ runtime, kinds }) => workspaceSearchRoutes({ runtime, kinds }) },
];
