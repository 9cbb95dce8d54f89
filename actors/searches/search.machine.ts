/**
 * A search of a station for a better config, `search/<id>`. Its rows are written with its start; messages are classified
 * before the step (`classify-search.ts`), which decides what the search does next (`rules/decide-next.ts`) as often as it
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
import { assertEvent, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { isRefusal } from "../refusal.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { classifySearch } from "./classify-search.js";
import { searchRef } from "./search.messages.js";
import { putCandidate, stopSearch, takeSteps } from "./search.transitions.js";
import type { SearchEvent } from "./search-events.js";
import { removeSearch } from "./search-removal.js";
import { lookAgain } from "./search-replays.js";
import { startSearch } from "./start-search.js";

/** Transitions of every state. */
const always = {
  "start.repeated": { actions: "answerStart" },
  "stop.refused": { actions: "refuse" },
  "search.forget": { actions: "remove" },
  "search.other": { actions: "ignore" },
} as const;

/** Transitions of the states after the start. */
const started = {
  ...always,
  "candidate.measured": { actions: "measure" },
  "stop.repeated": { actions: "answerStop" },
} as const;

/** Transitions of the states in which it is under way. */
const underWay = {
  ...started,
  "steps.searching": { target: "searching", actions: "takeSteps" },
  "steps.holding-out": { target: "holding-out", actions: "takeSteps" },
  "steps.finished": { target: "finished", actions: "takeSteps" },
  "steps.stopped": { target: "stopped", actions: "takeSteps" },
  "replay.looked-at": { actions: "lookAgain" },
  "search.stop": { target: "stopped", actions: "stop" },
} as const;

const createMachine = (judging: ReplayJudging) =>
  setup({
    types: { events: {} as Delivered<SearchEvent> },
    actions: {
      start: ({ event }) => {
        assertEvent(event, "search.starts");
        const answer = startSearch({ ...event, type: "search.start" }, event.start, judging);
        event.turn.reply(answer);
        if (isRefusal(answer)) event.turn.stop();
      },
      takeSteps: ({ event }) => {
        assertEvent(event, [
          "steps.seeding",
          "steps.searching",
          "steps.holding-out",
          "steps.finished",
          "steps.stopped",
        ]);
        takeSteps(event.turn, event.taken);
      },
      measure: ({ event }) => {
        assertEvent(event, "candidate.measured");
        putCandidate(event.turn, event.change);
      },
      lookAgain: ({ event }) => {
        assertEvent(event, "replay.looked-at");
        lookAgain(event.turn, event);
      },
      stop: ({ event }) => {
        assertEvent(event, "search.stop");
        stopSearch(event);
      },
      refuse: ({ event }) => {
        assertEvent(event, ["start.refused", "stop.refused"]);
        event.turn.reply(event.refusal);
      },
      answerStart: ({ event }) => {
        assertEvent(event, "start.repeated");
        event.turn.reply(event.answer);
      },
      answerStop: ({ event }) => {
        assertEvent(event, "stop.repeated");
        event.turn.reply({ replayed: true });
      },
      remove: ({ event }) => removeSearch(event.turn),
      leave: ({ event }) => event.turn.stop(),
      ignore: () => undefined,
    },
  }).createMachine({
    id: "search",
    initial: "new",
    states: {
      new: {
        on: {
          ...always,
          "search.starts": { target: "seeding", actions: "start" },
          "start.refused": { target: "new", actions: ["refuse", "leave"] },
          "start.repeated": { target: "new", actions: ["answerStart", "leave"] },
          "stop.refused": { target: "new", actions: ["refuse", "leave"] },
          "search.other": { target: "new", actions: "leave" },
        },
      },
      seeding: { on: { ...underWay, "steps.seeding": { actions: "takeSteps" } } },
      searching: { on: underWay },
      "holding-out": { on: underWay },
      finished: { on: started },
      stopped: { on: started },
    },
  });

/** See the table above; `judging` is what scores the copies of its replays. */
export function searchActor(judging: ReplayJudging): ActorType {
  return defineActor(searchRef, { machine: createMachine(judging), classify: classifySearch(judging), version: 1 });
}
