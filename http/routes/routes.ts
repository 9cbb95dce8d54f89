import type { EdgeParts, RouteEntry } from "../access/edge-parts.js";
import { sessionRoutes } from "../access/session.routes.js";
import { workloadExchangeRoutes } from "../access/workload-exchange.routes.js";
import { checkRoutes } from "../checks/check.routes.js";
import { codeHostArea } from "../code-host/code-host.area.js";
import { connectionsArea } from "../connections/connections.area.js";
import { decisionRoutes } from "../decisions/decision.routes.js";
import { expressionRoutes } from "../expressions/expression.routes.js";
import { hooksArea } from "../hooks/hooks.area.js";
import { integrationWorkArea } from "../integration-work/integration-work.area.js";
import { pollRoutes } from "../integration-work/poll.routes.js";
import { navigationArea } from "../navigation/navigation.area.js";
import { docsRoutes } from "../openapi/docs.routes.js";
import { openApiRoutes } from "../openapi/openapi.routes.js";
import { operationsArea } from "../operations/operations.area.js";
import { peopleArea } from "../people/people.area.js";
import { pullRequestRoutes } from "../pull-requests/pull-request.routes.js";
import { replaysArea } from "../replays/replays.area.js";
import { changeRoutes } from "../resources/change.routes.js";
import { dryRunRoutes } from "../resources/dry-run.routes.js";
import { exportRoutes } from "../resources/export.routes.js";
import { resourceRoutes } from "../resources/resource.routes.js";
import { toPushTokens } from "../runners/push-token.js";
import { runnerSocket } from "../runners/runner-socket.js";
import { runnersArea } from "../runners/runners.area.js";
import { searchesArea } from "../searches/searches.area.js";
import { createStreamSocket, streamsArea } from "../streams/streams.area.js";
import { tasksArea } from "../tasks/tasks.area.js";
import type { Route } from "../wire/route.js";
import type { SocketRoute } from "../wire/socket.js";

/**
 * All endpoints except the documentation, in the order of the documentation. Each area adds one line. An area with
 * several route files lists their routes in `<area>.area.ts`, and adds that list here.
 */
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
  { tag: "Dry runs", make: ({ runtime, kinds, sealer }) => dryRunRoutes({ runtime, kinds, sealer }) },
  { tag: "Configuration changes", make: ({ runtime }) => changeRoutes({ runtime }) },
  ...peopleArea,
  ...codeHostArea,
  ...connectionsArea,
  ...integrationWorkArea,
  ...tasksArea,
  ...navigationArea,
  ...replaysArea,
  ...searchesArea,
  { tag: "Replay checks", make: ({ runtime, sealer }) => checkRoutes({ runtime, sealer }) },
  { tag: "Pull requests", make: ({ runtime, sealer }) => pullRequestRoutes({ runtime, sealer }) },
  { tag: "Decisions", make: ({ runtime }) => decisionRoutes({ runtime }) },
  ...runnersArea,
  { tag: "Polls", make: ({ runtime, sealer }) => pollRoutes({ runtime, sealer }) },
  ...hooksArea,
  ...operationsArea,
  ...streamsArea,
];

/** All WebSocket endpoints. Each area adds one line. */
const socketCatalogue: readonly ((parts: EdgeParts) => SocketRoute)[] = [
  createStreamSocket,
  ({ runtime, sealer, site: { expired }, hosts: { network }, operation: { leaseMs }, codeHost: { codeHost } }) =>
    runnerSocket({ runtime, sealer, expired, network, leaseMs, pushTokens: toPushTokens(codeHost) }),
];

/** Creates all endpoints. The router, the documentation and the tests use this table. */
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
