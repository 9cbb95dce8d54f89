import type { Reading } from "../../storage/store.js";
import { coversAddress, coversHost } from "../resources/fields.js";
import type { Warning } from "../resources/kind.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { SecretFields } from "./secret.kind.js";

/**
 * Returns a warning at `path` that lists those of the given hosts to which the secret is not bound. Returns none if the
 * secret is bound to all of them.
 */
export function unboundWarnings(
  reading: Reading,
  workspaceId: string,
  { path, secret, hosts }: { readonly path: string; readonly secret: string; readonly hosts: readonly string[] },
): readonly Warning[] {
  const bound = findResourceAt<SecretFields>(reading, workspaceId, "secret", secret)?.fields.hosts ?? [];
  const unbound = hosts.filter((host) => !coversHost(bound, host));
  if (unbound.length === 0) return [];
  const message = `the secret ${secret} is not sent to ${unbound.join(", ")}: it is not bound there`;
  return [{ path, message, severity: "warning" }];
}

/** Returns the sealed value of a secret if the secret may be sent to the address; otherwise the reason why not. */
export function findSecretFor(
  reading: Reading,
  workspaceId: string,
  { secret, url }: { readonly secret: string; readonly url: URL },
): { readonly sealed: string } | { readonly reason: string } {
  const row = findResourceAt<SecretFields>(reading, workspaceId, "secret", secret);
  const sealed = row?.hidden.value;
  if (row === undefined || sealed === undefined) return { reason: `there is no secret ${secret}` };
  if (!coversAddress(row.fields.hosts, url)) return { reason: `the secret ${secret} is not bound to ${url.host}` };
  return { sealed };
}
