import { createTopics } from "../../actors/catalogue.js";
import { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import { sessionRoutes } from "../access/session.routes.js";
import { workloadExchangeRoutes } from "../access/workload-exchange.routes.js";
import { checkRoutes } from "../checks/check.routes.js";
import { codeHostRoutes } from "../code-host/code-host.routes.js";
import { codeHostDeliveryRoutes } from "../code-host/delivery.routes.js";
import { callbackRoutes } from "../connections/callback.routes.js";
import { connectionRoutes } from "../connections/connection.routes.js";
import { decisionRoutes } from "../decisions/decision.routes.js";
import { expressionRoutes } from "../expressions/expression.routes.js";
import { discoveryRoutes } from "../hooks/discovery.routes.js";
import { eventRoutes } from "../hooks/event.routes.js";
import { hookRoutes } from "../hooks/hook.routes.js";
import { resendRoutes } from "../hooks/resend.routes.js";
import { actionRunRoutes } from "../integration-work/action-run.routes.js";
import { deliveryRoutes } from "../integration-work/delivery.routes.js";
import { pollRoutes } from "../integration-work/poll.routes.js";
import { takeDeliveryRoutes } from "../integration-work/take-delivery.routes.js";
import { docsRoutes } from "../openapi/docs.routes.js";
import { openApiRoutes } from "../openapi/openapi.routes.js";
import { deadLetterRoutes } from "../operations/dead-letter.routes.js";
import { operationRoutes } from "../operations/operation.routes.js";
import { inviteRoutes } from "../people/invite.routes.js";
import { inviteLinkRoutes } from "../people/invite-link.routes.js";
import { memberRoutes } from "../people/member.routes.js";
import { pullRequestRoutes } from "../pull-requests/pull-request.routes.js";
import { replayRoutes } from "../replays/replay.routes.js";
import { replayReadRoutes } from "../replays/replay-reads.routes.js";
import { replayRunRoutes } from "../replays/replay-run.routes.js";
import { replaySetRoutes } from "../replays/replay-set.routes.js";
import { replaySetReadRoutes } from "../replays/replay-set-reads.routes.js";
import { replayedCandidateRoutes } from "../replays/replayed-candidate.routes.js";
import { changeRoutes } from "../resources/change.routes.js";
import { exportRoutes } from "../resources/export.routes.js";
import { resourceRoutes } from "../resources/resource.routes.js";
import { archiveRoutes } from "../runners/archive.routes.js";
import { runnerAttachmentRoutes } from "../runners/attachment.routes.js";
import { toPushTokens } from "../runners/push-token.js";
import { runnerRoutes } from "../runners/runner.routes.js";
import { runnerSocket } from "../runners/runner-socket.js";
import { searchAgentRoutes } from "../searches/agent.routes.js";
import { configPullRequestRoutes } from "../searches/config-pull-request.routes.js";
import { estimateRoutes } from "../searches/estimate.routes.js";
import { searchRoutes } from "../searches/search.routes.js";
import { searchReadRoutes } from "../searches/search-reads.routes.js";
import { streamSocket } from "../streams/stream-socket.js";
import { attachmentRoutes } from "../tasks/attachment.routes.js";
import { runRoutes } from "../tasks/run.routes.js";
import { runConversationRoutes } from "../tasks/run-conversation.routes.js";
import { taskRoutes } from "../tasks/task.routes.js";
import { toolCallRoutes } from "../tasks/tool-call.routes.js";
import type { Route } from "../wire/route.js";
import type { SocketRoute } from "../wire/socket.js";
import type { EdgeParts } from "./edge-parts.js";

/** The routes of an area, or of a part of it. */
interface RouteEntry {
  /** The part of the API that they belong to; omitted when each route has its own. */
  readonly tag?: string;
  readonly make: (parts: EdgeParts) => readonly Route[];
}

/** Reads of replays and of their sets, which remember figures together. */
function replayReads({ runtime, judging }: EdgeParts): readonly Route[] {
  const reads = { runtime, judging, memory: new ReplayMemory() };
  return [
    ...replaySetReadRoutes(reads),
    ...replayReadRoutes(reads),
    ...replayRunRoutes(reads),
    ...replayedCandidateRoutes(reads),
  ];
}

/** All endpoints except the documentation, in its order. An area adds a line. */
const catalogue: readonly RouteEntry[] = [
  { tag: "Sessions", make: ({ runtime, sealer, site }) => sessionRoutes({ runtime, sealer, ...site }) },
  {
    make: ({ runtime, kinds, sealer, hosts: { allowList } }) => resourceRoutes({ runtime, kinds, sealer, allowList }),
  },
  {
    tag: "Trusts",
    make: ({ runtime, kinds, hosts: { verifier }, operation: { log } }) =>
      workloadExchangeRoutes({ runtime, kinds, verifier, log }),
  },
  { tag: "Expressions", make: ({ runtime, kinds }) => expressionRoutes({ runtime, kinds }) },
  { tag: "Export", make: ({ runtime, kinds }) => exportRoutes({ runtime, kinds }) },
  { tag: "Configuration changes", make: ({ runtime }) => changeRoutes({ runtime }) },
  { tag: "Members", make: ({ runtime }) => memberRoutes({ runtime }) },
  { tag: "Invites", make: ({ runtime, sealer, site }) => inviteRoutes({ runtime, sealer, ...site }) },
  { tag: "Invites", make: ({ runtime }) => inviteLinkRoutes({ runtime }) },
  {
    tag: "Code host",
    make: ({ runtime, sealer, site: { baseUrl }, codeHost: { codeHost } }) =>
      codeHostRoutes({ runtime, sealer, baseUrl, codeHost }),
  },
  {
    tag: "Code host",
    make: ({ runtime, codeHost, operation: { metrics } }) => codeHostDeliveryRoutes({ runtime, metrics, ...codeHost }),
  },
  {
    tag: "Connections",
    make: ({ runtime, sealer, hosts, site: { baseUrl } }) => connectionRoutes({ runtime, sealer, baseUrl, ...hosts }),
  },
  { tag: "Connections", make: ({ runtime, sealer }) => callbackRoutes({ runtime, sealer }) },
  { tag: "Deliveries", make: ({ runtime, sealer }) => takeDeliveryRoutes({ runtime, sealer }) },
  { tag: "Deliveries", make: ({ runtime, sealer }) => deliveryRoutes({ runtime, sealer }) },
  { tag: "Actions of integrations", make: ({ runtime, sealer }) => actionRunRoutes({ runtime, sealer }) },
  { tag: "Tasks and runs", make: ({ runtime, sealer }) => taskRoutes({ runtime, sealer }) },
  { tag: "Tasks and runs", make: ({ runtime }) => attachmentRoutes(runtime) },
  { tag: "Tasks and runs", make: ({ runtime }) => runRoutes({ runtime }) },
  { tag: "Tasks and runs", make: ({ runtime, sealer }) => runConversationRoutes({ runtime, sealer }) },
  { tag: "Tasks and runs", make: ({ runtime, site: { baseUrl } }) => toolCallRoutes({ runtime, baseUrl }) },
  { tag: "Replays", make: (parts) => replayReads(parts) },
  { tag: "Replays", make: ({ runtime, sealer }) => replaySetRoutes({ runtime, sealer }) },
  { tag: "Replays", make: ({ runtime, sealer }) => replayRoutes({ runtime, sealer }) },
  { tag: "Searches", make: ({ runtime, judging }) => estimateRoutes({ runtime, judging }) },
  { tag: "Searches", make: ({ runtime, sealer }) => searchRoutes({ runtime, sealer }) },
  { tag: "Searches", make: ({ runtime }) => searchReadRoutes({ runtime }) },
  { tag: "Replay checks", make: ({ runtime, sealer }) => checkRoutes({ runtime, sealer }) },
  { tag: "Searches", make: ({ runtime }) => configPullRequestRoutes({ runtime }) },
  {
    tag: "Searches",
    make: ({ runtime, sealer, site: { expired } }) => searchAgentRoutes({ runtime, sealer, expired }),
  },
  { tag: "Pull requests", make: ({ runtime, sealer }) => pullRequestRoutes({ runtime, sealer }) },
  { tag: "Decisions", make: ({ runtime }) => decisionRoutes({ runtime }) },
  { tag: "Runners", make: ({ runtime }) => runnerRoutes({ runtime }) },
  { tag: "Polls", make: ({ runtime, sealer }) => pollRoutes({ runtime, sealer }) },
  { tag: "Runners", make: ({ runtime, site: { expired } }) => archiveRoutes({ runtime, expired }) },
  { tag: "Runners", make: ({ runtime, site: { expired } }) => runnerAttachmentRoutes({ runtime, expired }) },
  {
    tag: "Hook occurrences",
    make: ({ runtime, sealer, site: { expired } }) => hookRoutes({ runtime, sealer, expired }),
  },
  { tag: "Hook occurrences", make: ({ runtime }) => resendRoutes({ runtime }) },
  { tag: "Hook occurrences", make: ({ runtime }) => eventRoutes({ runtime }) },
  { tag: "Hook occurrences", make: ({ runtime, site: { baseUrl } }) => discoveryRoutes({ runtime, baseUrl }) },
  { tag: "Operation", make: ({ operation }) => operationRoutes(operation) },
  { tag: "Operation", make: ({ runtime }) => deadLetterRoutes({ runtime }) },
];

/** All WebSocket endpoints. An area adds a line. */
const socketCatalogue: readonly ((parts: EdgeParts) => SocketRoute)[] = [
  ({ runtime, kinds, judging, site: { callerOf, expired } }) =>
    streamSocket({ runtime, topics: createTopics({ kinds, judging }), callerOf, expired }),
  ({ runtime, sealer, site: { expired }, hosts: { network }, operation: { leaseMs }, codeHost: { codeHost } }) =>
    runnerSocket({ runtime, sealer, expired, network, leaseMs, pushTokens: toPushTokens(codeHost) }),
];

/** All endpoints: the router, the documentation and the tests read this table. */
export function createRoutes(parts: EdgeParts): readonly Route[] {
  const routes = catalogue.flatMap(({ tag, make }) => withTag(make(parts), tag));
  const documented = () => ({ routes: all, sockets: createSockets(parts) });
  const all: readonly Route[] = [...routes, ...withTag([...openApiRoutes(documented), ...docsRoutes()], "Documents")];
  return all;
}

export function createSockets(parts: EdgeParts): readonly SocketRoute[] {
  return socketCatalogue.map((make) => make(parts));
}

function withTag(routes: readonly Route[], tag: string | undefined): readonly Route[] {
  return tag === undefined ? routes : routes.map((route) => ({ ...route, tag }));
}
