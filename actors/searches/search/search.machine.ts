/**
 * A search for a better config of a station, `search/<id>`. Its start writes its rows. `classifySearch` turns each
 * message into an event before the step. A step takes all actions that `rules/decide-next.ts` decides until the search
 * must wait. If an event's name differs from its message's name, the message follows in brackets.
 *
 * | state       | moved by                                 | next       | also                                      |
 * |-------------|------------------------------------------|------------|-------------------------------------------|
 * | new         | search.starts (search.start)             | seeding    | writes its rows, budget and lane; starts  |
 * |             |                                          |            | the seed's replay; writes a change record |
 * | new         | start.refused (search.start)             | new        | answers with the refusal; stores nothing  |
 * | any         | start.repeated (search.start with a      | same       | repeats the answer                        |
 * |             | key that was used before)                |            |                                           |
 * | seeding,    | steps.<state> (replay.moved, woken       | that state | stores figures of ended replays; starts   |
 * | searching,  | `go-on`, candidates.admitted,            |            | replays or an iteration, holds out, or    |
 * | holding-out | iteration.over, station.left)            |            | ends                                      |
 * | seeding,    | replay.looked-at (woken `idle <id>`)     | same       | ends a replay if no runner claimed a copy |
 * | searching,  |                                          |            | for a day                                 |
 * | holding-out |                                          |            |                                           |
 * | seeding,    | search.stop                              | stopped    | withdraws its agent's run, ends its       |
 * | searching,  |                                          |            | replays, and writes a change record for a |
 * | holding-out |                                          |            | caller                                    |
 * | any but new | candidate.measured (replay.moved)        | same       | stores figures with the judged pairs      |
 * | any         | stop.refused (search.stop)               | same       | answers with the refusal                  |
 * | any but new | stop.repeated (search.stop with a key    | same       | repeats the answer                        |
 * |             | that was used before)                    |            |                                           |
 * | any         | search.forget                            | gone       | removes its rows, iterations, candidates  |
 * | any         | search.other (replay.moved, station.left | same       |                                           |
 * |             | and others that change nothing)          |            |                                           |
 *
 * `seeding` leads to any other state, `searching` to any but `seeding`, `holding-out` to itself and the end states.
 *
 * 1. One turn starts work and writes the rows for it, so every commit contains exactly the work in progress.
 * 2. A replay starts when the free part of the ceiling covers the replay's allotment. The replay's copies start until
 * the search's budget is full (`../../replays/budget/search-budget.ts`).
 * 3. After the search ends, none of its runs is queued or running. If the search finished, pairs may still be judged.
 * 4. If the station has the maximum number of searches, a start tells the oldest search to remove itself
 * (`search-quota.ts`).
 */
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { createChart, type InTurn, type NoContext, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { TurnReading, Woken } from "../../../runtime/turns/turn.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import type { ReplayJudging } from "../../replays/judging/model-terms.js";
import type { ReplayMoved } from "../../replays/replay/replay.messages.js";
import { refusePlanner } from "../../replays/sets/replay-set.queries.js";
import { findRequestBefore } from "../../resources/repeated-request.js";
import { type Measuring, measureEnds, measurePairs } from "../candidates/ended-figures.js";
import { findIdleness, listReplays, lookAgain, toIdleReplay } from "../candidates/search-replays.js";
import { planSteps } from "../iterations/plan-steps.js";
import { canPropose } from "../rules/decide-next.js";
import { reflectionOutcome } from "../rules/reflection.js";
import { answerStart, prepareSearch } from "../starting/start-search.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "./search.js";
import { type SearchMessage, type StartSearch, type StopSearch, searchRef } from "./search.messages.js";
import { searches } from "./search.table.js";
import { putCandidate, type RowChange, removeSearch, stopSearch, takeSteps } from "./search.transitions.js";
import { findFailures, readScene, type SearchScene, toSnapshot } from "./search-snapshot.js";

const OTHER = toEvent("search.other");

/**
 * Returns a function that finds the event for each message to a search. The function only reads. `judging` describes
 * how replays are scored.
 */
function classifySearch(judging: ReplayJudging) {
  return (message: SearchMessage | Woken, _state: unknown, turn: TurnReading) => {
    const search = searches.get(turn, turn.self.partition, turn.self.id);
    switch (message.type) {
      case "search.start":
        return toStart(turn, message, judging);
      case "search.stop":
        return toStop(turn, search, message);
      case "search.forget":
        return message;
      case "replay.moved":
        return search === undefined ? OTHER : toMoved(turn, search, message, judging);
      case "woken":
        return search === undefined ? OTHER : toWoken(turn, search, message, judging);
      case "candidates.admitted":
      case "iteration.over":
      case "station.left":
        return search === undefined ? OTHER : toSteps(turn, search, judging);
      // No transition handles a message of an unknown type.
      default:
        return message;
    }
  };
}

function toStart(turn: TurnReading, message: StartSearch, judging: ReplayJudging) {
  const found = prepareSearch(turn, message, judging);
  if (found.outcome === "starts") return toEvent("search.starts", { ...message, start: found.start, judging });
  if (found.outcome === "refused") return toEvent("start.refused", { ...message, refusal: found.refusal });
  return toEvent("start.repeated", { ...message, answer: found.answer });
}

function toStop(turn: TurnReading, search: SearchRow | undefined, message: StopSearch) {
  const refuse = (refusal: Refusal) => toEvent("stop.refused", { ...message, refusal });
  if (search === undefined) return refuse(notFound(turn));
  const refusal = message.caller && refusePlanner(turn, message.caller, search.teamId);
  if (refusal !== null) return refuse(refusal);
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  if (before !== null) return toEvent("stop.repeated", message);
  return isSearchUnderWay(search) ? message : refuse(ended);
}

const ended: Refusal = { refused: "conflict", detail: "The search has ended." };

function notFound(turn: TurnReading): Refusal {
  return { refused: "not-found", detail: `Search ${turn.self.id} not found.` };
}

function toMoved(turn: TurnReading, search: SearchRow, { replayId, what }: ReplayMoved, judging: ReplayJudging) {
  if (what === "settled") return OTHER;
  if (what !== "judged") return toSteps(turn, search, judging);
  const scene = readScene(turn, search);
  const before = scene.candidates.find((candidate) => listReplays(candidate).includes(replayId));
  if (before === undefined || before.seed || before.replayEnded === null) return OTHER;
  return toEvent("candidate.measured", { change: { before, after: measurePairs(toMeasuring(turn, scene), before) } });
}

function toWoken(turn: TurnReading, search: SearchRow, { name }: Woken, judging: ReplayJudging) {
  const replayId = toIdleReplay(name);
  if (replayId === null) return toSteps(turn, search, judging);
  const found = isSearchUnderWay(search) ? findIdleness(turn, replayId) : null;
  if (found === null) return OTHER;
  return toEvent("replay.looked-at", { replayId, againMs: found === "idle" ? null : found });
}

/** Computes the results that the search waited for, and its next steps. */
function toSteps(turn: TurnReading, search: SearchRow, judging: ReplayJudging) {
  if (!isSearchUnderWay(search)) return OTHER;
  const scene = readScene(turn, search);
  const measured = measureScene(turn, scene);
  const reflected = closeReflection(turn, measured, judging);
  const snapshot = toSnapshot(turn, reflected, judging);
  const { steps, leads } = planSteps(snapshot, () => findFailures(turn, reflected).length > 0);
  const candidates = listChanges(scene.candidates, reflected.candidates);
  const iterations = listChanges(scene.iterations, reflected.iterations);
  return toEvent(`steps.${leads}`, { candidates, iterations, steps });
}

function listChanges<Row>(before: readonly Row[], after: readonly Row[]): RowChange<Row>[] {
  return before.flatMap((row, index) => {
    const now = after[index];
    return now === undefined || now === row ? [] : [{ before: row, after: now }];
  });
}

function toMeasuring(turn: TurnReading, { search, input }: SearchScene): Measuring {
  return { reading: turn, workspaceId: turn.self.partition, search, input };
}

/** Returns the scene after adding the ends and figures of replays that ended. */
function measureScene(turn: TurnReading, scene: SearchScene): SearchScene {
  const measuring = toMeasuring(turn, scene);
  return { ...scene, candidates: scene.candidates.map((candidate) => measureEnds(measuring, candidate)) };
}

/** Returns the scene with the outcome of a reflection that has ended. */
function closeReflection(turn: TurnReading, scene: SearchScene, judging: ReplayJudging): SearchScene {
  const close = (row: SearchIterationRow): SearchIterationRow => {
    const { reflection, state } = row;
    if (reflection === null || reflection.outcome !== null || state === "wanted" || state === "running") return row;
    const { tasks, causes } = reflection;
    const canGoOn = canPropose(toSnapshot(turn, scene, judging));
    const outcome = reflectionOutcome({ tasks: tasks.length, ran: state === "ended", causes, canGoOn });
    return { ...row, reflection: { ...reflection, outcome } };
  };
  return { ...scene, iterations: scene.iterations.map(close) };
}

const { on, machine } = createChart<NoContext, ReturnType<ReturnType<typeof classifySearch>>>();

/** Transitions of every state. */
const always = {
  ...on("start.repeated", ({ turn, answer }) => turn.reply(answer)),
  ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("search.forget", ({ turn }) => removeSearch(turn)),
  ...on("search.other"),
};

/** Transitions of the states after the start. */
const started = {
  ...always,
  ...on("candidate.measured", ({ turn, change }) => putCandidate(turn, change)),
  ...on("stop.repeated", ({ turn }) => turn.reply({ replayed: true })),
};

/** Transitions of the states in which the search is running. */
const underWay = {
  ...started,
  ...on("steps.searching", "searching", (event) => takeSteps(event.turn, event)),
  ...on("steps.holding-out", "holding-out", (event) => takeSteps(event.turn, event)),
  ...on("steps.finished", "finished", (event) => takeSteps(event.turn, event)),
  ...on("steps.stopped", "stopped", (event) => takeSteps(event.turn, event)),
  ...on("replay.looked-at", (event) => lookAgain(event.turn, event)),
  ...on("search.stop", "stopped", stopSearch),
};

const searchMachine = machine({
  id: "search",
  initial: "new",
  states: {
    new: {
      on: {
        ...always,
        ...on("search.starts", "seeding", (event) => answerStart(event, event.start, event.judging)),
        ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal), stopActor),
        ...on("start.repeated", ({ turn, answer }) => turn.reply(answer), stopActor),
        ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal), stopActor),
        ...on("search.other", stopActor),
      },
    },
    seeding: { on: { ...underWay, ...on("steps.seeding", (event) => takeSteps(event.turn, event)) } },
    searching: { on: underWay },
    "holding-out": { on: underWay },
    finished: { on: started },
    stopped: { on: started },
  },
});

function stopActor({ turn }: InTurn): void {
  turn.stop();
}

/** Defines the search actor (see the table above). `judging` describes how this deployment scores copies. */
export function searchActor(judging: ReplayJudging): ActorType {
  return defineActor(searchRef, { machine: searchMachine, classify: classifySearch(judging), version: 1 });
}
