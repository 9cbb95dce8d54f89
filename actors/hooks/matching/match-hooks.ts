import { VersionCache } from "../../../runtime/rows/version-cache.js";
import { estimateWeight } from "../../../runtime/rows/weight.js";
import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";
import { toEventValues } from "../hook-values.js";
import { getConditions, type Subject } from "./conditions.js";
import { evaluateConditions, eventLookupKeys, lookupKeys } from "./lookup-keys.js";

export type HookRow = ResourceRow<HookFields>;

/** Cursor into the candidate hooks. Stored with waiting events. */
export interface MatchCursor {
  /** Index of the lookup key. */
  readonly word: number;
  /** Id of the last evaluated hook with that key; null before the first. */
  readonly after: string | null;
}

export const MATCH_START: MatchCursor = { word: 0, after: null };

/** The result of matching some hooks of an event's team. */
export interface MatchedHooks {
  /** Hooks whose conditions all hold. */
  readonly fires: readonly HookRow[];
  /** The cursor of the remaining hooks; null if there are none. */
  readonly next: MatchCursor | null;
}

/** How hooks are matched: by all conditions, or by the match lists without `when`. */
export type MatchMode = "all conditions" | "match lists";

/** Enough units of the meter to match any single hook: its `when`, its paths, and the rest. */
export const MAX_MATCH_COST = 100_000;

/**
 * Matches the hooks that could match an event, in a fixed order from a cursor on, until `units` are spent. {@link
 * MAX_MATCH_COST} units are enough for at least one hook.
 */
export function matchHooks(
  reading: Reading,
  work: WorkEvent,
  {
    from,
    units,
    by = "all conditions",
  }: { readonly from: MatchCursor; readonly units: number; readonly by?: MatchMode },
): MatchedHooks {
  const left = { units };
  const keys = eventLookupKeys(work);
  const subject = toSubject(work);
  const fires: HookRow[] = [];
  let isFirst = true;
  for (let { word: index, after } = from; index < keys.length; index += 1, after = null) {
    for (const hook of listHooksUnder(reading, work, { key: keys[index] ?? "", after })) {
      const cost = matchCost(hook);
      if (!isFirst && left.units < cost) return { fires, next: { word: index, after } };
      if (isFirstKey(hook, keys, index)) {
        const result = evaluateConditions(
          by === "match lists" ? withoutWhen(hook) : getConditions(hook),
          subject,
          left,
        );
        if (result === "undecided") return { fires, next: { word: index, after } };
        if (result === "holds") fires.push(hook);
      }
      // Always prepare the first hook, whatever that costs. So every call with {@link MAX_MATCH_COST} makes progress.
      left.units -= cost;
      if (left.units < 0) return { fires, next: { word: index, after: hook.id } };
      isFirst = false;
      after = hook.id;
    }
  }
  return { fires, next: null };
}

/** Returns an event as conditions read it. */
export function toSubject(work: WorkEvent): Subject {
  return { work, values: () => toEventValues(work) };
}

function listHooksUnder(reading: Reading, work: WorkEvent, { key, after }: KeyCursor): Iterable<HookRow> {
  if (after === null) return listHooks(reading, work, key);
  const { workspaceId, teamId } = work;
  return listByLookupKey<HookFields>(reading, workspaceId, { kind: "hook", teamId, key }, after);
}

interface KeyCursor {
  readonly key: string;
  readonly after: string | null;
}

/**
 * Returns whether `keys[index]` is the first of the event's keys that the hook has. A hook can be found under several
 * keys of an event, but is matched only under this one.
 */
function isFirstKey({ fields }: HookRow, keys: readonly string[], index: number): boolean {
  const own = lookupKeys(fields);
  return own.length === 1 || keys.findIndex((each) => own.includes(each)) === index;
}

function withoutWhen(hook: HookRow) {
  return getConditions(hook).filter(({ name }) => name !== "when");
}

/** Cost of reading any uncached hook, in units of the meter. */
const UNITS_A_HOOK = 300;
/** Cost of compiling a hook's `when`, per character. The next constant is the cost per character of a glob. */
const UNITS_A_CHARACTER_OF_WHEN = 4;
const UNITS_A_CHARACTER_OF_GLOB = 1;
/**
 * Additional cost of reading a hook, per value. A text costs one more unit for each {@link CHARACTERS_A_UNIT}
 * characters.
 */
const UNITS_A_VALUE = 3;
const CHARACTERS_A_UNIT = 32;

const known = new WeakMap<ResourceRow<HookFields>, number>();

/**
 * Returns the cost to read a hook and compile its conditions without caches, in units of the meter. The cost depends on
 * the hook's size, because a hook may be as large as a request body.
 */
function matchCost(hook: ResourceRow<HookFields>): number {
  const before = known.get(hook);
  if (before !== undefined) return before;
  const { when, match } = hook.fields;
  const toMake =
    UNITS_A_CHARACTER_OF_WHEN * (when?.length ?? 0) +
    match.paths.reduce((sum, glob) => sum + UNITS_A_CHARACTER_OF_GLOB * glob.length, 0);
  const units = UNITS_A_HOOK + toMake + readCost(hook.fields);
  known.set(hook, units);
  return units;
}

function readCost(value: unknown): number {
  if (typeof value === "string") return UNITS_A_VALUE + value.length / CHARACTERS_A_UNIT;
  if (typeof value !== "object" || value === null) return UNITS_A_VALUE;
  let units = UNITS_A_VALUE;
  for (const inner of Object.values(value)) units += readCost(inner);
  return units;
}

type HookRows = readonly ResourceRow<HookFields>[];

/**
 * Maximum number of hooks to cache per lookup key. The next constant is their maximum total weight ({@link
 * estimateWeight}).
 */
const MAX_HOOKS = 16;
const MAX_WEIGHT = 16_000;

interface FewHooks {
  readonly hooks: HookRows;
  readonly weight: number;
}

/** The cached hooks of each team, by lookup key. */
const cachedHooks = new VersionCache<HookRows>();

/**
 * Lists the hooks of a team that have this lookup key, by id. Caches short lists until the workspace's configuration
 * changes, because each event lists the hooks of several keys.
 */
function listHooks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  key: string,
): Iterable<ResourceRow<HookFields>> {
  const list = () => listByLookupKey<HookFields>(reading, workspaceId, { kind: "hook", teamId, key }, null);
  const cached = cachedHooks.find(reading, workspaceId);
  if (cached === null) return list();
  const known = cached.find(teamId, key);
  if (known !== undefined) return known;
  const few = readFew(list());
  if (few === null) return list();
  cached.hold(teamId, key, few.hooks, few.weight);
  return few.hooks;
}

/** Reads all hooks. Returns null, and stops reading, if there are too many hooks to cache or they are too large. */
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
