import type { Reading } from "../../storage/store.js";
import type { Warning } from "../resources/kind.js";
import { resourceAt } from "../resources/resource-rows.js";
import type { SecretFields } from "./secret.kind.js";

/** Warns at `path` when the secret named there is bound to none of the hosts it would be sent to. */
export function unboundWarnings(
  reading: Reading,
  workspaceId: string,
  { path, secret, hosts }: { readonly path: string; readonly secret: string; readonly hosts: readonly string[] },
): readonly Warning[] {
  const bound = resourceAt<SecretFields>(reading, workspaceId, "secret", secret)?.fields.hosts ?? [];
  const unbound = hosts.filter((host) => !bound.some((one) => covers(one, host)));
  if (unbound.length === 0) return [];
  const message = `the secret ${secret} is not sent to ${unbound.join(", ")}: it is not bound there`;
  return [{ path, message, severity: "warning" }];
}

/** Whether everything that `host` means is meant by `bound` too. */
function covers(bound: string, host: string): boolean {
  if (bound === host) return true;
  return bound.startsWith("*.") && host.endsWith(bound.slice(1));
}
