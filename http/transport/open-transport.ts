import type { Config } from "../wire/config.js";
import type { ServiceLog } from "../wire/service-log.js";
import type { Transport, TransportHandlers } from "./transport.js";

/**
 * Creates the configured transport. If the native library does not load on this machine, uses `node:http` instead. Only
 * the transport in use is loaded.
 */
export async function openTransport(
  wanted: Config["transport"],
  handlers: TransportHandlers,
  log: Pick<ServiceLog, "warn">,
): Promise<Transport> {
  if (wanted === "node") return openNodeTransport(handlers);
  try {
    const { createUwsTransport } = await import("./uws-transport.js");
    return createUwsTransport(handlers);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    log.warn("cannot load uWebSockets.js here; using node:http instead", { reason });
    return openNodeTransport(handlers);
  }
}

async function openNodeTransport(handlers: TransportHandlers): Promise<Transport> {
  const { createNodeTransport } = await import("./node-transport.js");
  return createNodeTransport(handlers);
}
