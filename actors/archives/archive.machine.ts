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
import { assertEvent, assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
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

const nothing: ArchiveContext = { asked: 0, runnerId: null, received: 0, chain: NO_CHUNKS };

/** Transitions of every state in which there is an archive. */
const always = {
  "archive.hold": { actions: "hold" },
  "archive.unheld": { actions: "unhold" },
  "archive.let-go": { target: "absent", actions: "letGo" },
  "archive.refused": { actions: "refuse" },
  "archive.doubted": { actions: "ignore" },
  "look.needless": { actions: "ignore" },
} as const;

const machine = setup({
  types: { context: {} as ArchiveContext, events: {} as Delivered<ArchiveEvent> },
  actions: {
    begin: assign(({ event }) => {
      assertEvent(event, "archive.hold");
      return beginArchive(event);
    }),
    hold: ({ event }) => {
      assertEvent(event, "archive.hold");
      hold(event);
    },
    unhold: ({ event }) => {
      assertEvent(event, "archive.unheld");
      unhold(event);
    },
    letGo: assign(({ context, event }) => {
      assertEvent(event, "archive.let-go");
      return letGo(event, context);
    }),
    lookNow: assign(({ context, event }) => {
      assertEvent(event, "archive.doubted");
      return lookNow(event, context);
    }),
    take: assign(({ context, event }) => {
      assertEvent(event, "archive.take");
      return take(event, context);
    }),
    takeAgain: ({ event }) => {
      assertEvent(event, "take.repeated");
      takeAgain(event);
    },
    noteServed: assign(({ context, event }) => {
      assertEvent(event, "found.on-branch");
      return noteServed(event, context);
    }),
    missing: assign(({ context, event }) => {
      assertEvent(event, "found.nowhere");
      return missing(event, context);
    }),
    refuseTooLarge: assign(({ context, event }) => {
      assertEvent(event, "found.too-large");
      return refuseTooLarge(event, context);
    }),
    beginPack: assign(({ context, event }) => {
      assertEvent(event, "pack.begun");
      return beginPack(event, context);
    }),
    resumePack: ({ context, event }) => {
      assertEvent(event, "pack.resumed");
      resumePack(event, context);
    },
    refuseUnfit: assign(({ context, event }) => {
      assertEvent(event, "pack.unfit");
      return refuseUnfit(event, context);
    }),
    storeChunk: assign(({ context, event }) => {
      assertEvent(event, ["chunk.next", "chunk.last"]);
      return storeChunk(event, context);
    }),
    keepPack: ({ event }) => {
      assertEvent(event, "chunk.last");
      keepPack(event);
    },
    repeated: ({ context, event }) => {
      assertEvent(event, ["chunk.repeated", "pack.resumed"]);
      repeated(event, context);
    },
    dropFalsePack: assign(({ context, event }) => {
      assertEvent(event, "chunk.false");
      return dropFalsePack(event, context);
    }),
    runnerSilent: assign(({ context, event }) => {
      assertEvent(event, "runner.silent");
      return runnerSilent(event, context);
    }),
    askAgain: assign(({ context, event }) => {
      assertEvent(event, "asked.again");
      return askAgain(event, context);
    }),
    endPending: assign(({ context, event }) => {
      assertEvent(event, "time.over");
      return endPending(event, context);
    }),
    refuse: ({ event }) => {
      assertEvent(event, "archive.refused");
      refuse(event);
    },
    ignore: () => undefined,
  },
}).createMachine({
  id: "archive",
  context: nothing,
  initial: "absent",
  states: {
    absent: {
      on: {
        "archive.hold": { target: "wanted", actions: "begin" },
        "archive.unheld": { actions: "ignore" },
        "look.needless": { actions: "ignore" },
        "archive.refused": { actions: "refuse" },
      },
    },
    wanted: {
      on: {
        ...always,
        "archive.take": { target: "taken", actions: "take" },
        "asked.again": { actions: "askAgain" },
        "time.over": { target: "refused", actions: "endPending" },
      },
    },
    taken: {
      on: {
        ...always,
        "archive.take": { actions: "take" },
        "found.on-branch": { target: "served", actions: "noteServed" },
        "found.nowhere": { target: "wanted", actions: "missing" },
        "found.too-large": { target: "refused", actions: "refuseTooLarge" },
        "pack.begun": { actions: "beginPack" },
        "pack.resumed": { actions: "resumePack" },
        "pack.unfit": { target: "wanted", actions: "refuseUnfit" },
        "chunk.next": { actions: "storeChunk" },
        "chunk.last": { target: "kept", actions: ["storeChunk", "keepPack"] },
        "chunk.repeated": { actions: "repeated" },
        "chunk.false": { target: "wanted", actions: "dropFalsePack" },
        "runner.silent": { target: "wanted", actions: "runnerSilent" },
      },
    },
    served: {
      on: {
        ...always,
        "archive.doubted": { target: "wanted", actions: "lookNow" },
        "archive.take": { target: "taken", actions: "take" },
        "asked.again": { actions: "askAgain" },
      },
    },
    kept: {
      on: {
        ...always,
        "take.repeated": { actions: "takeAgain" },
        "pack.resumed": { actions: "repeated" },
        "chunk.repeated": { actions: "repeated" },
      },
    },
    refused: { on: always },
  },
});

/** See the table above. */
export function archiveActor(limits: ArchiveLimits): ActorType {
  return defineActor(archiveRef, { machine, classify: classifyArchive(limits), version: 1 });
}
