import type { RouteEntry } from "../access/edge-parts.js";
import { deadLetterRoutes, operationRoutes } from "./operation.routes.js";

/** Health, metrics, the service's state and dead letters. */
export const operationsArea: readonly RouteEntry[] = [
  { tag: "Operation", make: ({ operation }) => operationRoutes(operation) },
  { tag: "Operation", make: ({ runtime }) => deadLetterRoutes({ runtime }) },
];
