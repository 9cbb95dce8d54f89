import { createServer } from "node:net";
import type { EdgeParts } from "../access/edge-parts.js";
import { createAdmission } from "../limits/admission.js";
import { BodyQuota } from "../limits/body-quota.js";
import { createClientAddress, parseNetworks } from "../limits/client-address.js";
import type { FairTurns } from "../limits/fair-turns.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import { createRoutes, createSockets } from "../routes/routes.js";
import type { Traced } from "../transport/edge.js";
import { openTransport } from "../transport/open-transport.js";
import { createHandlers } from "../transport/server.js";
import type { Transport } from "../transport/transport.js";
import type { Config } from "../wire/config.js";
import { createHints } from "../wire/id-hints.js";
import type { Outcome, Route } from "../wire/route.js";
import type { ServiceLog } from "../wire/service-log.js";
import { WrongSetting } from "./config.js";

export interface EdgeOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  /** Whether the service runs with `--read-only`. */
  readonly isReadOnly?: boolean | undefined;
  /** Whether to answer a request with this `Host` header. By default, the service answers all requests. */
  readonly admitsHost?: ((host: string | undefined) => boolean) | undefined;
  /** Called with the outcome of each request to a route. */
  readonly answered?: ((route: Route, outcome: Outcome) => void) | undefined;
}

interface EdgeNeeds {
  readonly turns: FairTurns;
  readonly openSockets: OpenSockets;
  readonly traced: Traced | undefined;
}

/** Creates the server with all routes and sockets. It does not listen yet. */
export function openEdge(
  { config, log, isReadOnly = false, admitsHost, answered }: EdgeOptions,
  parts: EdgeParts,
  { turns, openSockets, traced }: EdgeNeeds,
): Promise<Transport> {
  const { runtime, site, operation } = parts;
  const handlers = createHandlers({
    routes: createRoutes(parts),
    sockets: createSockets(parts),
    authenticate: site.callerOf,
    clientAddress: createClientAddress(parseNetworks(config.trustedProxies)),
    admission: createAdmission(config.rates, runtime.clock),
    openSockets,
    bodies: new BodyQuota(),
    turns,
    traced,
    isReadOnly,
    admitsHost,
    hintOf: createHints(parts.kinds),
    newRequestId: () => runtime.newId("req"),
    seconds: () => performance.now() / 1_000,
    served: (served) => {
      log.served(served);
      operation.metrics.served(served);
    },
    failed: (requestId, error) => {
      runtime.damageMet(error);
      log.failed(requestId, error);
    },
    ...(answered === undefined ? {} : { answered }),
  });
  return openTransport(config.transport, handlers, log);
}

/**
 * Checks that the service can listen on its address. Throws {@link WrongSetting}, like {@link listen}, if it cannot.
 */
export async function assertListenable({ host, port }: Config): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ host, port }, resolve));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const hint = isTaken ? ". Stop the program that listens there, such as signalbox dev, or set another PORT" : "";
    throw new WrongSetting(`HOST, PORT: cannot listen on ${host}:${port}: ${reason}${hint}`);
  }
  await new Promise((resolve) => server.close(resolve));
}

/** Starts to listen and returns the port. Throws {@link WrongSetting} if that fails. */
export async function listen(transport: Transport, { host, port }: Config): Promise<number> {
  try {
    return await transport.listen(host, port);
  } catch (error) {
    throw new WrongSetting(`HOST, PORT: ${error instanceof Error ? error.message : String(error)}`);
  }
}
