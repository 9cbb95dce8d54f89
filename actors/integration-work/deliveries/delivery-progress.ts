/**
 * Computes a delivery's next step. The functions have no side effects, so that the machine can compute a message's
 * result before it handles the message.
 */
import { type IntegrationRequestResult, mayPass } from "../../integrations/requests/integration-request.js";
import { MAX_ATTEMPTS, retryWaitMs } from "../../outbound/http/retry-wait.js";
import type { TaskRaised } from "../../tasks/team-marks.messages.js";
import type { DeliveryEntry, DeliveryState, EntryOutcome } from "./delivery.js";
import {
  type EntryPlace,
  type Evaluated,
  type EvaluatedEntry,
  FIRST_PLACE,
  MAX_DELIVERY_UNITS,
  type WantedLookup,
} from "./evaluated-delivery.js";

/** The state of a delivery in progress between two turns. */
export interface DeliveryContext {
  readonly integrationId: string;
  /** Whether the delivery may raise its entries now. */
  readonly mayRaise: boolean;
  /** The first entry to evaluate next, or the entry whose lookup is running. */
  readonly from: EntryPlace;
  /** The captures of the lookup at `from`, as JSON text; null if the lookup has not run. */
  readonly captures: string | null;
  /** If the lookup at `from` captured nothing or is being retried: the reason. Null otherwise. */
  readonly lookupNote: string | null;
  /**
   * The evaluated entries whose outcome is not recorded yet, in order. The first entry is being raised, or is the next
   * to raise.
   */
  readonly entries: readonly EvaluatedEntry[];
  /** Where evaluation continues after `entries`; null if nothing is left. */
  readonly next: EntryPlace | null;
  readonly lookup: WantedLookup | null;
  /** The recorded outcomes that are not in a stored row of outcomes yet. */
  readonly told: readonly DeliveryEntry[];
  /** Number of stored rows of entry outcomes. */
  readonly rows: number;
  /** Number of entries by outcome. */
  readonly counts: Readonly<Record<EntryOutcome, number>>;
  readonly skipped: number;
  /** The first `when` or `forEach` whose evaluation failed, with the reason; null or absent if no evaluation failed. */
  readonly unread?: string | null;
  readonly units: number;
  /** The number of the current lookup attempt, starting at 1. */
  readonly attempt: number;
  /** Number of started effects. An effect's id is this number, including the effect itself. */
  readonly effects: number;
  /** The number of recorded outcomes and started effects at the last watch message; null before the first one. */
  readonly watchedAt: number | null;
}

export const newDelivery: DeliveryContext = {
  integrationId: "",
  mayRaise: false,
  from: FIRST_PLACE,
  captures: null,
  lookupNote: null,
  entries: [],
  next: null,
  lookup: null,
  told: [],
  rows: 0,
  counts: { opened: 0, said: 0, unmatched: 0, unrouted: 0, failed: 0 },
  skipped: 0,
  units: MAX_DELIVERY_UNITS,
  attempt: 1,
  effects: 0,
  watchedAt: null,
};

/** The next step of a delivery. */
export interface Progress {
  readonly context: DeliveryContext;
  /**
   * The action to take:
   *
   * - `raise`: raise the first entry.
   * - `evaluate`: evaluate the next entries.
   * - `look-up`: run a lookup.
   * - `ready`: report that entries are ready to raise.
   * - `wait`: wait before the retry of a lookup.
   * - `end`: end the delivery.
   * - `nothing`: wait for the next message.
   */
  readonly does: "raise" | "evaluate" | "look-up" | "ready" | "wait" | "end" | "nothing";
  /** How the delivery ends; null unless it ends. */
  readonly end: DeliveryEnd | null;
  /** The entry outcomes to store. */
  readonly stores: readonly DeliveryEntry[];
  /** How long the delivery waits, in milliseconds; 0 if it does not wait. */
  readonly waitMs: number;
}

export interface DeliveryEnd {
  readonly state: Extract<DeliveryState, "done" | "failed" | "ignored" | "unrouted">;
  readonly reason: string | null;
}

const nothing = { end: null, stores: [], waitMs: 0 } as const;

/** Handles evaluated entries. */
export function onEvaluated(context: DeliveryContext, evaluated: Evaluated): Progress {
  if (evaluated.kind === "over") return endEarly(context, evaluated);
  const { entries, next, lookup, skipped, unread = null, units } = evaluated;
  return advance({
    ...context,
    entries,
    next,
    lookup,
    units,
    captures: null,
    skipped: context.skipped + skipped,
    unread: context.unread ?? unread,
  });
}

/** Handles the message that allows the delivery to raise its entries. */
export function onTurnToRaise(context: DeliveryContext): Progress {
  const raising = { ...context, mayRaise: true };
  return raising.entries.length === 0 ? { ...nothing, context: raising, does: "nothing" } : advance(raising);
}

/**
 * Handles a watch message. If the raised entry got no answer since the last watch message, the entry fails, so that
 * other deliveries get their turn.
 */
export function onWatched(context: DeliveryContext): Progress {
  const far = toCount(context) + context.effects;
  const [entry] = context.entries;
  const isStuck = context.mayRaise && entry !== undefined && "raise" in entry && context.watchedAt === far;
  if (!isStuck) return { ...nothing, context: { ...context, watchedAt: far }, does: "nothing" };
  const failed = { ...toPlace(entry), outcome: "failed", taskId: null, reason: "the task did not answer" } as const;
  return advance(tell({ ...context, entries: context.entries.slice(1) }, failed));
}

/** Returns the key that identifies a raised entry. */
export function toRaiseKey(deliveryId: string, { event, item }: EvaluatedEntry): string {
  return `${deliveryId}:${event}:${item ?? "-"}`;
}

/** Handles the answer to the raise of the first entry. Ignores an answer that arrives too late. */
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
    tell({ ...context, entries, lookupNote: null }, { ...toPlace(entry), outcome, taskId: raised.taskId, reason }),
  );
}

/** Handles the result of the current lookup. */
export function onLookedUp(context: DeliveryContext, result: IntegrationRequestResult): Progress {
  const { lookup, attempt } = context;
  if (lookup === null) return { ...nothing, context, does: "nothing" };
  const { code, reason, retryAfterMs } = result;
  const looked = { ...context, from: lookup.place, lookup: null, next: null, attempt: 1 };
  // The connection's token is being renewed and will be available soon.
  const isRenewed = code === "not-connected" && retryAfterMs !== null;
  if (code === null || !(mayPass(code) || isRenewed)) {
    const lookupNote = code === null ? null : `lookup: ${reason ?? code}`;
    return evaluate({ ...looked, lookupNote, captures: code === null ? result.captures : "{}" });
  }
  if (attempt < MAX_ATTEMPTS) {
    const waitMs = retryWaitMs(attempt, retryAfterMs);
    const waiting = { ...context, mayRaise: false, attempt: attempt + 1, lookupNote: `lookup: ${reason ?? code}` };
    return { ...nothing, context: waiting, does: "wait", waitMs };
  }
  const { place, item } = lookup;
  const failed: EvaluatedEntry = { event: place.event, item, outcome: "failed", reason: `lookup: ${reason ?? code}` };
  return advance({ ...looked, lookupNote: null, entries: [failed], next: { ...place, item: place.item + 1 } });
}

/**
 * Handles the crash of an effect. The delivery fails without a retry, because a crash is a fault of the service and
 * would happen again.
 */
export function onCrashed(context: DeliveryContext, error: string): Progress {
  return endEarly(context, { state: "failed", reason: error });
}

/**
 * Computes the next step. If the delivery may raise its entries, first removes the failed entries at the front of the
 * list and records their outcomes.
 */
function advance(context: DeliveryContext): Progress {
  if (context.entries.length > 0 && !context.mayRaise) return { ...nothing, context, does: "ready" };
  let left = context;
  for (let [entry] = left.entries; entry !== undefined; [entry] = left.entries) {
    if ("raise" in entry) return { ...nothing, context: left, does: "raise" };
    const { outcome, reason } = entry;
    left = tell({ ...left, entries: left.entries.slice(1) }, { ...toPlace(entry), outcome, taskId: null, reason });
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

/**
 * Ends the delivery without further entries, and keeps the outcomes that are already recorded. The end state is `state`
 * if it is `failed` or if no outcome is recorded. Otherwise the recorded outcomes decide the end state.
 */
function endEarly(context: DeliveryContext, { state, reason }: DeliveryEnd): Progress {
  const { told } = context;
  const isAway = state === "failed" || toCount(context) === 0;
  const end: DeliveryEnd = isAway ? { state, reason } : { ...toEnd(context), reason };
  const rows = context.rows + (told.length === 0 ? 0 : 1);
  return { ...nothing, context: { ...context, rows }, does: "end", end, stores: told };
}

/**
 * Returns `done` if an entry was `opened`, `said` or `unmatched`. Otherwise returns `failed` if an entry failed,
 * `unrouted` if an entry was unrouted, or `ignored` if there are no outcomes.
 */
function toEnd(context: DeliveryContext): DeliveryEnd {
  const { opened, said, unmatched, unrouted, failed } = context.counts;
  if (opened + said + unmatched > 0) return { state: "done", reason: null };
  if (failed > 0) return { state: "failed", reason: "its entries failed" };
  if (unrouted > 0) return { state: "unrouted", reason: "its entries have no line" };
  const unread = context.unread == null ? "" : `; ${context.unread}`;
  return { state: "ignored", reason: `no event matches${unread}` };
}

function tell(context: DeliveryContext, entry: DeliveryEntry): DeliveryContext {
  const { counts, told } = context;
  return { ...context, told: [...told, entry], counts: { ...counts, [entry.outcome]: counts[entry.outcome] + 1 } };
}

const counted = (context: DeliveryContext): DeliveryContext => ({ ...context, effects: context.effects + 1 });
const toPlace = ({ event, item }: EvaluatedEntry) => ({ event, item });

/** Returns the number of entries with a recorded outcome. */
export function toCount({ counts }: DeliveryContext): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
