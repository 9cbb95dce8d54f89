/**
 * The archive of one commit that a replay or replay set needs, `archive/<id>`. The archive is a pack of the commit and
 * its tree. The service stores the pack only if no branch of the repository holds the commit. `classify-archive.ts`
 * turns each message into an event of this machine. If the event has another name than its message, the message follows
 * in brackets. "Any" is every state except absent.
 *
 * | state          | moved by                         | next    | also                                            |
 * |----------------|----------------------------------|---------|-------------------------------------------------|
 * | absent         | archive.hold                     | wanted  | the row; runners are asked                      |
 * | any            | archive.hold                     | same    | adds a holder                                   |
 * | all            | archive.unheld (archive.release) | same    | removes a holder                                |
 * | any            | archive.let-go (archive.release) | absent  | nobody needs it: row, pack and quota are freed  |
 * | served         | archive.doubted (archive.look)   | wanted  | runners are asked at once: a checkout failed    |
 * | all            | archive.doubted, look.needless   | same    | already pending, kept, refused or not needed    |
 * | wanted, served | archive.take                     | taken   | only that runner looks for it                   |
 * | taken          | archive.take                     | taken   | the same runner again                           |
 * | taken          | found.on-branch (archive.report) | served  | nothing is stored; asked again in 6 hours       |
 * | taken          | found.nowhere (archive.report)   | wanted  | the next runner is asked                        |
 * | taken          | found.too-large (archive.report) | refused | `archive-too-large`                             |
 * | taken          | pack.begun (archive.offer)       | taken   | reserves its quota; drops an earlier pack       |
 * | taken          | pack.resumed (archive.offer)     | taken   | answered with the stored chunks                 |
 * | taken          | pack.unfit (archive.offer)       | wanted  | refused: quota exceeded; asked again            |
 * | taken          | chunk.next (archive.chunk)       | taken   | the chunk is stored                             |
 * | taken          | chunk.last (archive.chunk)       | kept    | the same; the pack is complete                  |
 * | taken          | chunk.repeated (archive.chunk)   | taken   |                                                 |
 * | taken          | chunk.false (archive.chunk)      | wanted  | refused; the whole pack is deleted              |
 * | taken          | runner.silent (woken `silent`)   | wanted  | the next runner is asked; stored chunks stay    |
 * | kept           | take.repeated (archive.take)     | kept    | the runner that sent the pack lost an answer    |
 * | kept           | pack.resumed, chunk.repeated     | kept    | the same: answered with all stored chunks       |
 * | wanted         | asked.again (woken `ask`)        | wanted  | runners are asked                               |
 * | wanted         | time.over (woken `ask`)          | refused | after 7 days; stored chunks are deleted         |
 * | served         | asked.again (woken `ask`)        | served  | runners are asked to check again                |
 * | all            | archive.refused                  | same    | refused, for example out of order or late       |
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { archiveRef } from "./archive.messages.js";
import {
  askAgain,
  beginArchive,
  beginPack,
  dropFalsePack,
  endPending,
  hold,
  lookNow,
  missing,
  noteServed,
  refuse,
  refuseTooLarge,
  refuseUnfit,
  releaseHold,
  repeated,
  resumePack,
  runnerSilent,
  storeChunk,
  storePack,
  take,
  takeAgain,
  unhold,
} from "./archive.transitions.js";
import { type ArchiveContext, type ArchiveEvent, type ArchiveLimits, classifyArchive } from "./classify-archive.js";
import { NO_CHUNKS } from "./pack.js";

const { on, machine } = createChart<ArchiveContext, ArchiveEvent>();

/** Transitions of every state with an archive. */
const always = {
  ...on("archive.hold", hold),
  ...on("archive.unheld", unhold),
  ...on("archive.let-go", "absent", releaseHold),
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
        ...on("chunk.last", "kept", storeChunk, storePack),
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

/** Creates the actor of the machine above. */
export function archiveActor(limits: ArchiveLimits): ActorType {
  return defineActor(archiveRef, { machine: archiveMachine, classify: classifyArchive(limits), version: 1 });
}
