import { createKinds } from "../../actors/catalogue.js";
import { notJudging } from "../../actors/judging/judging-setup.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import { createSealer } from "../../actors/sealer.js";
import type { EdgeParts } from "../../http/access/edge-parts.js";
import { ExpiredCredentials } from "../../http/access/expired-credentials.js";
import { readConfig } from "../../http/process/config.js";
import { createMetrics } from "../../http/process/metrics.js";
import { createRoutes, createSockets } from "../../http/routes/routes.js";
import type { Route } from "../../http/wire/route.js";
import type { SocketRoute } from "../../http/wire/socket.js";
import type { TestService } from "./service.js";

/** Returns the route and socket tables of the service. */
export function toTables({ runtime, folder }: TestService): {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
} {
  const config = readConfig({ DATA_DIR: folder });
  const parts: EdgeParts = {
    runtime,
    kinds: createKinds({ allowList: parseAllowList(""), signsTokens: false }),
    sealer: createSealer(new Uint8Array(32), (count) => new Uint8Array(count)),
    judging: notJudging,
    site: {
      baseUrl: () => "http://localhost",
      signInDomains: config.signInDomains,
      expired: new ExpiredCredentials(runtime),
      callerOf: () => () => null,
    },
    hosts: {
      allowList: parseAllowList(""),
      network: new NetworkRequests(runtime.clock),
      verifier: { verify: async () => ({ admits: false, check: "token", wanted: "", came: "", verified: false }) },
      servers: { read: () => Promise.reject(new Error("nothing is asked")) },
    },
    codeHost: { codeHost: null, secret: config.codeHostWebhookSecret },
    operation: {
      log: { warn: () => undefined, error: () => undefined },
      metrics: createMetrics(() => runtime.stats()),
      reported: () => undefined,
      metricsToken: config.metricsToken,
      isReady: () => true,
      state: () => ({ release: "0.0.0", storeFormat: 1, startedAtMs: 0, backupAtMs: null }),
      leaseMs: config.leaseSeconds * 1_000,
    },
  };
  return { routes: createRoutes(parts), sockets: createSockets(parts) };
}
