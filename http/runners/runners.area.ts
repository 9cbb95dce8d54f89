import type { RouteEntry } from "../access/edge-parts.js";
import { archiveRoutes } from "./archive.routes.js";
import { runnerAttachmentRoutes, runnerRoutes } from "./runner.routes.js";
import { runnerProgramRoutes } from "./runner-program.routes.js";

/** Runners, their program, and what they upload and download. */
export const runnersArea: readonly RouteEntry[] = [
  { tag: "Runners", make: ({ runtime }) => runnerRoutes({ runtime }) },
  { tag: "Runners", make: () => runnerProgramRoutes() },
  { tag: "Runners", make: ({ runtime, site: { expired } }) => archiveRoutes({ runtime, expired }) },
  { tag: "Runners", make: ({ runtime, site: { expired } }) => runnerAttachmentRoutes({ runtime, expired }) },
];
