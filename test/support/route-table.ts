import { createKinds } from "../../actors/kinds.js";
import { parseAllowList } from "../../actors/outbound/allow-list.js";
import { NetworkRequests } from "../../actors/outbound/network-requests.js";
import { createSealer } from "../../actors/sealer.js";
import { readConfig } from "../../http/process/config.js";
import { createMetrics } from "../../http/process/metrics.js";
import type { Route } from "../../http/route.js";
import { createRoutes, createSockets, type RouteParts } from "../../http/routes.js";
import type { SocketRoute } from "../../http/transport/socket.js";
import type { TestService } from "./service.js";

/** The tables of routes and sockets, as the service makes them. */
export function tablesOf({ runtime, folder }: TestService): {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
} {
  const parts: RouteParts = {
    runtime,
    network: new NetworkRequests(runtime.clock),
    kinds: createKinds({ allowList: parseAllowList(""), signsTokens: false }),
    sealer: createSealer(new Uint8Array(32), (count) => new Uint8Array(count)),
    config: readConfig({ DATA_DIR: folder }),
    metrics: createMetrics(() => runtime.stats()),
    baseUrl: () => "http://localhost",
    isReady: () => true,
    verifier: { verify: async () => ({ admits: false, check: "token", wanted: "", came: "", verified: false }) },
    codeHost: null,
    servers: { of: () => Promise.reject(new Error("nothing is asked")) },
    allowList: parseAllowList(""),
    log: { warn: () => undefined, error: () => undefined },
    callerOf: () => null,
  };
  return { routes: createRoutes(parts), sockets: createSockets(parts) };
}
