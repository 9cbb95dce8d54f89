/**
 * The archive of one commit that replay sets need, `archive/<id>`: a pack of the commit and its tree, kept when no branch
 * of its repository holds it. Messages are classified before the step (`classify-archive.ts`). Where an event has another
 * name than its message, the message follows in brackets. "Any" is all but absent.
 *
 * | state          | moved by                         | next    | also                                            |
 * |----------------|----------------------------------|---------|-------------------------------------------------|
 * | absent         | archive.hold                     | wanted  | the row; runners are asked                      |
 * | any            | archive.hold                     | same    | one more needs it                               |
 * | all            | archive.unheld (archive.release) | same    | one less needs it                               |
 * | any            | archive.let-go (archive.release) | absent  | row, pack and room go: nobody needs it          |
 * | served         | archive.doubted (archive.look)   | wanted  | runners are asked at once: a checkout failed    |
 * | all            | archive.doubted, look.needless   | same    | it is looked for, kept, refused or not needed   |
 * | wanted, served | archive.take                     | taken   | that runner looks for it, none else             |
 * | taken          | archive.take                     | taken   | the same runner again                           |
 * | taken          | found.on-branch (archive.report) | served  | nothing is kept; asked again in 6 hours         |
 * | taken          | found.nowhere (archive.report)   | wanted  | the next runner is asked                        |
 * | taken          | found.too-large (archive.report) | refused | `archive-too-large`                             |
 * | taken          | pack.begun (archive.offer)       | taken   | takes its room; an earlier pack goes            |
 * | taken          | pack.resumed (archive.offer)     | taken   | answered with how much is there                 |
 * | taken          | pack.unfit (archive.offer)       | wanted  | refused: no room; asked again                   |
 * | taken          | chunk.next (archive.chunk)       | taken   | the chunk is stored                             |
 * | taken          | chunk.last (archive.chunk)       | kept    | the same; the pack is whole                     |
 * | taken          | chunk.repeated (archive.chunk)   | taken   |                                                 |
 * | taken          | chunk.false (archive.chunk)      | wanted  | refused; all of the pack goes                   |
 * | taken          | runner.silent (woken `silent`)   | wanted  | the next runner is asked; what came stays       |
 * | kept           | take.repeated (archive.take)     | kept    | the runner that sent the pack lost an answer    |
 * | kept           | pack.resumed, chunk.repeated     | kept    | the same: answered with all that is there       |
 * | wanted         | asked.again (woken `ask`)        | wanted  | runners are asked                               |
 * | wanted         | time.over (woken `ask`)          | refused | after 7 days; what came of a pack goes          |
 * | served         | asked.again (woken `ask`)        | served  | runners are asked whether it is still so        |
 * | all            | archive.refused                  | same    | refused: of another runner, out of order, late  |
 */
import type { ActorType } from "../../runtime/actor-type.js";
import { chartOf } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import { archiveRef } from "./archive.messages.js";
import {
  askAgain,
  beginArchive,
  beginPack,
  dropFalsePack,
  endPending,
  hold,
  keepPack,
  letGo,
  lookNow,
  missing,
  noteServed,
  refuse,
  refuseTooLarge,
  refuseUnfit,
  repeated,
  resumePack,
  runnerSilent,
  storeChunk,
  take,
  takeAgain,
  unhold,
} from "./archive.transitions.js";
import { type ArchiveContext, type ArchiveEvent, type ArchiveLimits, classifyArchive } from "./classify-archive.js";
import { NO_CHUNKS } from "./pack.js";

const { on, machine } = chartOf<ArchiveContext, ArchiveEvent>();

/** Transitions of every state in which there is an archive. */
const always = {
  ...on("archive.hold", hold),
  ...on("archive.unheld", unhold),
  ...on("archive.let-go", "absent", letGo),
  ...on("archive.refused", refuse),
  ...on("archive.doubted"),
  ...on("look.needless"),
};

const archiveMachine = machine({
  id: "archive",
  context: { asked: 0, runnerId: null, received: 0, chain: NO_CHUNKS },
  initial: "absent",
  states: {
    absent: {
      on: {
        ...on("archive.hold", "wanted", beginArchive),
        ...on("archive.unheld"),
        ...on("look.needless"),
        ...on("archive.refused", refuse),
      },
    },
    wanted: {
      on: {
        ...always,
        ...on("archive.take", "taken", take),
        ...on("asked.again", askAgain),
        ...on("time.over", "refused", endPending),
      },
    },
    taken: {
      on: {
        ...always,
        ...on("archive.take", take),
        ...on("found.on-branch", "served", noteServed),
        ...on("found.nowhere", "wanted", missing),
        ...on("found.too-large", "refused", refuseTooLarge),
        ...on("pack.begun", beginPack),
        ...on("pack.resumed", resumePack),
        ...on("pack.unfit", "wanted", refuseUnfit),
        ...on("chunk.next", storeChunk),
        ...on("chunk.last", "kept", storeChunk, keepPack),
        ...on("chunk.repeated", repeated),
        ...on("chunk.false", "wanted", dropFalsePack),
        ...on("runner.silent", "wanted", runnerSilent),
      },
    },
    served: {
      on: {
        ...always,
        ...on("archive.doubted", "wanted", lookNow),
        ...on("archive.take", "taken", take),
        ...on("asked.again", askAgain),
      },
    },
    kept: {
      on: {
        ...always,
        ...on("take.repeated", takeAgain),
        ...on("pack.resumed", repeated),
        ...on("chunk.repeated", repeated),
      },
    },
    refused: { on: always },
  },
});

/** See the table above. */
export function archiveActor(limits: ArchiveLimits): ActorType {
  return defineActor(archiveRef, { machine: archiveMachine, classify: classifyArchive(limits), version: 1 });
}
