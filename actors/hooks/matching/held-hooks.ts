import { coveredVersion } from "../../../runtime/covered-reading.js";
import { estimateWeight } from "../../../runtime/weight.js";
import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";

type HookRows = readonly ResourceRow<HookFields>[];

/** Most hooks of one lookup key that are held, and the most that they may weigh; see {@link estimateWeight}. */
const MAX_HOOKS = 16;
const MAX_WEIGHT = 16_384;
/** Most that all lists of a reading weigh, in bytes; beyond it, all are dropped. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** What a list weighs beside its hooks. */
const LIST_WEIGHT = 256;

/** The hooks of a workspace's lookup keys, as its rows of one version say. */
interface Held {
  readonly version: number;
  /** By team, then by lookup key. */
  readonly teams: Map<string, Map<string, HookRows>>;
}

/** What is held of the hooks that one reading sees, by workspace. */
class HeldHooks {
  readonly #workspaces = new Map<string, Held>();
  #bytes = 0;

  find(workspaceId: string, version: number, { teamId, key }: KeyOfTeam): HookRows | undefined {
    const held = this.#workspaces.get(workspaceId);
    return held?.version === version ? held.teams.get(teamId)?.get(key) : undefined;
  }

  hold(workspaceId: string, version: number, { teamId, key, hooks, weight }: KeyOfTeam & FewHooks): void {
    this.#bytes += weight;
    if (this.#bytes > MAX_HELD_BYTES) {
      this.#workspaces.clear();
      this.#bytes = weight;
    }
    const held = this.#workspaces.get(workspaceId);
    // What is dropped here still counts, until all is.
    const { teams } = held?.version === version ? held : this.#begin(workspaceId, version);
    const keys = teams.get(teamId) ?? new Map<string, HookRows>();
    teams.set(teamId, keys);
    keys.set(key, hooks);
  }

  #begin(workspaceId: string, version: number): Held {
    const held: Held = { version, teams: new Map() };
    this.#workspaces.set(workspaceId, held);
    return held;
  }
}

interface KeyOfTeam {
  readonly teamId: string;
  readonly key: string;
}

interface FewHooks {
  readonly hooks: HookRows;
  readonly weight: number;
}

const heldBy = new WeakMap<Reading, HeldHooks>();

/**
 * The hooks of a team with a lookup key, by id. Those of a key with few are held until configuration of the workspace
 * changes: every event looks for hooks under several keys.
 */
export function listHooks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  key: string,
): Iterable<ResourceRow<HookFields>> {
  const list = () => listByLookupKey<HookFields>(reading, workspaceId, { kind: "hook", teamId, key }, null);
  const version = coveredVersion(reading, workspaceId);
  if (version === null) return list();
  const held = heldBy.get(reading) ?? new HeldHooks();
  const known = held.find(workspaceId, version, { teamId, key });
  if (known !== undefined) return known;
  const few = readFew(list());
  if (few === null) return list();
  heldBy.set(reading, held);
  held.hold(workspaceId, version, { teamId, key, ...few });
  return few.hooks;
}

/** All hooks; null when they are too many or too large to be held. Reads no further than that. */
function readFew(listed: Iterable<ResourceRow<HookFields>>): FewHooks | null {
  const hooks: ResourceRow<HookFields>[] = [];
  let weight = LIST_WEIGHT;
  for (const hook of listed) {
    weight += estimateWeight(hook, MAX_WEIGHT);
    if (hooks.length === MAX_HOOKS || weight > MAX_WEIGHT) return null;
    hooks.push(hook);
  }
  return { hooks, weight };
}
