import type { Delivered, Turn } from "../../runtime/turns/turn.js";
import { runners } from "../runners/runner.table.js";
import type { ArchiveRefusal, ArchiveRow } from "./archive.js";
import { wantedTopic } from "./archive.messages.js";
import { archiveCounters } from "./archive.queries.js";
import { archiveChunks, archiveHolds, archives, archiveUsage, TOTAL_BYTES } from "./archive.table.js";
import { type ArchiveContext, type ArchiveEvent, toDeadline } from "./classify-archive.js";
import { NO_CHUNKS, type Pack } from "./pack.js";

/** The transition functions of an archive. `archive.machine.ts` defines when they apply. */

type EventOf<Type extends ArchiveEvent["type"]> = Delivered<Extract<ArchiveEvent, { readonly type: Type }>>;

const MINUTE_MS = 60_000;
/** Waits between requests to runners for a pending commit, in milliseconds. The last wait repeats. */
const ASK_AGAIN_MS = [1, 5, 10, 30, 60].map((minutes) => minutes * MINUTE_MS);
/** Interval between checks of a commit that a branch holds, in milliseconds. */
const LOOK_AGAIN_MS = 6 * 60 * MINUTE_MS;
/** Time limit for a runner's silence after it took a commit, in milliseconds. A fetch or a pack may take minutes. */
const SILENT_MS = 15 * MINUTE_MS;
/** Maximum number of runners to read when choosing the next one. */
const MAX_RUNNERS = 1_000;

export function beginArchive(event: EventOf<"archive.hold">): ArchiveContext {
  const { turn, repository, commit } = event;
  const row: ArchiveRow = {
    id: turn.self.id,
    repository,
    commit,
    standing: "pending",
    refusal: null,
    pendingSinceMs: turn.now,
    pack: null,
  };
  archives.insert(turn, turn.self.partition, row);
  hold(event);
  return { asked: ask(turn, row, 0), runnerId: null, received: 0, chain: NO_CHUNKS };
}

export function hold({ turn, holder }: EventOf<"archive.hold">): void {
  archiveHolds.put(turn, turn.self.partition, [turn.self.id, holder], true);
}

export function unhold({ turn, holder }: EventOf<"archive.unheld">): void {
  archiveHolds.remove(turn, turn.self.partition, turn.self.id, holder);
}

/** Removes the archive's last hold, its pack and its row. */
export function releaseHold({ turn, holder, row }: EventOf<"archive.let-go">, context: ArchiveContext): ArchiveContext {
  const { partition, id } = turn.self;
  archiveHolds.remove(turn, partition, id, holder);
  const next = removePack(turn, row, context);
  archives.remove(turn, partition, row);
  turn.stop();
  return next;
}

/** Asks runners again for a commit that a branch held earlier. */
export function lookNow({ turn, row }: EventOf<"archive.doubted">, context: ArchiveContext): ArchiveContext {
  return { ...context, asked: ask(turn, toPending(turn, row), 0) };
}

export function take({ turn, runnerId }: EventOf<"archive.take">, context: ArchiveContext): ArchiveContext {
  turn.cancelWake("ask");
  turn.wake("silent", turn.now + SILENT_MS);
  turn.reply({ taken: true });
  return { ...context, runnerId };
}

/**
 * Answers a repeated request of the runner that sent the pack. The pack is stored, so the runner need not send
 * anything.
 */
export function takeAgain({ turn }: EventOf<"take.repeated">): void {
  turn.reply({ taken: true });
}

export function noteServed({ turn, row }: EventOf<"found.on-branch">, context: ArchiveContext): ArchiveContext {
  const next = removePack(turn, row, context);
  putRow(turn, row, { standing: "served", refusal: null, pendingSinceMs: null, pack: null });
  turn.cancelWake("silent");
  turn.wake("ask", turn.now + LOOK_AGAIN_MS);
  turn.reply({ reported: true });
  return { ...next, runnerId: null, asked: 0 };
}

export function missing({ turn, row }: EventOf<"found.nowhere">, context: ArchiveContext): ArchiveContext {
  turn.cancelWake("silent");
  turn.reply({ reported: true });
  return awaitRunners(turn, toPending(turn, row), context);
}

export function refuseTooLarge({ turn, row }: EventOf<"found.too-large">, context: ArchiveContext): ArchiveContext {
  turn.cancelWake("silent");
  turn.reply({ reported: true });
  return refuseForGood(turn, row, context, "archive-too-large");
}

export function beginPack({ turn, row, pack }: EventOf<"pack.begun">, context: ArchiveContext): ArchiveContext {
  const next = removePack(turn, row, context);
  addUsage(turn, pack.bytes);
  toPending(turn, row, pack);
  turn.wake("silent", turn.now + SILENT_MS);
  turn.reply({ received: 0 });
  return next;
}

export function resumePack({ turn }: EventOf<"pack.resumed">, { received }: ArchiveContext): void {
  turn.wake("silent", turn.now + SILENT_MS);
  turn.reply({ received });
}

export function refuseUnfit({ turn, row, why }: EventOf<"pack.unfit">, context: ArchiveContext): ArchiveContext {
  turn.cancelWake("silent");
  const next = removePack(turn, row, context);
  const pending = toPending(turn, row, null);
  turn.reply({ refused: "conflict", detail: why });
  return awaitRunners(turn, putRow(turn, pending, { refusal: "archives-full" }), next);
}

export function storeChunk(
  { turn, n, chunk, chain }: EventOf<"chunk.next" | "chunk.last">,
  context: ArchiveContext,
): ArchiveContext {
  archiveChunks.put(turn, turn.self.partition, [turn.self.id, n], chunk);
  turn.wake("silent", turn.now + SILENT_MS);
  turn.reply({ received: n + 1 });
  return { ...context, received: n + 1, chain };
}

export function storePack({ turn, row }: EventOf<"chunk.last">): void {
  turn.cancelWake("silent");
  turn.count(archiveCounters.kept);
  putRow(turn, row, { standing: "kept", refusal: null, pendingSinceMs: null });
}

export function repeated({ turn }: EventOf<"chunk.repeated" | "pack.resumed">, { received }: ArchiveContext): void {
  turn.reply({ received });
}

export function dropFalsePack({ turn, row, why }: EventOf<"chunk.false">, context: ArchiveContext): ArchiveContext {
  turn.cancelWake("silent");
  const next = removePack(turn, row, context);
  turn.reply({ refused: "conflict", detail: `The upload is not the expected pack: ${why}.` });
  return awaitRunners(turn, putRow(turn, row, { pack: null }), next);
}

/** Stops waiting for the silent runner. The stored chunks stay, so that this runner can continue its upload later. */
export function runnerSilent({ turn, row }: EventOf<"runner.silent">, context: ArchiveContext): ArchiveContext {
  return awaitRunners(turn, row, context);
}

export function askAgain({ turn, row }: EventOf<"asked.again">, context: ArchiveContext): ArchiveContext {
  return { ...context, asked: ask(turn, row, context.asked) };
}

export function endPending({ turn, row }: EventOf<"time.over">, context: ArchiveContext): ArchiveContext {
  return refuseForGood(turn, row, context, row.refusal ?? "commit-gone");
}

export function refuse({ turn, why }: EventOf<"archive.refused">): void {
  turn.reply({ refused: "conflict", detail: `The service does not accept the commit from this runner: ${why}.` });
}

function refuseForGood(turn: Turn, row: ArchiveRow, context: ArchiveContext, refusal: ArchiveRefusal): ArchiveContext {
  const next = removePack(turn, row, context);
  putRow(turn, row, { standing: "refused", refusal, pendingSinceMs: null, pack: null });
  turn.count(archiveCounters.refused);
  return { ...next, runnerId: null };
}

/** Sets the row to pending. If it is not pending yet, the pending time starts now. */
function toPending(turn: Turn, row: ArchiveRow, pack: Pack | null = row.pack): ArchiveRow {
  const pendingSinceMs = row.pendingSinceMs ?? turn.now;
  return putRow(turn, row, { standing: "pending", pendingSinceMs, pack });
}

/** Schedules the next request to runners, and records that no runner is looking for the commit. */
function awaitRunners(turn: Turn, row: ArchiveRow, context: ArchiveContext): ArchiveContext {
  wakeToAsk(turn, row, context.asked);
  return { ...context, runnerId: null };
}

/** Asks the runners for the commit. Returns the number of requests so far, including this one. */
function ask(turn: Turn, row: ArchiveRow, asked: number): number {
  const { id: archiveId, repository, commit } = row;
  const runnerId = nextRunner(turn, asked);
  turn.publishChange(wantedTopic(turn.self.partition), { archiveId, repository, commit, runnerId });
  wakeToAsk(turn, row, asked);
  return asked + 1;
}

function wakeToAsk(turn: Turn, { pendingSinceMs }: ArchiveRow, asked: number): void {
  if (pendingSinceMs === null) return turn.wake("ask", turn.now + LOOK_AGAIN_MS);
  const againMs = turn.now + (ASK_AGAIN_MS[asked] ?? ASK_AGAIN_MS.at(-1) ?? 0);
  return turn.wake("ask", Math.min(againMs, Math.max(turn.now, toDeadline(pendingSinceMs))));
}

/**
 * Returns the runner that should fetch the commit from its repository. The connected runners that can fetch commits
 * take turns. Returns null if there is no such runner. Also returns null in the first round, which is for runners that
 * already have the commit.
 */
function nextRunner(turn: Turn, asked: number): string | null {
  if (asked === 0) return null;
  const able = runners
    .list(turn, turn.self.partition, [], { limit: MAX_RUNNERS })
    .filter(({ connected, features = [] }) => connected && features.includes("commits"));
  return able[(asked - 1) % Math.max(1, able.length)]?.runnerId ?? null;
}

function putRow(turn: Turn, row: ArchiveRow, change: Partial<ArchiveRow>): ArchiveRow {
  const next = { ...row, ...change };
  archives.put(turn, turn.self.partition, row, next);
  return next;
}

/** Deletes the stored chunks of the pack and frees its quota. The caller updates the row. */
function removePack(turn: Turn, { pack }: ArchiveRow, context: ArchiveContext): ArchiveContext {
  const { partition, id } = turn.self;
  for (let n = 0; n < context.received; n++) archiveChunks.remove(turn, partition, id, n);
  if (pack !== null) addUsage(turn, -pack.bytes);
  return { ...context, received: 0, chain: NO_CHUNKS };
}

function addUsage(turn: Turn, bytes: number): void {
  const { partition } = turn.self;
  const taken = (archiveUsage.get(turn, partition, TOTAL_BYTES) ?? 0) + bytes;
  if (taken > 0) archiveUsage.put(turn, partition, [TOTAL_BYTES], taken);
  else archiveUsage.remove(turn, partition, TOTAL_BYTES);
}
