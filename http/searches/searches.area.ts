import type { RouteEntry } from "../access/edge-parts.js";
import { searchAgentRoutes } from "./agent.routes.js";
import { estimateRoutes, searchRoutes } from "./search.routes.js";
import { configPullRequestRoutes, searchReadRoutes } from "./search-reads.routes.js";

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
