import type { WorkloadVerifier } from "../actors/access/workload-token.js";
import type { Caller } from "../actors/caller.js";
import type { AllowList } from "../actors/outbound/allow-list.js";
import type { CodeHost } from "../actors/outbound/code-host.js";
import type { NetworkRequests } from "../actors/outbound/network-requests.js";
import type { AuthorizationServers } from "../actors/outbound/oauth-server.js";
import type { Refusal } from "../actors/refusal.js";
import type { Kind } from "../actors/resources/kind.js";
import type { Sealer } from "../actors/sealer.js";
import type { Runtime, RuntimeLog } from "../runtime/runtime.js";
import { sessionRoutes } from "./access/session.routes.js";
import { workloadExchangeRoutes } from "./access/workload-exchange.routes.js";
import { codeHostRoutes } from "./code-host/code-host.routes.js";
import { codeHostDeliveryRoutes } from "./code-host/delivery.routes.js";
import { codeHostSignInRoutes } from "./code-host/sign-in.routes.js";
import { callbackRoutes } from "./connections/callback.routes.js";
import { connectionRoutes } from "./connections/connection.routes.js";
import { decisionRoutes } from "./decisions/decision.routes.js";
import { expressionRoutes } from "./expressions/expression.routes.js";
import { discoveryRoutes } from "./hooks/discovery.routes.js";
import { eventRoutes } from "./hooks/event.routes.js";
import { hookRoutes } from "./hooks/hook.routes.js";
import { resendRoutes } from "./hooks/resend.routes.js";
import { RateLimit } from "./limits/rate-limit.js";
import { docsRoutes } from "./openapi/docs.routes.js";
import { openApiRoutes } from "./openapi/openapi.routes.js";
import { deadLetterRoutes } from "./operations/dead-letter.routes.js";
import { operationRoutes } from "./operations/operation.routes.js";
import { inviteRoutes } from "./people/invite.routes.js";
import { inviteLinkRoutes } from "./people/invite-link.routes.js";
import { memberRoutes } from "./people/member.routes.js";
import type { Config } from "./process/config.js";
import type { Metrics } from "./process/metrics.js";
import { changeRoutes } from "./resources/change.routes.js";
import { exportRoutes } from "./resources/export.routes.js";
import { resourceRoutes } from "./resources/resource.routes.js";
import type { Route } from "./route.js";
import { runnerRoutes } from "./runners/runner.routes.js";
import { runnerSocket } from "./runners/runner-socket.js";
import { streamSocket } from "./streams/stream-socket.js";
import { runRoutes } from "./tasks/run.routes.js";
import { runConversationRoutes } from "./tasks/run-conversation.routes.js";
import { taskRoutes } from "./tasks/task.routes.js";
import type { Credentials } from "./transport/server.js";
import type { SocketRoute } from "./transport/socket.js";

/** What the areas' routes are made of; each takes what it needs. */
export interface RouteParts {
  /** Has hosts of the workspaces make requests. */
  readonly network: NetworkRequests;
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
  readonly sealer: Sealer;
  readonly config: Config;
  readonly metrics: Metrics;
  readonly baseUrl: () => string;
  readonly isReady: () => boolean;
  readonly verifier: WorkloadVerifier;
  /** Null when none is set up. */
  readonly codeHost: CodeHost | null;
  /** What hosts say of how they link accounts. */
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
  readonly log: RuntimeLog;
  readonly callerOf: (credentials: Credentials) => Caller | null | Refusal;
}

/** How often one person or token may have the code host asked. */
const CODE_HOST_RATE = { max: 60, perMs: 60_000, burst: 60 };

/** Every endpoint: the router, the documents and the tests read this table. */
export function createRoutes(parts: RouteParts): readonly Route[] {
  const { runtime, kinds, sealer, config, metrics, baseUrl, isReady, verifier, servers, allowList, codeHost, log } =
    parts;
  const askingCodeHost = new RateLimit({ ...CODE_HOST_RATE, clock: runtime.clock });
  const routes: Route[] = [
    ...under("Sessions", sessionRoutes({ runtime, sealer, baseUrl, signInDomains: config.signInDomains })),
    ...resourceRoutes({ runtime, kinds, sealer }),
    ...under("Trusts", workloadExchangeRoutes({ runtime, kinds, verifier, log })),
    ...under("Expressions", expressionRoutes({ runtime, kinds })),
    ...under("Export", exportRoutes({ runtime, kinds })),
    ...under("Configuration changes", changeRoutes({ runtime })),
    ...under("Members", memberRoutes({ runtime })),
    ...under("Invites", inviteRoutes({ runtime, sealer, baseUrl, signInDomains: config.signInDomains })),
    ...under("Invites", inviteLinkRoutes({ runtime })),
    ...under("Code host", codeHostRoutes({ runtime, codeHost, asking: askingCodeHost })),
    ...under("Code host", codeHostSignInRoutes({ runtime, sealer, baseUrl, codeHost, asking: askingCodeHost })),
    ...under("Code host", codeHostDeliveryRoutes({ runtime, codeHost, metrics, secret: config.codeHostWebhookSecret })),
    ...under("Connections", connectionRoutes({ runtime, sealer, servers, allowList, baseUrl })),
    ...under("Connections", callbackRoutes({ runtime, sealer })),
    ...under("Tasks and runs", taskRoutes({ runtime })),
    ...under("Tasks and runs", runRoutes({ runtime })),
    ...under("Tasks and runs", runConversationRoutes({ runtime })),
    ...under("Decisions", decisionRoutes({ runtime })),
    ...under("Runners", runnerRoutes({ runtime })),
    ...under("Hook occurrences", hookRoutes({ runtime, sealer })),
    ...under("Hook occurrences", resendRoutes({ runtime })),
    ...under("Hook occurrences", eventRoutes({ runtime })),
    ...under("Hook occurrences", discoveryRoutes({ runtime, baseUrl })),
    ...under("Operation", operationRoutes({ metrics, isReady, metricsToken: config.metricsToken })),
    ...under("Operation", deadLetterRoutes({ runtime })),
  ];
  routes.push(
    ...under(
      "Documents",
      openApiRoutes(() => ({ routes, sockets: createSockets(parts) })),
    ),
  );
  routes.push(...under("Documents", docsRoutes()));
  return routes;
}

/** Routes with the part of the API they belong to. */
function under(tag: string, routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => ({ ...route, tag }));
}

/** Every WebSocket endpoint. */
export function createSockets({
  runtime,
  kinds,
  sealer,
  config,
  callerOf,
  network,
}: RouteParts): readonly SocketRoute[] {
  return [
    streamSocket({ runtime, kinds, callerOf }),
    runnerSocket({ runtime, sealer, network, leaseMs: config.leaseSeconds * 1_000 }),
  ];
}
