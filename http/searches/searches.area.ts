import type { RouteEntry } from "../access/edge-parts.js";
import { searchAgentRoutes } from "./agent.routes.js";
import { configPullRequestRoutes } from "./config-pull-request.routes.js";
import { estimateRoutes } from "./estimate.routes.js";
import { searchRoutes } from "./search.routes.js";
import { searchReadRoutes } from "./search-reads.routes.js";

/** Searches, their agents, and config pull requests. */
export const searchesArea: readonly RouteEntry[] = [
  { tag: "Searches", make: ({ runtime, judging }) => estimateRoutes({ runtime, judging }) },
  { tag: "Searches", make: ({ runtime, sealer }) => searchRoutes({ runtime, sealer }) },
  { tag: "Searches", make: ({ runtime }) => searchReadRoutes({ runtime }) },
  { tag: "Searches", make: ({ runtime }) => configPullRequestRoutes({ runtime }) },
  {
    tag: "Searches",
    make: ({ runtime, sealer, site: { expired } }) => searchAgentRoutes({ runtime, sealer, expired }),
  },
];
