import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listByLookupKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";
import { toEventValues } from "../hook-values.js";
import { getConditions, type Subject } from "./conditions.js";
import { evaluateConditions, eventLookupKeys, lookupKeys } from "./lookup-keys.js";
import { matchCost } from "./match-cost.js";

export type HookRow = ResourceRow<HookFields>;

/** Where judging an event's hooks goes on: at one of the event's words, by its number, after a hook. */
export interface MatchCursor {
  readonly word: number;
  readonly after: string | null;
}

export const MATCH_START: MatchCursor = { word: 0, after: null };

/** Some hooks of an event's team, judged. */
export interface MatchedHooks {
  /** Those whose conditions all hold. */
  readonly fires: readonly HookRow[];
  /** Where the others are; null when there are none. */
  readonly next: MatchCursor | null;
}

/** What hooks are judged by: all of their conditions, or only what can be told without evaluating a `when`. */
export type MatchMode = "all conditions" | "match lists";

/** Units of the meter that are enough to judge any one hook: what a `when` and looking through paths cost, and the rest. */
export const MAX_MATCH_COST = 100_000;

/**
 * Judges the hooks that could match an event, from a place on and in an order that is always the same, until `units`
 * are spent. With {@link MAX_MATCH_COST} it gets on by one hook at least.
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
  const words = eventLookupKeys(work);
  const subject = toSubject(work);
  const fires: HookRow[] = [];
  let isFirst = true;
  for (let { word, after } = from; word < words.length; word += 1, after = null) {
    for (const hook of listHooksUnder(reading, work, { word: words[word] ?? "", after })) {
      const toLook = matchCost(hook);
      if (!isFirst && left.units < toLook) return { fires, next: { word, after } };
      if (isFirstKey(hook, words, word)) {
        const verdict = evaluateConditions(
          by === "match lists" ? withoutWhen(hook) : getConditions(hook),
          subject,
          left,
        );
        if (verdict === "undecided") return { fires, next: { word, after } };
        if (verdict === "holds") fires.push(hook);
      }
      // The first one is looked at whatever that takes, so that there is always one that is.
      left.units -= toLook;
      if (left.units < 0) return { fires, next: { word, after: hook.id } };
      isFirst = false;
      after = hook.id;
    }
  }
  return { fires, next: null };
}

/** An event as conditions look at it. */
export function toSubject(work: WorkEvent): Subject {
  return { work, values: () => toEventValues(work) };
}

function listHooksUnder(reading: Reading, { workspaceId, teamId }: WorkEvent, { word, after }: KeyCursor) {
  return listByLookupKey<HookFields>(reading, workspaceId, { kind: "hook", teamId, key: word }, after);
}

interface KeyCursor {
  readonly word: string;
  readonly after: string | null;
}

/** A hook is listed under each name of a list, of which an event may have several: it is judged at the first. */
function isFirstKey({ fields }: HookRow, words: readonly string[], word: number): boolean {
  const own = lookupKeys(fields);
  return own.length === 1 || words.findIndex((each) => own.includes(each)) === word;
}

function withoutWhen(hook: HookRow) {
  return getConditions(hook).filter(({ name }) => name !== "when");
}
