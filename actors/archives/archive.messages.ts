import { reference } from "../../runtime/cells/reference.js";
import { topic } from "../../runtime/feeds/topic.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { Pack } from "./pack.js";

/** A holder needs the commit. Repeating the message has no effect. */
interface HoldArchive extends Message {
  readonly type: "archive.hold";
  readonly holder: string;
  readonly repository: string;
  readonly commit: string;
}

/** Removes a holder that no longer needs the commit. Has no effect if `holder` does not hold the archive. */
interface ReleaseArchive extends Message {
  readonly type: "archive.release";
  readonly holder: string;
}

/**
 * Reports that a run could not check out the commit, which its branch may no longer contain. Has no effect unless the
 * archive is `served`.
 */
interface LookForArchive extends Message {
  readonly type: "archive.look";
}

/** A runner wants to look for the commit. */
export interface TakeArchive extends Answered<Taken | Refusal> {
  readonly type: "archive.take";
  readonly runnerId: string;
}
/** Permits the runner to look for the commit, until the runner reports a result or stays silent for too long. */
export interface Taken {
  readonly taken: true;
}

/** The runner that looks for the commit reports a result other than a pack. */
export interface ReportArchive extends Answered<Reported | Refusal> {
  readonly type: "archive.report";
  readonly runnerId: string;
  readonly found: ArchiveFinding;
}
/**
 * What the runner found. `on-branch`: a branch of the repository holds the commit. `missing`: the runner cannot get the
 * commit. `too-large`: the commit's pack exceeds the limit.
 */
export type ArchiveFinding = "on-branch" | "missing" | "too-large";
export interface Reported {
  readonly reported: true;
}

/** Sent when the runner that looks for the commit has created the commit's pack. */
export interface OfferPack extends Answered<ChunksReceived | Refusal> {
  readonly type: "archive.offer";
  readonly runnerId: string;
  readonly pack: Pack;
}

/** A chunk of the offered pack. */
export interface TakeChunk extends Answered<ChunksReceived | Refusal> {
  readonly type: "archive.chunk";
  readonly runnerId: string;
  /** Index of the chunk, from 0. */
  readonly n: number;
  readonly chunk: Uint8Array;
}
/** Number of stored chunks. This is also the index of the next chunk to send. */
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

/** A commit that runners should look for. */
export interface WantedCommit {
  readonly archiveId: string;
  readonly repository: string;
  readonly commit: string;
}

/**
 * Asks the runners of a workspace for a commit. A runner that has the commit should take it. If the runner `runnerId`
 * does not have the commit, it should fetch the commit from the repository. Other runners should not fetch it; a null
 * `runnerId` means that no runner should.
 */
export const wantedTopic = topic<WantedCommit & { readonly runnerId: string | null }>("archive-wanted");
