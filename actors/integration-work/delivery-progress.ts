/** How a delivery goes on: pure, so that what a message leads to is known before the machine takes it. */
import { type IntegrationRequestResult, mayPass } from "../integrations/requests/integration-request.js";
import type { TaskRaised } from "../tasks/team-marks.messages.js";
import type { DeliveryEntry, DeliveryState, EntryOutcome } from "./delivery.js";
import {
  type EntryPlace,
  type Evaluated,
  type EvaluatedEntry,
  FIRST_PLACE,
  MAX_DELIVERY_UNITS,
  type WantedLookup,
} from "./evaluated-delivery.js";

/** What a delivery that is worked knows between two turns. */
export interface DeliveryContext {
  readonly integrationId: string;
  /** Whether it is its turn to raise entries. */
  readonly mayRaise: boolean;
  /** Where the entries begin that are evaluated next, or whose lookup is made. */
  readonly from: EntryPlace;
  /** JSON text of what the lookup at `from` captured; null while it was not made. */
  readonly captures: string | null;
  /** Why nothing was captured at `from`, or why its lookup is tried again; or null. */
  readonly lookupNote: string | null;
  /** Entries that were evaluated and are to be told, in order; the first of them is being raised. */
  readonly entries: readonly EvaluatedEntry[];
  /** Where to go on after them; null at the end. */
  readonly next: EntryPlace | null;
  readonly lookup: WantedLookup | null;
  /** What became of entries since the last ones were stored. */
  readonly told: readonly DeliveryEntry[];
  /** How many rows of entries are stored. */
  readonly rows: number;
  /** Entries by what became of them. */
  readonly counts: Readonly<Record<EntryOutcome, number>>;
  readonly skipped: number;
  /** The first `when` or `forEach` that could not be read, and why; null or absent for none. */
  readonly unread?: string | null;
  readonly units: number;
  /** The attempt of the lookup that is made, from 1 on. */
  readonly attempt: number;
  /** Effects that were started, for their ids. */
  readonly effects: number;
  /** How far it was when it was last watched; null before. */
  readonly watchedAt: number | null;
}

export const newDelivery: DeliveryContext = {
  ...{ integrationId: "", mayRaise: false, from: FIRST_PLACE, captures: null, lookupNote: null },
  ...{ entries: [], next: null, lookup: null, told: [], rows: 0 },
  counts: { opened: 0, said: 0, unmatched: 0, unrouted: 0, failed: 0 },
  ...{ skipped: 0, units: MAX_DELIVERY_UNITS, attempt: 1, effects: 0, watchedAt: null },
};

/** How it goes on. */
export interface Progress {
  readonly context: DeliveryContext;
  /**
   * What is done: the first entry is raised, the next ones are evaluated or looked up, its turn to raise is waited for,
   * the lookup is tried again after a while, or it is over.
   */
  readonly does: "raise" | "evaluate" | "look-up" | "ready" | "wait" | "end" | "nothing";
  /** Only where it is over. */
  readonly end: DeliveryEnd | null;
  /** Entries that were told, to be stored. */
  readonly stores: readonly DeliveryEntry[];
  /** Only where it waits, in milliseconds. */
  readonly waitMs: number;
}

export interface DeliveryEnd {
  readonly state: Extract<DeliveryState, "done" | "failed" | "ignored" | "unrouted">;
  readonly reason: string | null;
}

/** Attempts of a lookup, and the wait after the first; it doubles, up to an hour, as that of hooks does. */
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

const nothing = { end: null, stores: [], waitMs: 0 } as const;

/** Entries were evaluated. */
export function onEvaluated(context: DeliveryContext, evaluated: Evaluated): Progress {
  if (evaluated.kind === "over") return endEarly(context, evaluated);
  const { entries, next, lookup, skipped, unread = null, units } = evaluated;
  return advance({
    ...context,
    ...{ entries, next, lookup, units },
    captures: null,
    skipped: context.skipped + skipped,
    unread: context.unread ?? unread,
  });
}

/** Its turn to raise has come. */
export function onTurnToRaise(context: DeliveryContext): Progress {
  const raising = { ...context, mayRaise: true };
  return raising.entries.length === 0 ? { ...nothing, context: raising, does: "nothing" } : advance(raising);
}

/** It is watched: a raise that nobody answered since the last time fails, so that others have their turn. */
export function onWatched(context: DeliveryContext): Progress {
  const far = countOf(context) + context.effects;
  const [entry] = context.entries;
  const isStuck = context.mayRaise && entry !== undefined && "raise" in entry && context.watchedAt === far;
  if (!isStuck) return { ...nothing, context: { ...context, watchedAt: far }, does: "nothing" };
  const failed = { ...placeOf(entry), outcome: "failed", taskId: null, reason: "it was not answered" } as const;
  return advance(tell({ ...context, entries: context.entries.slice(1) }, failed));
}

/** What a raised entry is known by. */
export function toRaiseKey(deliveryId: string, { event, item }: EvaluatedEntry): string {
  return `${deliveryId}:${event}:${item ?? "-"}`;
}

/** The first entry was raised. An answer that comes too late says nothing. */
export function onRaised(context: DeliveryContext, raised: TaskRaised): Progress {
  const [entry, ...entries] = context.entries;
  if (entry === undefined || !("raise" in entry) || raised.key !== toRaiseKey(raised.deliveryId, entry)) {
    return { ...nothing, context, does: "nothing" };
  }
  const { unrouted, note } = entry.raise;
  const isUnrouted = raised.outcome === "unmatched" && unrouted !== null;
  const outcome = isUnrouted ? "unrouted" : raised.outcome;
  const reasons = [isUnrouted ? unrouted : raised.reason, note, context.lookupNote].filter((reason) => reason !== null);
  const reason = reasons.length === 0 ? null : reasons.join("; ");
  return advance(
    tell({ ...context, entries, lookupNote: null }, { ...placeOf(entry), outcome, taskId: raised.taskId, reason }),
  );
}

/** The lookup of the entry at `lookup` was made, or could not be. */
export function onLookedUp(context: DeliveryContext, result: IntegrationRequestResult): Progress {
  const { lookup, attempt } = context;
  if (lookup === null) return { ...nothing, context, does: "nothing" };
  const { code, reason, retryAfterMs } = result;
  const looked = { ...context, from: lookup.place, lookup: null, next: null, attempt: 1 };
  // Access that is being renewed will be there soon.
  const isRenewed = code === "not-connected" && retryAfterMs !== null;
  if (code === null || !(mayPass(code) || isRenewed)) {
    const lookupNote = code === null ? null : `lookup: ${reason ?? code}`;
    return evaluate({ ...looked, lookupNote, captures: code === null ? result.captures : "{}" });
  }
  if (attempt < MAX_ATTEMPTS) {
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS * 2 ** (attempt - 1), retryAfterMs ?? 0));
    const waiting = { ...context, mayRaise: false, attempt: attempt + 1, lookupNote: `lookup: ${reason ?? code}` };
    return { ...nothing, context: waiting, does: "wait", waitMs };
  }
  const { place, item } = lookup;
  const failed: EvaluatedEntry = { event: place.event, item, outcome: "failed", reason: `lookup: ${reason ?? code}` };
  return advance({ ...looked, lookupNote: null, entries: [failed], next: { ...place, item: place.item + 1 } });
}

/** The evaluation itself failed: it is a fault of the service, and would fail again. */
export function onCrashed(context: DeliveryContext, error: string): Progress {
  return endEarly(context, { state: "failed", reason: error });
}

/** Tells the entries at the front that failed, and does what comes next. */
function advance(context: DeliveryContext): Progress {
  if (context.entries.length > 0 && !context.mayRaise) return { ...nothing, context, does: "ready" };
  let left = context;
  for (let [entry] = left.entries; entry !== undefined; [entry] = left.entries) {
    if ("raise" in entry) return { ...nothing, context: left, does: "raise" };
    const { outcome, reason } = entry;
    left = tell({ ...left, entries: left.entries.slice(1) }, { ...placeOf(entry), outcome, taskId: null, reason });
  }
  const { told, lookup, next } = left;
  const stored = told.length === 0 ? left : { ...left, told: [], rows: left.rows + 1 };
  if (lookup !== null) {
    return { ...nothing, context: counted({ ...stored, from: lookup.place }), does: "look-up", stores: told };
  }
  if (next !== null) return { ...evaluate({ ...stored, from: next, next: null }), stores: told };
  return { ...nothing, context: stored, does: "end", end: toEnd(stored), stores: told };
}

function evaluate(context: DeliveryContext): Progress {
  return { ...nothing, context: counted(context), does: "evaluate" };
}

/** Nothing more comes of it: what was told before stays so. */
function endEarly(context: DeliveryContext, { state, reason }: DeliveryEnd): Progress {
  const { told } = context;
  const isAway = state === "failed" || countOf(context) === 0;
  const end: DeliveryEnd = isAway ? { state, reason } : { ...toEnd(context), reason };
  const rows = context.rows + (told.length === 0 ? 0 : 1);
  return { ...nothing, context: { ...context, rows }, does: "end", end, stores: told };
}

/** Failed where nothing but failures came of it, and unrouted where nothing was routed. */
function toEnd(context: DeliveryContext): DeliveryEnd {
  const { opened, said, unmatched, unrouted, failed } = context.counts;
  if (opened + said + unmatched > 0) return { state: "done", reason: null };
  if (failed > 0) return { state: "failed", reason: "its entries failed" };
  if (unrouted > 0) return { state: "unrouted", reason: "its entries have no line" };
  const unread = context.unread == null ? "" : `; ${context.unread}`;
  return { state: "ignored", reason: `no event holds${unread}` };
}

function tell(context: DeliveryContext, entry: DeliveryEntry): DeliveryContext {
  const { counts, told } = context;
  return { ...context, told: [...told, entry], counts: { ...counts, [entry.outcome]: counts[entry.outcome] + 1 } };
}

const counted = (context: DeliveryContext): DeliveryContext => ({ ...context, effects: context.effects + 1 });
const placeOf = ({ event, item }: EvaluatedEntry) => ({ event, item });

/** How many entries were told. */
export function countOf({ counts }: DeliveryContext): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
