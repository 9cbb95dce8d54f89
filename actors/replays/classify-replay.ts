import { isResultOf } from "../../runtime/effect-type.js";
import type { TurnReading } from "../../runtime/turn.js";
import { MODEL_EFFECT } from "../outbound/model.effects.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import type { RunClaimed, RunOver } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { JUDGING_WAKE } from "./judging/look-questions.js";
import { findRecheckOfRun } from "./judging/replay-recheck.table.js";
import type { ReplayRow } from "./replay.js";
import type { StopReplay } from "./replay.messages.js";
import { isUnderWay, replays } from "./replay.table.js";
import { mayStart } from "./replay-ceiling.js";
import { findCopyOfRun } from "./replay-copy.table.js";
import type { ReplayContext, ReplayEvent, ReplayIncoming } from "./replay-events.js";
import { getReplayInput } from "./replay-input.table.js";
import { findPurseLeft } from "./replay-purse.js";
import { refusePlanner } from "./replay-set.queries.js";
import { countChanges, endAttempt, isComplete, type ReplayStep, stepReplay } from "./replay-step.js";

/** Copies that are made, or removed, in one turn. */
export const COPIES_AT_ONCE = 50;

/** The names of a replay's wake-ups. */
export const wakeUps = { make: "make", settle: "settle", remove: "remove" } as const;

interface ReplayState {
  readonly context: ReplayContext;
}

/** The event of each message to a replay. Reads only. */
export function classifyReplay(message: ReplayIncoming, { context }: ReplayState, turn: TurnReading): ReplayEvent {
  const row = replays.get(turn, turn.self.partition, turn.self.id);
  switch (message.type) {
    case "replay.begin":
    case "replay.forget":
      return message;
    case "woken":
      if (message.name === wakeUps.remove) return { type: "copies.remove" };
      return row === undefined ? { type: "replay.other" } : toWoken(turn, row, { context, name: message.name });
    case "effect.ended":
      return isResultOf(MODEL_EFFECT, message) && row !== undefined
        ? { type: "judging.answered", ended: message }
        : { type: "replay.other" };
    case "counterpart.ended":
      return row === undefined ? { type: "replay.other" } : message;
    case "run.claimed":
      return row === undefined ? { type: "replay.other" } : toTaken(turn, row, message);
    case "run.over":
      return row === undefined ? { type: "replay.other" } : toStep(turn, row, message);
    case "replay.stop":
      return row === undefined ? { type: "stop.refused", refusal: gone(turn) } : toStop(turn, row, message);
    case "replay.end":
      return row === undefined ? { type: "replay.other" } : toEnd(row);
    case "purse.moved":
      return row === undefined ? { type: "replay.other" } : toSettled(turn, row);
    case "run.began":
    case "run.asking":
    case "note":
      return { type: "replay.other" };
    // No transition takes a message of an unknown type.
    default:
      return message;
  }
}

function toWoken(
  turn: TurnReading,
  row: ReplayRow,
  { context, name }: { readonly context: ReplayContext; readonly name: string },
): ReplayEvent {
  if (name === JUDGING_WAKE) return { type: "judging.on" };
  if (name !== wakeUps.settle) return toMaking(context, row);
  return toSettled(turn, row);
}

/** Looks at it again, though none of its copies changed in this turn. */
function toSettled(turn: TurnReading, row: ReplayRow): ReplayEvent {
  if (!isUnderWay(row)) return { type: "replay.other" };
  const step = stepReplay(turn, row, null);
  return { type: `step.${step.leads}`, step };
}

function toEnd(row: ReplayRow): ReplayEvent {
  if (isUnderWay(row)) return { type: "replay.stop", caller: null, client: null };
  return { type: row.judged ? "replay.other" : "judging.end" };
}

function toMaking({ made }: ReplayContext, row: ReplayRow): ReplayEvent {
  const isLast = made + COPIES_AT_ONCE >= row.runs * row.repeats;
  return { type: isLast && isUnderWay(row) && isComplete(row) ? "copies.make-last" : "copies.make" };
}

function toTaken(turn: TurnReading, row: ReplayRow, { runId }: RunClaimed): ReplayEvent {
  const copy = findCopyOfRun(turn, turn.self.partition, { replayId: row.id, runId });
  if (copy?.state !== "queued") return { type: "replay.other" };
  // The search has spent its ceiling since it was queued: its agent has not begun, and it goes back.
  if (row.search !== null && !mayStart(row, copy, findPurseLeft(turn, row))) return toSettled(turn, row);
  const change = { before: copy, after: { ...copy, state: "running" } } as const;
  const counted = countChanges(row, [change]);
  const startedAt = row.startedAt ?? new Date(turn.now).toISOString();
  const step: ReplayStep = { row: { ...counted, startedAt }, changes: [change], withdrawn: [], leads: "on" };
  return { type: "copy.taken", step };
}

function toStep(turn: TurnReading, row: ReplayRow, { runId }: RunOver): ReplayEvent {
  const { partition } = turn.self;
  const before = findCopyOfRun(turn, partition, { replayId: row.id, runId });
  const run = runs.get(turn, partition, runId);
  const recheck = findRecheckOfRun(turn, partition, { replayId: row.id, runId });
  if (run !== undefined && recheck !== undefined) return { type: "recheck.over", run };
  if (run === undefined || (before?.state !== "queued" && before?.state !== "running")) return { type: "replay.other" };
  const after = endAttempt(row, before, run, getReplayInput(turn, partition, row.id));
  const step = stepReplay(turn, row, { before, after });
  return { type: `step.${step.leads}`, step };
}

function toStop(turn: TurnReading, row: ReplayRow, message: StopReplay): ReplayEvent {
  const refusal = message.caller && refusePlanner(turn, message.caller, row.teamId);
  if (refusal !== null) return { type: "stop.refused", refusal };
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "stop.refused", refusal: before };
  if (before !== null) return { type: "stop.repeated" };
  return isUnderWay(row) ? message : { type: "stop.refused", refusal: ended };
}

const ended: Refusal = { refused: "conflict", detail: "The replay has ended." };

function gone(turn: TurnReading): Refusal {
  return { refused: "not-found", detail: `Replay ${turn.self.id} not found.` };
}
