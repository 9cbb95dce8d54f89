import type { RouteEntry } from "../access/edge-parts.js";
import { attachmentRoutes } from "./attachment.routes.js";
import { inboxRoutes } from "./inbox.routes.js";
import { runRoutes } from "./run.routes.js";
import { runConversationRoutes } from "./run-conversation.routes.js";
import { runDiffRoutes } from "./run-diff.routes.js";
import { taskRoutes } from "./task.routes.js";
import { toolCallRoutes } from "./tool-call.routes.js";

/** Tasks, their runs and tool calls. */
export const tasksArea: readonly RouteEntry[] = [
  { tag: "Tasks and runs", make: ({ runtime, sealer }) => taskRoutes({ runtime, sealer }) },
  { tag: "Tasks and runs", make: ({ runtime }) => attachmentRoutes(runtime) },
  { tag: "Tasks and runs", make: ({ runtime }) => runRoutes({ runtime }) },
  { tag: "Tasks and runs", make: ({ runtime }) => runDiffRoutes({ runtime }) },
  { tag: "Inbox", make: ({ runtime }) => inboxRoutes({ runtime }) },
  { tag: "Tasks and runs", make: ({ runtime, sealer }) => runConversationRoutes({ runtime, sealer }) },
  { tag: "Tasks and runs", make: ({ runtime, site: { baseUrl } }) => toolCallRoutes({ runtime, baseUrl }) },
];
