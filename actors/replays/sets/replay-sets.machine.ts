/**
 * The replay sets of a team, `replay-sets/<team>`: the only writer of the team's sets and their entries. As the only
 * writer, the actor ensures that at most one set guards changes of a station, and that sets and teams stay within their
 * limits.
 *
 * | state | moved by                                | next | also                                             |
 * |-------|-----------------------------------------|------|--------------------------------------------------|
 * | open  | set.open, .rename, .delete              | open | writes the set's row; `delete` also removes its  |
 * |       |                                         |      | entries and replays                              |
 * | open  | entry.add, .remove                      | open | writes entries, their pins and the set's version |
 * | open  | guard.mark                              | open | writes the mark and a change record              |
 * | open  | any of these, if it is not permitted or | open | answers with a refusal                           |
 * |       | not possible                            |      |                                                  |
 * | open  | replay.start                            | open | starts a replay, and a baseline if there is      |
 * |       |                                         |      | none. If the set is full, tells replays to       |
 * |       |                                         |      | remove themselves                                |
 * | open  | replay.finished                         | open | starts a replay with the answer, if there are    |
 * |       |                                         |      | answers                                          |
 * | open  | commits.hold                            | open | holds commits of entries of an earlier release   |
 * | open  | sets.dissolve, woken `dissolve`         | open | removes one set per turn, until none is left     |
 * | open  | woken `forget <set>`                    | open | removes more replays of a removed set            |
 *
 * The actor has no state besides the rows. It stops when the team's last set and last replay are gone.
 */
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { createChart, type InTurn, type NoContext } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Turn, Woken } from "../../../runtime/turns/turn.js";
import type { ReplayJudging } from "../judging/model-terms.js";
import { startOracle } from "../oracle/start-oracle.js";
import { replays } from "../replay/replay.table.js";
import { startReplay } from "../starting/start-replay.js";
import { addEntries } from "./add-entries.js";
import { holdDueCommits } from "./entry-commits.js";
import { type ReplaySetMessage, replaySetsRef } from "./replay-set.messages.js";
import { removeSet, replaySets } from "./replay-set.table.js";
import { deleteSet, markGuard, openSet, removeRun, renameSet } from "./replay-set.transitions.js";
import { forgetReplays, toRemovedSet } from "./set-removal.js";

const { on, machine } = createChart<NoContext, ReplaySetMessage | Woken>();

const createMachine = (judging: ReplayJudging) =>
  machine({
    id: "replay-sets",
    initial: "open",
    states: {
      open: {
        on: {
          ...on("set.open", (event) => event.turn.reply(openSet(event)), endWhenEmpty),
          ...on("set.rename", (event) => event.turn.reply(renameSet(event)), endWhenEmpty),
          ...on("set.delete", (event) => event.turn.reply(deleteSet(event)), endWhenEmpty),
          ...on("entry.add", (event) => event.turn.reply(addEntries(event)), endWhenEmpty),
          ...on("entry.remove", (event) => event.turn.reply(removeRun(event)), endWhenEmpty),
          ...on("guard.mark", (event) => event.turn.reply(markGuard(event)), endWhenEmpty),
          ...on("replay.start", (event) => event.turn.reply(startReplay(event, judging)), endWhenEmpty),
          ...on("replay.finished", ({ turn, replayId }) => startOracle(turn, replayId, judging), endWhenEmpty),
          ...on("commits.hold", ({ turn }) => holdDueCommits(turn), endWhenEmpty),
          ...on("sets.dissolve", ({ turn }) => dissolve(turn), endWhenEmpty),
          ...on("woken", ({ turn, name }) => goOn(turn, name), endWhenEmpty),
        },
      },
    },
  });

/** Defines the replay sets actor (see the table above). `judging` describes how this deployment scores copies. */
export function replaySetsActor(judging: ReplayJudging): ActorType {
  return defineActor(replaySetsRef, { machine: createMachine(judging), version: 1 });
}

function goOn(turn: Turn, wakeUp: string): void {
  const removed = toRemovedSet(wakeUp);
  if (removed === null) dissolve(turn);
  else forgetReplays(turn, removed);
}

function endWhenEmpty({ turn }: InTurn): void {
  if (listSets(turn).length === 0 && listReplays(turn).length === 0) turn.stop();
}

/** Removes one set, and continues with the next in another turn. */
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
