/**
 * A search of a station for a better config, `search/<id>`. Its rows are written with its start; messages are classified
 * before the step, which decides what the search does next (`rules/decide-next.ts`) as often as it
 * need not wait. Where an event has another name than its message, the message follows in brackets.
 *
 * | state         | moved by                                | next          | also                                      |
 * |---------------|-----------------------------------------|---------------|-------------------------------------------|
 * | new           | search.starts (search.start)            | seeding       | its rows, purse and lane; the seed's      |
 * |               |                                         |               | replay; a change record                   |
 * | new           | start.refused (search.start)            | new           | refused; nothing is stored                |
 * | any           | start.repeated (search.start under a    | same          | answered again                            |
 * |               | key that was taken before)              |               |                                           |
 * | seeding,      | steps.<state> (replay.moved, woken      | that state    | figures of what ended; orders replays,    |
 * | searching,    | `go-on`, candidates.admitted,           |               | starts an iteration, holds out, or ends   |
 * | holding-out   | iteration.over, station.left)           |               |                                           |
 * | the same      | replay.looked-at (woken `idle <id>`)    | same          | ends a replay of which no runner took a   |
 * |               |                                         |               | copy for a day                            |
 * | the same      | search.stop                             | stopped       | its agent's run is withdrawn, its replays |
 * |               |                                         |               | are stopped; a change record              |
 * | any but new   | candidate.measured (replay.moved)       | same          | figures with the pairs that are judged    |
 * | any           | stop.refused (search.stop)              | same          | refused                                   |
 * | any but new   | stop.repeated (search.stop under a key  | same          | answered again                            |
 * |               | that was taken before)                  |               |                                           |
 * | any           | search.forget                           | gone          | its rows, iterations and candidates go    |
 * | any           | search.other (replay.moved, station.left| same          |                                           |
 * |               | and others that change nothing)         |               |                                           |
 *
 * `seeding` leads to any other state, `searching` to any but `seeding`, `holding-out` to itself and the ends.
 *
 * 1. All that it orders, and the rows that say so, are of one turn: at each commit border it is known what is under way.
 * 2. A replay starts when what is free of the ceiling pays what it is allotted, and its copies run while the purse has
 *    room (`../replays/replay-purse.ts`).
 * 3. At its end nothing of it is queued or runs. Of one that finished, pairs may still be judged.
 * 4. A start tells the station's oldest searches to go where there is no room for another (`search-room.ts`).
 */
import type { ActorType } from "../../runtime/actor-type.js";
import { chartOf, type InTurn, type NoContext, toEvent } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { TurnReading, Woken } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import type { ReplayMoved } from "../replays/replay.messages.js";
import { refusePlanner } from "../replays/replay-set.queries.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { type Measuring, measureEnds, measurePairs } from "./ended-figures.js";
import { planSteps } from "./plan-steps.js";
import { canPropose } from "./rules/decide-next.js";
import { reflectionOutcome } from "./rules/reflection.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "./search.js";
import { type SearchMessage, type StartSearch, type StopSearch, searchRef } from "./search.messages.js";
import { searches } from "./search.table.js";
import { putCandidate, type RowChange, removeSearch, stopSearch, takeSteps } from "./search.transitions.js";
import { findFailures, readScene, type SearchScene, toPicture } from "./search-picture.js";
import { findIdleness, lookAgain, replaysOf, toIdleReplay } from "./search-replays.js";
import { answerStart, prepareSearch } from "./start-search.js";

const OTHER = toEvent("search.other");

/** The event of each message to a search; `judging` is what scores its replays. Reads only. */
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
      // No transition takes a message of an unknown type.
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
  const before = scene.candidates.find((candidate) => replaysOf(candidate).includes(replayId));
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

/** What became of what the search waited for, and what it does next. */
function toSteps(turn: TurnReading, search: SearchRow, judging: ReplayJudging) {
  if (!isSearchUnderWay(search)) return OTHER;
  const scene = readScene(turn, search);
  const measured = measureScene(turn, scene);
  const reflected = closeReflection(turn, measured, judging);
  const picture = toPicture(turn, reflected, judging);
  const { steps, leads } = planSteps(picture, () => findFailures(turn, reflected).length > 0);
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

/** With the ends of replays and their figures. */
function measureScene(turn: TurnReading, scene: SearchScene): SearchScene {
  const measuring = toMeasuring(turn, scene);
  return { ...scene, candidates: scene.candidates.map((candidate) => measureEnds(measuring, candidate)) };
}

/** With the outcome of the reflection that ended. */
function closeReflection(turn: TurnReading, scene: SearchScene, judging: ReplayJudging): SearchScene {
  const close = (row: SearchIterationRow): SearchIterationRow => {
    const { reflection, state } = row;
    if (reflection === null || reflection.outcome !== null || state === "wanted" || state === "running") return row;
    const { tasks, causes } = reflection;
    const canGoOn = canPropose(toPicture(turn, scene, judging));
    const outcome = reflectionOutcome({ tasks: tasks.length, ran: state === "ended", causes, canGoOn });
    return { ...row, reflection: { ...reflection, outcome } };
  };
  return { ...scene, iterations: scene.iterations.map(close) };
}

const { on, machine } = chartOf<NoContext, ReturnType<ReturnType<typeof classifySearch>>>();

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

/** Transitions of the states in which it is under way. */
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
        ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal), leave),
        ...on("start.repeated", ({ turn, answer }) => turn.reply(answer), leave),
        ...on("stop.refused", ({ turn, refusal }) => turn.reply(refusal), leave),
        ...on("search.other", leave),
      },
    },
    seeding: { on: { ...underWay, ...on("steps.seeding", (event) => takeSteps(event.turn, event)) } },
    searching: { on: underWay },
    "holding-out": { on: underWay },
    finished: { on: started },
    stopped: { on: started },
  },
});

function leave({ turn }: InTurn): void {
  turn.stop();
}

/** See the table above; `judging` is what scores the copies of its replays. */
export function searchActor(judging: ReplayJudging): ActorType {
  return defineActor(searchRef, { machine: searchMachine, classify: classifySearch(judging), version: 1 });
}
