import { reference } from "../../runtime/reference.js";
import { topic } from "../../runtime/topic.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { Pack } from "./pack.js";

/** Somebody needs the commit; again is fine. */
interface HoldArchive extends Message {
  readonly type: "archive.hold";
  readonly holder: string;
  readonly repository: string;
  readonly commit: string;
}

/** The holder needs it no more; one that did not is fine. */
interface ReleaseArchive extends Message {
  readonly type: "archive.release";
  readonly holder: string;
}

/** A run could not check the commit out: it may have left its branch. One that is not needed is fine. */
interface LookForArchive extends Message {
  readonly type: "archive.look";
}

/** A runner wants to look for the commit. */
export interface TakeArchive extends Answered<Taken | Refusal> {
  readonly type: "archive.take";
  readonly runnerId: string;
}
/** It is that runner's to look for, until it says what it found or says nothing for a while. */
export interface Taken {
  readonly taken: true;
}

/** The runner that took it says what it found besides a pack. */
export interface ReportArchive extends Answered<Reported | Refusal> {
  readonly type: "archive.report";
  readonly runnerId: string;
  readonly found: ArchiveFinding;
}
/** A branch of the repository holds it; the runner cannot get it; its pack is longer than is kept. */
export type ArchiveFinding = "on-branch" | "missing" | "too-large";
export interface Reported {
  readonly reported: true;
}

/** The runner that took it has made its pack. */
export interface OfferPack extends Answered<ChunksReceived | Refusal> {
  readonly type: "archive.offer";
  readonly runnerId: string;
  readonly pack: Pack;
}

/** A chunk of the offered pack. */
export interface TakeChunk extends Answered<ChunksReceived | Refusal> {
  readonly type: "archive.chunk";
  readonly runnerId: string;
  /** From 0. */
  readonly n: number;
  readonly chunk: Uint8Array;
}
/** How many chunks are stored; the next to send has this number. */
interface ChunksReceived {
  readonly received: number;
}

export type ArchiveMessage =
  | HoldArchive
  | ReleaseArchive
  | LookForArchive
  | TakeArchive
  | ReportArchive
  | OfferPack
  | TakeChunk;

/** The archive of a commit, by workspace and id (`toArchiveId`). */
export const archiveRef = reference<ArchiveMessage>("archive");

/** A commit that runners are to look for. */
export interface WantedCommit {
  readonly archiveId: string;
  readonly repository: string;
  readonly commit: string;
}

/**
 * Published to the edge, by workspace: who has the commit is to take it; `runnerId` is to get it from its repository
 * where it has not.
 */
export const wantedTopic = topic<WantedCommit & { readonly runnerId: string | null }>("archive-wanted");
