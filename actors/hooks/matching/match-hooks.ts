import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";
import { toEventValues } from "../hook-values.js";
import { getConditions, type Subject } from "./conditions.js";
import { listHooks } from "./held-hooks.js";
import { evaluateConditions, eventLookupKeys, lookupKeys } from "./lookup-keys.js";
import { matchCost } from "./match-cost.js";

export type HookRow = ResourceRow<HookFields>;

/** Cursor into the candidate hooks. Stored with waiting events. */
export interface MatchCursor {
  /** Index of the lookup key. */
  readonly word: number;
  /** Id of the last matched hook with that key; null before the first. */
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
 * Matches the hooks that could match an event, starting at a cursor, in a fixed order, until `units` are spent. With
 * {@link MAX_MATCH_COST} units it always matches at least one hook.
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
      // The first hook is always matched, whatever its cost, so that every call makes progress.
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
 * Returns whether `keys[index]` is the first of the event's keys that the hook has. The other keys would match the hook
 * again.
 */
function isFirstKey({ fields }: HookRow, keys: readonly string[], index: number): boolean {
  const own = lookupKeys(fields);
  return own.length === 1 || keys.findIndex((each) => own.includes(each)) === index;
}

function withoutWhen(hook: HookRow) {
  return getConditions(hook).filter(({ name }) => name !== "when");
}
