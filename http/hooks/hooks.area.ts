import type { RouteEntry } from "../access/edge-parts.js";
import { discoveryRoutes } from "./discovery.routes.js";
import { eventRoutes } from "./event.routes.js";
import { hookRoutes } from "./hook.routes.js";
import { resendRoutes } from "./resend.routes.js";

/** Hook occurrences and their events. */
export const hooksArea: readonly RouteEntry[] = [
  {
    tag: "Hook occurrences",
    make: ({ runtime, sealer, site: { expired } }) => hookRoutes({ runtime, sealer, expired }),
  },
  { tag: "Hook occurrences", make: ({ runtime }) => resendRoutes({ runtime }) },
  { tag: "Hook occurrences", make: ({ runtime }) => eventRoutes({ runtime }) },
  { tag: "Hook occurrences", make: ({ runtime, site: { baseUrl } }) => discoveryRoutes({ runtime, baseUrl }) },
];
