/** The hosts of integrations that the deployment's settings block. */
import type { Reading } from "../../storage/store.js";
import { type AllowList, findRefusalReason } from "../outbound/http/allow-list.js";
import { isWorkspaceOpen, listResources } from "../resources/resource.table.js";
import type { IntegrationFields } from "./definition.js";

/** Returns why the service sends no requests to a host; null if some requests are allowed. */
export function findHostFault(host: string, allowList: AllowList): string | null {
  const one = host.replace(/^\*\./, "any.");
  const reason = findRefusalReason(`https://${one}/`, allowList);
  return reason === null || findRefusalReason(`http://${one}/`, allowList) === null ? null : reason;
}

/** A blocked host of an integration. */
export interface UnreachableHost {
  readonly workspaceId: string;
  readonly integrationId: string;
  /** `<team key>/<integration key>` */
  readonly address: string;
  /** Why the host is blocked, with the name of the setting. */
  readonly reason: string;
}

/** Lists the blocked hosts of the workspace's integrations; none if the workspace is closed. */
export function listUnreachableHosts(reading: Reading, workspaceId: string, allowList: AllowList): UnreachableHost[] {
  if (!isWorkspaceOpen(reading, workspaceId)) return [];
  return listResources<IntegrationFields>(reading, workspaceId, "integration").flatMap(({ id, address, fields }) =>
    fields.hosts.flatMap((host) => {
      const reason = findHostFault(host, allowList);
      return reason === null ? [] : [{ workspaceId, integrationId: id, address, reason }];
    }),
  );
}
