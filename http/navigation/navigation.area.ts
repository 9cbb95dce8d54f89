import type { RouteEntry } from "../access/edge-parts.js";
import { findRoutes } from "./find.routes.js";

/** The search for objects of all kinds. */
export const navigationArea: readonly RouteEntry[] = [
  { tag: "Navigation", make: ({ runtime, kinds }) => findRoutes({ runtime, kinds }) },
];
