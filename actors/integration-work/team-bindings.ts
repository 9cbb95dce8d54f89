import { coveredVersion } from "../../runtime/covered-reading.js";
import type { Reading } from "../../storage/store.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { findResource, listAddresses } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import type { BindingEvent } from "./action-run.js";

/** A binding by its place: in the list `on` of an integration. */
export interface PlacedBinding {
  readonly integrationId: string;
  readonly index: number;
  readonly event: BindingEvent;
}

/** Bindings that are held of all teams together; beyond it, all are dropped. Each takes some 100 bytes. */
const MAX_HELD = 50_000;

/** The bindings of the teams of one workspace, as its configuration of one version says. */
interface Held {
  readonly version: number;
  readonly teams: Map<string, readonly PlacedBinding[]>;
}

/** What is held of what one reading sees, by workspace. */
class HeldBindings {
  readonly #workspaces = new Map<string, Held>();
  #count = 0;

  find(workspaceId: string, version: number, teamId: string): readonly PlacedBinding[] | undefined {
    const held = this.#workspaces.get(workspaceId);
    return held?.version === version ? held.teams.get(teamId) : undefined;
  }

  /** A team without bindings counts as one. What a newer version replaces still counts, until all is dropped. */
  hold(workspaceId: string, version: number, teamId: string, bindings: readonly PlacedBinding[]): void {
    this.#count += 1 + bindings.length;
    if (this.#count > MAX_HELD) {
      this.#workspaces.clear();
      this.#count = 1 + bindings.length;
    }
    const known = this.#workspaces.get(workspaceId);
    const held = known?.version === version ? known : { version, teams: new Map() };
    held.teams.set(teamId, bindings);
    this.#workspaces.set(workspaceId, held);
  }
}

const heldBy = new WeakMap<Reading, HeldBindings>();

/**
 * The bindings of a team's integrations, in the order of their addresses. Held until configuration of the workspace
 * changes: whatever happens to a task is looked for in them.
 */
export function listBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const version = coveredVersion(reading, workspaceId);
  if (version === null) return readBindings(reading, workspaceId, teamId);
  const held = heldBy.get(reading) ?? new HeldBindings();
  heldBy.set(reading, held);
  const known = held.find(workspaceId, version, teamId);
  if (known !== undefined) return known;
  const bindings = readBindings(reading, workspaceId, teamId);
  held.hold(workspaceId, version, teamId, bindings);
  return bindings;
}

function readBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const under = getTeamKey(reading, workspaceId, teamId);
  return listAddresses(reading, workspaceId, "integration", { under }).flatMap(({ id: integrationId }) => {
    const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
    return (integration?.fields.on ?? []).map(({ event }, index) => ({ integrationId, index, event }));
  });
}
