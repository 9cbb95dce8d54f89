/**
 * A replay of a set, `replay/<id>`: it repeats each run of the set under one config. `replay-plan.ts` writes its rows.
 * `classify` turns each message into an event before the step. If an event's name differs from its message's name, the
 * message follows in brackets.
 *
 * | state          | moved by                           | next        | also                                      |
 * |----------------|------------------------------------|-------------|-------------------------------------------|
 * | new            | replay.begin                       | queued      | sets the limit of its lane                |
 * | queued,running | copies.make (woken `make`)         | same        | makes 50 copies; fills its queue          |
 * | queued         | copies.make-last (woken `make`)    | finished    | none of its runs can be repeated          |
 * | queued,running | copy.taken (run.claimed)           | running     | fills its queue                           |
 * | queued,running | step.on (run.over, purse.moved,    | same        | a copy settles, and is judged if there    |
 * |                | woken `settle`, run.claimed)       |             | is a judge, or waits for another attempt; |
 * |                |                                    |             | fills its queue. At the ceiling, queued   |
 * |                |                                    |             | runs are withdrawn, except those of lost  |
 * |                |                                    |             | copies that may start again               |
 * | queued,running | judging.answered (effect.ended)    | same        | a copy gets its result, or the question   |
 * |                |                                    |             | waits for the model; wakes `settle`       |
 * | queued,running | judging.on (woken `judging`)       | same        | asks the next question                    |
 * | queued,running | step.finished (as step.on)         | finished    | every copy has a result; second looks or  |
 * |                |                                    |             | pairs begin                               |
 * | queued,running | step.over-budget (as step.on)      | over-budget | at the ceiling, when the last running     |
 * |                |                                    |             | copy settles and no lost copy may start   |
 * |                |                                    |             | again; the others never start             |
 * | queued,running | replay.stop, also for replay.end   | stopped     | withdraws its runs, ends its judging, and |
 * |                |                                    |             | writes a change record for a caller       |
 * | finished       | judging.answered, judging.on       | same        | second judgings and readings of pairs     |
 * | finished       | judging.end (replay.end)           | same        | its judging ends                          |
 * | finished       | recheck.over (run.over)            | same        | a second check ends                       |
 * | finished       | counterpart.ended                  | same        | pairs begin                               |
 * | finished,      | step.on (run.over)                 | same        | a copy that ran at the stop settles       |
 * | stopped,       |                                    |             |                                           |
 * | over-budget    |                                    |             |                                           |
 * | finished,      | copies.make (woken `make`)         | same        | makes 50 copies, which never start        |
 * | stopped,       |                                    |             |                                           |
 * | over-budget    |                                    |             |                                           |
 * | any            | stop.refused (replay.stop)         | same        | answers with the refusal                  |
 * | any but new    | stop.repeated (replay.stop with a  | same        | repeats the answer                        |
 * |                | key that was used before)          |             |                                           |
 * | any            | replay.forget                      | removing    | removes its row, withdraws its runs       |
 * | removing       | copies.remove (woken `remove`)     | removing    | removes 50 copies with their runs; stops  |
 * |                |                                    |             | when none is left                         |
 * | any            | replay.other (run.began, .asking,  | same        |                                           |
 * |                | note, or of another run)           |             |                                           |
 *
 * 1. A copy changes in the same turn as the counts and sums of the replay's row.
 * 2. At most 20 of its copies wait for a runner. At the ceiling, only the runs of lost copies that already count their
 * share stay queued (`replay-ceiling.ts`). After the end, no copy is queued.
 * 3. Each run that the replay queued for a copy is the copy's newest attempt, or lost, or withdrawn and forgotten.
 * 4. A turn that gives copies results, ends the replay, completes its judging (other than by `judging.end`) or removes
 * the replay notifies the replay's watchers with `replay.moved`.
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../../runtime/effects/effect-type.js";
import type { EffectEnded, Turn, TurnReading, Woken } from "../../../runtime/turns/turn.js";
import { MODEL_EFFECT } from "../../outbound/models/model.effects.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findRequestBefore } from "../../resources/repeated-request.js";
import type { RunClaimed, RunOver } from "../../runs/run.messages.js";
import { runs } from "../../runs/run.table.js";
import { mayStart } from "../budget/replay-ceiling.js";
import { findBudgetLeft } from "../budget/search-budget.js";
import { findCopyOfRun } from "../copies/replay-copy.table.js";
import type { JudgingScene } from "../judging/judging-scene.js";
import { JUDGING_WAKE, type QuestionEnded } from "../judging/look-questions.js";
import type { ModelTerms } from "../judging/model-terms.js";
import {
  goOnJudging,
  takeAnswer,
  takeCounterpartEnded,
  takeRecheckRunOver,
} from "../judging/replay-judging.transitions.js";
import { findRecheckOfRun } from "../judging/replay-recheck.table.js";
import { refusePlanner } from "../sets/replay-set.queries.js";
import type { ReplayContext, ReplayRow } from "./replay.js";
import { type ReplayMessage, replayRef, type StopReplay } from "./replay.messages.js";
import { isUnderWay, replays } from "./replay.table.js";
import {
  applyStep,
  beginRemoval,
  beginReplay,
  COPIES_AT_ONCE,
  endJudging,
  endReplay,
  judgeOn,
  makeCopies,
  releaseWhenJudged,
  removeCopies,
  stopReplay,
  takeCopy,
  wakeUps,
} from "./replay.transitions.js";
import { getReplayInput } from "./replay-input.table.js";
import { countChanges, endAttempt, isComplete, type ReplayStep, stepReplay } from "./replay-step.js";
import { notifyingWatchers } from "./tell-watchers.js";

const OTHER = toEvent("replay.other");

/** Returns the event for each message to a replay. Only reads. */
function classify(
  message: ReplayMessage | EffectEnded | Woken,
  { context }: { readonly context: ReplayContext },
  turn: TurnReading,
) {
  const row = replays.get(turn, turn.self.partition, turn.self.id);
  switch (message.type) {
    case "replay.begin":
    case "replay.forget":
      return message;
    case "woken":
      if (message.name === wakeUps.remove) return toEvent("copies.remove");
      return row === undefined ? OTHER : toWoken(turn, row, { context, name: message.name });
    case "effect.ended":
      return isEffectResult(MODEL_EFFECT, message) && row !== undefined
        ? toEvent("judging.answered", { ended: message })
        : OTHER;
    case "counterpart.ended":
      return row === undefined ? OTHER : message;
    case "run.claimed":
      return row === undefined ? OTHER : toTaken(turn, row, message);
    case "run.over":
      return row === undefined ? OTHER : toStep(turn, row, message);
    case "replay.stop":
      return toStop(turn, row, message);
    case "replay.end":
      return row === undefined ? OTHER : toEnd(row);
    case "purse.moved":
      return row === undefined ? OTHER : toSettled(turn, row);
    case "run.began":
    case "run.asking":
    case "note":
      return OTHER;
    // No transition handles a message of an unknown type.
    default:
      return message;
  }
}

function toWoken(
  turn: TurnReading,
  row: ReplayRow,
  { context, name }: { readonly context: ReplayContext; readonly name: string },
) {
  if (name === JUDGING_WAKE) return toEvent("judging.on");
  if (name !== wakeUps.settle) return toMaking(context, row);
  return toSettled(turn, row);
}

/** Reevaluates the replay when none of its copies changed in this turn. */
function toSettled(turn: TurnReading, row: ReplayRow) {
  if (!isUnderWay(row)) return OTHER;
  const step = stepReplay(turn, row, null);
  return toEvent(`step.${step.leads}`, { step });
}

function toEnd(row: ReplayRow) {
  const stop: StopReplay = { type: "replay.stop", caller: null, client: null };
  return isUnderWay(row) ? stop : toEvent(row.judged ? "replay.other" : "judging.end");
}

function toMaking({ made }: ReplayContext, row: ReplayRow) {
  const isLast = made + COPIES_AT_ONCE >= row.runs * row.repeats;
  return toEvent(isLast && isUnderWay(row) && isComplete(row) ? "copies.make-last" : "copies.make");
}

function toTaken(turn: TurnReading, row: ReplayRow, { runId }: RunClaimed) {
  const copy = findCopyOfRun(turn, turn.self.partition, { replayId: row.id, runId });
  if (copy?.state !== "queued") return OTHER;
  // The search reached its ceiling after this copy was queued. The copy's agent has not started, so withdraw the run.
  if (row.search !== null && !mayStart(row, copy, findBudgetLeft(turn, row))) return toSettled(turn, row);
  const change = { before: copy, after: { ...copy, state: "running" } } as const;
  const counted = countChanges(row, [change]);
  const startedAt = row.startedAt ?? new Date(turn.now).toISOString();
  const step: ReplayStep = { row: { ...counted, startedAt }, changes: [change], withdrawn: [], leads: "on" };
  return toEvent("copy.taken", { step });
}

function toStep(turn: TurnReading, row: ReplayRow, { runId }: RunOver) {
  const { partition } = turn.self;
  const before = findCopyOfRun(turn, partition, { replayId: row.id, runId });
  const run = runs.get(turn, partition, runId);
  const recheck = findRecheckOfRun(turn, partition, { replayId: row.id, runId });
  if (run !== undefined && recheck !== undefined) return toEvent("recheck.over", { run });
  if (run === undefined || (before?.state !== "queued" && before?.state !== "running")) return OTHER;
  const after = endAttempt(row, before, run, getReplayInput(turn, partition, row.id));
  const step = stepReplay(turn, row, { before, after });
  return toEvent(`step.${step.leads}`, { step });
}

function toStop(turn: TurnReading, row: ReplayRow | undefined, message: StopReplay) {
  const refuse = (refusal: Refusal) => toEvent("stop.refused", { ...message, refusal });
  if (row === undefined) return refuse(gone(turn));
  const refusal = message.caller && refusePlanner(turn, message.caller, row.teamId);
  if (refusal !== null) return refuse(refusal);
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  if (before !== null) return toEvent("stop.repeated", message);
  return isUnderWay(row) ? message : refuse(hasEnded);
}

const hasEnded: Refusal = { refused: "conflict", detail: "The replay has ended." };

function gone(turn: TurnReading): Refusal {
  return { refused: "not-found", detail: `Replay ${turn.self.id} not found.` };
}

/**
 * Classifies like {@link classify}, and adds the judge model's terms to each event. `terms` is null without a model.
 */
function classifyWith(terms: ModelTerms | null) {
  return (...given: Parameters<typeof classify>) => ({ ...classify(...given), terms });
}

const { on, machine } = createChart<ReplayContext, ReturnType<ReturnType<typeof classifyWith>>>();

/** Each transition receives the turn and the judge model's terms. */
interface Judged {
  readonly turn: Turn;
  readonly terms: ModelTerms | null;
}

/** Transitions of every state after the start, except `removing`. */
const always = {
  ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("stop.repeated", ({ turn }) => turn.reply({ replayed: true })),
  ...on("replay.forget", "removing", ({ turn }) => beginRemoval(turn)),
  ...on("replay.other"),
};

/** Transitions of the states in which the replay runs copies. */
const underWay = {
  ...always,
  ...on("copies.make", ({ turn }, context) => makeCopies(turn, context)),
  ...on("copy.taken", "running", ({ turn, step }, context) => takeCopy(turn, context, step)),
  ...on("step.on", takeStep),
  ...on("judging.answered", judgeAnswer),
  ...on("judging.on", judgeNext),
  ...on("step.finished", "finished", takeStep, finish),
  ...on("step.over-budget", "over-budget", takeStep, (event) =>
    notifyingWatchers(event.turn, () => endReplay(toScene(event), "over-budget")),
  ),
  ...on("replay.stop", "stopped", (event) => notifyingWatchers(event.turn, () => stopReplay(event, event.terms))),
};

/** Transitions of the end states. */
const ended = {
  ...always,
  ...on("copies.make", ({ turn }, context) => makeCopies(turn, context)),
  ...on("step.on", takeStep),
  ...on("judging.answered", judgeAnswer, release),
  ...on("judging.on", judgeNext, release),
  ...on("judging.end", (event) => endJudging(toScene(event))),
  ...on(
    "recheck.over",
    (event) => notifyingWatchers(event.turn, () => takeRecheckRunOver(toScene(event), event.run)),
    release,
  ),
  ...on(
    "counterpart.ended",
    (event) => notifyingWatchers(event.turn, () => takeCounterpartEnded(toScene(event))),
    release,
  ),
};

const replayMachine = machine({
  id: "replay",
  context: { made: 0, next: 0, back: [] },
  initial: "new",
  states: {
    new: {
      on: {
        ...on("replay.begin", "queued", ({ turn }) => beginReplay(turn)),
        ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal), stopActor),
        ...on("replay.forget", "removing", ({ turn }) => beginRemoval(turn)),
        ...on("replay.other", stopActor),
      },
    },
    queued: {
      on: {
        ...underWay,
        ...on("copies.make-last", "finished", ({ turn }, context) => makeCopies(turn, context), finish),
      },
    },
    running: { on: underWay },
    finished: { on: ended },
    stopped: { on: ended },
    "over-budget": { on: ended },
    removing: {
      on: {
        ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal)),
        ...on("replay.forget"),
        ...on("replay.other"),
        ...on("copies.remove", ({ turn }) => removeCopies(turn)),
      },
    },
  },
});

function takeStep(event: Judged & { readonly step: ReplayStep }, context: ReplayContext): ReplayContext {
  return notifyingWatchers(event.turn, () => applyStep(toScene(event), context, event.step));
}

function judgeAnswer(event: Judged & { readonly ended: QuestionEnded }): void {
  const scene = toScene(event);
  notifyingWatchers(event.turn, () => judgeOn(scene, () => takeAnswer(scene, event.ended)));
}

function judgeNext(event: Judged): void {
  const scene = toScene(event);
  notifyingWatchers(event.turn, () => judgeOn(scene, () => goOnJudging(scene)));
}

function finish(event: Judged): void {
  notifyingWatchers(event.turn, () => endReplay(toScene(event), "finished"));
}

function release({ turn }: Judged): void {
  releaseWhenJudged(turn);
}

function stopActor({ turn }: Judged): void {
  turn.stop();
}

function toScene({ turn, terms }: Judged): JudgingScene {
  return { turn, terms, replayId: turn.self.id };
}

/** Defines the replay actor (see the table above). `terms` describe the model that judges; null for none. */
export function replayActor(terms: ModelTerms | null) {
  return defineActor(replayRef, { machine: replayMachine, classify: classifyWith(terms), version: 1 });
}
