import type { Reading } from "../../storage/store.js";
import { pathText } from "../refusal.js";
import type { Warning } from "../resources/kind.js";
import { findResource, listAddresses, type ResourceRow } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import type { IntegrationFields } from "./definition.js";

/** Maximum number of the team's integrations to compare with; the first by key. */
const MAX_COMPARED = 50;

/**
 * Warns of mark kinds that another integration of the team also sets. A task has one mark per kind, and the mark
 * identifies the task. So an event of one integration could reach the other's task, and a binding could send to the
 * wrong place.
 */
export function markWarnings(reading: Reading, { address, workspaceId, teamId, fields }: Integration): Warning[] {
  const own = listMarkKinds(fields);
  if (own.size === 0) return [];
  const shared = new Map<string, string>();
  const under = getTeamKey(reading, workspaceId, teamId);
  for (const other of listAddresses(reading, workspaceId, "integration", { under, limit: MAX_COMPARED })) {
    const found = other.address === address ? undefined : findIntegration(reading, workspaceId, other.id);
    for (const kind of found === undefined ? [] : listMarkKinds(found.fields).keys()) {
      if (own.has(kind) && !shared.has(kind)) shared.set(kind, found?.fields.integration ?? "");
    }
  }
  return [...shared].map(([kind, other]) => ({
    path: own.get(kind) ?? "",
    message: `the integration ${other} of the team also sets marks of this kind: each integration finds tasks by the other's values`,
    severity: "warning",
  }));
}

type Integration = ResourceRow<IntegrationFields>;

function findIntegration(reading: Reading, workspaceId: string, id: string): Integration | undefined {
  return findResource<IntegrationFields>(reading, workspaceId, "integration", id);
}

/** Returns the mark kinds that the definition sets, with the path of each first use. */
function listMarkKinds({ webhook, poll, on }: IntegrationFields): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  const add = (path: readonly (string | number)[], marks: Readonly<Record<string, unknown>>) => {
    for (const kind of Object.keys(marks)) if (!kinds.has(kind)) kinds.set(kind, pathText([...path, kind]));
  };
  for (const [source, block] of Object.entries({ webhook, poll })) {
    for (const [index, { raise }] of (block?.events ?? []).entries())
      add([source, "events", index, "raise", "marks"], raise.marks);
  }
  for (const [index, { mark }] of on.entries()) add(["on", index, "mark"], mark);
  return kinds;
}
