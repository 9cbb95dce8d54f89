import { HeldByVersion } from "../../../runtime/rows/held-by-version.js";
import { estimateWeight } from "../../../runtime/rows/weight.js";
import type { Reading } from "../../../storage/store.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { expectResource, listAddresses } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { BindingEvent } from "./action-run.js";

/** A binding, by its integration and its index in the integration's `on`. */
export interface PlacedBinding {
  readonly integrationId: string;
  readonly index: number;
  readonly event: BindingEvent;
}

/** The cached bindings of teams. All bindings of a team are under one key. */
const heldBindings = new HeldByVersion<readonly PlacedBinding[]>();
const KEY = "on";

/**
 * Lists the bindings of a team's integrations, ordered by address. The list is cached until the workspace's
 * configuration changes, because every task event needs it.
 */
export function listBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const held = heldBindings.of(reading, workspaceId);
  const known = held?.find(teamId, KEY);
  if (known !== undefined) return known;
  const bindings = readBindings(reading, workspaceId, teamId);
  held?.hold(teamId, KEY, bindings, estimateWeight(bindings));
  return bindings;
}

function readBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const under = getTeamKey(reading, workspaceId, teamId);
  return listAddresses(reading, workspaceId, "integration", { under }).flatMap(({ id: integrationId }) => {
    const { fields } = expectResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
    return (fields.on ?? []).map(({ event }, index) => ({ integrationId, index, event }));
  });
}
