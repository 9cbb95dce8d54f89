import type { InTurn } from "../../../runtime/cells/chart.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { startIntegrationRequest } from "../../integrations/requests/start-request.js";
import { findResource } from "../../resources/resource.table.js";
import { holdBlob } from "../../tables/blobs.js";
import { MAX_TEXT_IN_ROW_BYTES, type StoredText } from "../../tables/text-blobs.js";
import { type RaisedFiles, type RaiseTask, teamMarksRef } from "../../tasks/team-marks.messages.js";
import { timeText } from "../../time-text.js";
import { deliveryCounters } from "../work-counters.js";
import type { DeliveryRow } from "./delivery.js";
import { deliveryIntakeRef, deliveryRef, type WorkDelivery } from "./delivery.messages.js";
import { deliveries, deliveryEntries } from "./delivery.table.js";
import { shareBody } from "./delivery-body.table.js";
import { EVALUATION } from "./delivery-evaluation.effects.js";
import { type DeliveryContext, newDelivery, type Progress, toCount, toRaiseKey } from "./delivery-progress.js";
import { type EvaluatedEntry, MAX_ENTRIES } from "./evaluated-delivery.js";

/** Timeout of a lookup's request, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 10_000;

/** The delivery has a slot. */
interface Placed extends InTurn {
  readonly work: WorkDelivery;
  readonly row: DeliveryRow;
}

/** The delivery continues or ends, as `progress` says. */
interface Progressed extends InTurn {
  readonly progress: Progress;
  readonly row: DeliveryRow;
}

/** Starts to evaluate the first entries when the delivery gets a slot. */
export function begin({ turn, work, row }: Placed): DeliveryContext {
  const { integrationId, isFirst } = work;
  const context = { ...newDelivery, integrationId, mayRaise: isFirst, effects: 1 };
  if (row.state !== "working") update(turn, row, { state: "working" });
  startEvaluation(turn, context);
  return context;
}

/** Repeats the lookup when the delivery gets a slot again. */
export function resume({ turn, work, row }: Placed, before: DeliveryContext): DeliveryContext {
  const context = { ...before, mayRaise: work.isFirst, effects: before.effects + 1 };
  startLookup(turn, update(turn, row, { state: "working", reason: null, retryAt: null }), context);
  return context;
}

/** Carries out the next step. */
export function goOn({ turn, progress, row }: Progressed): DeliveryContext {
  const { context, does } = progress;
  store(turn, progress);
  if (does === "evaluate") startEvaluation(turn, context);
  if (does === "look-up") startLookup(turn, row, context);
  if (does === "raise") raiseFirst(turn, row, context);
  if (does === "ready") turn.send(getIntake(turn, context), { type: "delivery.ready", id: turn.self.id });
  return context;
}

/** Frees the slot until the lookup is retried. */
export function wait({ turn, progress, row }: Progressed): DeliveryContext {
  const { context, waitMs } = progress;
  turn.wake("retry", turn.now + waitMs);
  const retryAt = timeText(turn.now + waitMs);
  update(turn, row, { state: "waiting", reason: context.lookupNote, attempts: context.attempt - 1, retryAt });
  releaseSlot(turn, row, false);
  return context;
}

export function askForPlace({ turn }: InTurn, context: DeliveryContext): void {
  turn.send(getIntake(turn, context), { type: "delivery.due", id: turn.self.id });
}

/** Ends the delivery. */
export function end({ turn, progress, row }: Progressed): void {
  const { context, end: ended } = progress;
  store(turn, progress);
  const { skipped } = context;
  if (ended !== null) {
    update(turn, row, { ...ended, skipped, attempts: 0, endedAt: timeText(turn.now) });
    turn.count(deliveryCounters[ended.state]);
  }
  releaseSlot(turn, row, true);
  turn.stop();
}

function getIntake(turn: Turn, { integrationId }: Pick<DeliveryRow, "integrationId">) {
  return deliveryIntakeRef(turn.self.partition, integrationId);
}

function releaseSlot(turn: Turn, row: DeliveryRow, isOver: boolean): void {
  const bytes = row.body?.bytes ?? 0;
  turn.send(getIntake(turn, row), { type: "delivery.left", id: row.id, isOver, bytes });
}

function update(turn: Turn, row: DeliveryRow, changes: Partial<DeliveryRow>): DeliveryRow {
  const updated = { ...row, ...changes };
  deliveries.put(turn, turn.self.partition, row, updated);
  return updated;
}

function store(turn: Turn, { stores, context }: Progress): void {
  const { partition, id } = turn.self;
  if (stores.length > 0) deliveryEntries.put(turn, partition, [id, context.rows], stores);
}

function startEvaluation(turn: Turn, context: DeliveryContext): void {
  const { integrationId, from, captures, units } = context;
  const entriesLeft = Math.max(0, MAX_ENTRIES - toCount(context));
  const input = { integrationId, deliveryId: turn.self.id, from, captures, units, entriesLeft };
  turn.start(EVALUATION.request(String(context.effects), input));
}

function startLookup(turn: Turn, row: DeliveryRow, context: DeliveryContext): void {
  const { teamId, block } = row;
  const { integrationId, lookup, effects } = context;
  if (lookup === null) throw new Error(`nothing is to be looked up for ${turn.self.id}`);
  startIntegrationRequest(turn, String(effects), {
    teamId,
    integrationId,
    after: null,
    actsAs: { kind: "team" },
    block: { kind: "lookup", source: block, event: lookup.place.event },
    values: lookup.values,
    bodyDigest: toSharedBody(turn, row),
    timeoutMs: LOOKUP_TIMEOUT_MS,
    again: "after-a-crash",
    lane: "background",
  });
}

/**
 * Raises the first entry. If the integration was removed, the message has the integration's id in place of the
 * integration's key.
 */
function raiseFirst(turn: Turn, row: DeliveryRow, { integrationId, entries }: DeliveryContext): void {
  const { partition, id } = turn.self;
  const [entry] = entries;
  if (entry === undefined || !("raise" in entry)) throw new Error(`${id} has nothing to raise`);
  const { fields } = findResource<IntegrationFields>(turn, partition, "integration", integrationId) ?? {};
  const { attaches, unrouted: _unrouted, note: _note, ...raise } = entry.raise;
  const message: RaiseTask = {
    type: "task.raise",
    deliveryId: id,
    key: toRaiseKey(id, entry),
    ...raise,
    integration: { id: integrationId, key: fields?.integration ?? integrationId },
    attaches: attaches === null ? null : toRaisedFiles(turn, row, { event: entry.event, ...attaches }),
    causes: row.causes,
    answerTo: deliveryRef(partition, id),
  };
  turn.send(teamMarksRef(partition, row.teamId), message);
}

type EvaluatedFiles = NonNullable<Extract<EvaluatedEntry, { readonly raise: unknown }>["raise"]["attaches"]>;

function toRaisedFiles(
  turn: Turn,
  row: DeliveryRow,
  { event, values, files, left = 0 }: EvaluatedFiles & { readonly event: number },
): RaisedFiles {
  const seen = { values: toMessageText(turn, values), bodyDigest: toSharedBody(turn, row) };
  return { source: row.block, event, ...seen, files, left };
}

/**
 * Stores the delivery's body so that other actors can read it. Returns the body's digest, or null if the body was
 * dropped.
 */
function toSharedBody(turn: Turn, row: DeliveryRow): string | null {
  const body = shareBody(turn, row);
  if (body !== row.body) update(turn, row, { body });
  return body?.digest ?? null;
}

/** Returns the text for a message: short text unchanged, long text as a reference to a blob that stores it. */
function toMessageText(turn: Turn, text: string): StoredText {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_TEXT_IN_ROW_BYTES) return text;
  return { digest: holdBlob(turn, turn.self.partition, bytes), length: bytes.length };
}
