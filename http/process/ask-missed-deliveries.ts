import { hasInstallation } from "../../actors/code-host/connection.queries.js";
import { redeliverFailed } from "../../actors/code-host/redelivery.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import type { Runtime, RuntimeLog } from "../../runtime/runtime.js";

/**
 * Asks the code host to redeliver the webhook deliveries that this service missed while it was down or failing. Does
 * nothing if there is no code host, webhook secret or installation. Runs in the background. A failure is only logged,
 * because the service checks open pull requests every hour anyway.
 */
export function askMissedDeliveries(
  { codeHost, secret }: { readonly codeHost: CodeHost | null; readonly secret: string | null },
  { runtime, log }: { readonly runtime: Pick<Runtime, "reading" | "clock">; readonly log: Pick<RuntimeLog, "warn"> },
): void {
  if (codeHost === null || secret === null || !hasInstallation(runtime.reading, codeHost.name)) return;
  redeliverFailed(codeHost, runtime.clock.now()).catch((error: unknown) => {
    const why = error instanceof Error ? error.name : "unknown";
    log.warn("cannot request the code host's missed deliveries", { host: codeHost.name, why });
  });
}
