import { CodeHost } from "../../http/demo/code-host/code-host.js";
import type { Cleaning } from "./service.js";

/** Starts a code host that closes with the test; `now` is the service's clock. */
export async function startCodeHost(t: Cleaning, now?: () => number): Promise<CodeHost> {
  const host = await CodeHost.start(now);
  t.teardown(() => host.close());
  return host;
}
