/**
 * The replay sets of a team, `replay-sets/<team>`: the one writer of its sets and their entries, so that of a station at
 * most one set guards changes, and a set and a team hold no more than they may.
 *
 * | state | moved by                                | next    | also                                            |
 * |-------|-----------------------------------------|---------|-------------------------------------------------|
 * | open  | set.open, .rename, .delete              | open    | the set's row; with `delete` its entries        |
 * | open  | entry.add, .remove                      | open    | the entries, their runs' pins, the set's version |
 * | open  | guard.mark                              | open    | the mark, a change record                       |
 * | open  | the same, by who may not, or that cannot | open    | refused                                         |
 * | open  | replay.start                            | open    | the rows of the replay, and of a baseline       |
 * |       |                                         |         | beside it; they begin. The oldest ones of a set  |
 * |       |                                         |         | that has 200 are told to remove themselves      |
 * | open  | replay.finished                         | open    | the rows of a replay with the answer, which     |
 * |       |                                         |         | begins; nothing where there is no answer        |
 * | open  | commits.hold                            | open    | holds commits of entries of an earlier release  |
 * | open  | sets.dissolve, woken `dissolve`         | open    | removes a set a turn, until none is left        |
 * | open  | woken `forget <set>`                    | open    | tells further replays of a removed set          |
 *
 * It has no state but its rows: it ends with the last set and the last replay.
 */
import { assertEvent, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Turn, Woken } from "../../runtime/turn.js";
import { addEntries } from "./add-entries.js";
import { holdDueCommits } from "./entry-commits.js";
import type { ReplayJudging } from "./judging/model-terms.js";
import { startOracle } from "./oracle/start-oracle.js";
import { replays } from "./replay.table.js";
import { type ReplaySetMessage, replaySetsRef } from "./replay-set.messages.js";
import { removeSet, replaySets } from "./replay-set.table.js";
import { deleteSet, markGuard, openSet, removeRun, renameSet } from "./replay-set.transitions.js";
import { forgetReplays, toRemovedSet } from "./set-removal.js";
import { startReplay } from "./start-replay.js";

type ReplaySetEvent = Delivered<ReplaySetMessage | Woken>;

interface ActionArgs {
  readonly event: ReplaySetEvent;
}

/** See the table above; `judging` is what scores the copies of replays. */
export function replaySetsActor(judging: ReplayJudging): ActorType {
  return defineActor(replaySetsRef, { machine: createMachine(judging), version: 1 });
}

const createMachine = (judging: ReplayJudging) =>
  setup({
    types: { events: {} as ReplaySetEvent },
    actions: {
      startReplay: ({ event }: ActionArgs) => {
        assertEvent(event, "replay.start");
        event.turn.reply(startReplay(event, judging));
      },
      startOracle: ({ event }: ActionArgs) => {
        assertEvent(event, "replay.finished");
        startOracle(event.turn, event.replayId, judging);
      },
      openSet: ({ event }: ActionArgs) => {
        assertEvent(event, "set.open");
        event.turn.reply(openSet(event));
      },
      renameSet: ({ event }: ActionArgs) => {
        assertEvent(event, "set.rename");
        event.turn.reply(renameSet(event));
      },
      deleteSet: ({ event }: ActionArgs) => {
        assertEvent(event, "set.delete");
        event.turn.reply(deleteSet(event));
      },
      addEntries: ({ event }: ActionArgs) => {
        assertEvent(event, "entry.add");
        event.turn.reply(addEntries(event));
      },
      removeEntry: ({ event }: ActionArgs) => {
        assertEvent(event, "entry.remove");
        event.turn.reply(removeRun(event));
      },
      markGuard: ({ event }: ActionArgs) => {
        assertEvent(event, "guard.mark");
        event.turn.reply(markGuard(event));
      },
      holdDueCommits: ({ event }: ActionArgs) => holdDueCommits(event.turn),
      dissolve: ({ event }: ActionArgs) => dissolve(event.turn),
      goOn: ({ event }: ActionArgs) => {
        assertEvent(event, "woken");
        const removed = toRemovedSet(event.name);
        if (removed === null) dissolve(event.turn);
        else forgetReplays(event.turn, removed);
      },
      endWhenEmpty: ({ event: { turn } }: ActionArgs) => {
        if (listSets(turn).length === 0 && listReplays(turn).length === 0) turn.stop();
      },
    },
  }).createMachine({
    id: "replay-sets",
    initial: "open",
    states: {
      open: {
        on: {
          "set.open": { target: "open", actions: ["openSet", "endWhenEmpty"] },
          "set.rename": { target: "open", actions: ["renameSet", "endWhenEmpty"] },
          "set.delete": { target: "open", actions: ["deleteSet", "endWhenEmpty"] },
          "entry.add": { target: "open", actions: ["addEntries", "endWhenEmpty"] },
          "entry.remove": { target: "open", actions: ["removeEntry", "endWhenEmpty"] },
          "guard.mark": { target: "open", actions: ["markGuard", "endWhenEmpty"] },
          "replay.start": { target: "open", actions: ["startReplay", "endWhenEmpty"] },
          "replay.finished": { target: "open", actions: ["startOracle", "endWhenEmpty"] },
          "commits.hold": { target: "open", actions: ["holdDueCommits", "endWhenEmpty"] },
          "sets.dissolve": { target: "open", actions: ["dissolve", "endWhenEmpty"] },
          woken: { target: "open", actions: ["goOn", "endWhenEmpty"] },
        },
      },
    },
  });

/** Removes one set, and goes on with the next in another turn. */
function dissolve(turn: Turn): void {
  const [set] = listSets(turn);
  if (set === undefined) return;
  removeSet(turn, set);
  forgetReplays(turn, set.id);
  turn.wake("dissolve", turn.now);
}

function listReplays(turn: Turn) {
  return replays.all(turn, turn.self.partition, { teamId: turn.self.id }, { limit: 1 });
}

function listSets(turn: Turn) {
  return replaySets.all(turn, turn.self.partition, { teamId: turn.self.id }, { limit: 1 });
}
