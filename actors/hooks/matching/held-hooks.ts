import { HeldByVersion } from "../../../runtime/rows/held-by-version.js";
import { estimateWeight } from "../../../runtime/rows/weight.js";
import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";

type HookRows = readonly ResourceRow<HookFields>[];

/** Maximum number of cached hooks per lookup key, and their maximum total weight; see {@link estimateWeight}. */
const MAX_HOOKS = 16;
const MAX_WEIGHT = 16_000;

interface FewHooks {
  readonly hooks: HookRows;
  readonly weight: number;
}

/** The cached hooks per lookup key, by team. */
const heldHooks = new HeldByVersion<HookRows>();

/**
 * Lists the hooks of a team with a lookup key, by id. Short lists are cached until the workspace's configuration
 * changes, because every event looks for hooks under several keys.
 */
export function listHooks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  key: string,
): Iterable<ResourceRow<HookFields>> {
  const list = () => listByLookupKey<HookFields>(reading, workspaceId, { kind: "hook", teamId, key }, null);
  const held = heldHooks.of(reading, workspaceId);
  if (held === null) return list();
  const known = held.find(teamId, key);
  if (known !== undefined) return known;
  const few = readFew(list());
  if (few === null) return list();
  held.hold(teamId, key, few.hooks, few.weight);
  return few.hooks;
}

/** Reads all hooks; null if they are too many or too large to cache. Stops reading at the limit. */
function readFew(listed: Iterable<ResourceRow<HookFields>>): FewHooks | null {
  const hooks: ResourceRow<HookFields>[] = [];
  let weight = 0;
  for (const hook of listed) {
    weight += estimateWeight(hook, MAX_WEIGHT);
    if (hooks.length === MAX_HOOKS || weight > MAX_WEIGHT) return null;
    hooks.push(hook);
  }
  return { hooks, weight };
}
