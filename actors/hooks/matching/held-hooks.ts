import { HeldByVersion } from "../../../runtime/held-by-version.js";
import { estimateWeight } from "../../../runtime/weight.js";
import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";

type HookRows = readonly ResourceRow<HookFields>[];

/** Most hooks of one lookup key that are held, and the most that they may weigh; see {@link estimateWeight}. */
const MAX_HOOKS = 16;
const MAX_WEIGHT = 16_000;

interface FewHooks {
  readonly hooks: HookRows;
  readonly weight: number;
}

/** The hooks of lookup keys, by team. */
const heldHooks = new HeldByVersion<HookRows>();

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
  const held = heldHooks.of(reading, workspaceId);
  if (held === null) return list();
  const known = held.find(teamId, key);
  if (known !== undefined) return known;
  const few = readFew(list());
  if (few === null) return list();
  held.hold(teamId, key, few.hooks, few.weight);
  return few.hooks;
}

/** All hooks; null when they are too many or too large to be held. Reads no further than that. */
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
