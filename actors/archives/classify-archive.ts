import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { toEvent } from "../../runtime/cells/chart.js";
import type { Answered, TurnReading, Woken } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { ArchiveRow } from "./archive.js";
import type { ArchiveMessage, OfferPack, ReportArchive, TakeArchive, TakeChunk } from "./archive.messages.js";
import { archiveChunks, archiveHolds, archives, archiveUsage, TOTAL_BYTES } from "./archive.table.js";
import { CHUNK_BYTES, chainDigest, countChunks, MAX_PACK_BYTES } from "./pack.js";

/** How long runners look for a commit, in milliseconds (replays: 7 days). */
const PENDING_MS = 7 * 24 * 60 * 60 * 1_000;

/** The stored state of an archive between turns. */
export interface ArchiveContext {
  /**
   * Number of requests to runners since the search started. Starts again at 0 when the search restarts or a branch is
   * found.
   */
  readonly asked: number;
  /** The runner that looks for the commit, or that sent the kept pack; null for none. */
  readonly runnerId: string | null;
  /** Number of stored chunks. */
  readonly received: number;
  /** The chained digest of the stored chunks. */
  readonly chain: string;
}

/** The quota of a workspace's packs. */
export interface ArchiveLimits {
  /** Maximum total bytes of a workspace's packs. */
  readonly bytesPerWorkspace: number;
}

/** Enough for many packs of ordinary repositories, and for 16 packs of the maximum size. */
export const defaultArchiveLimits: ArchiveLimits = { bytesPerWorkspace: 4 * 1024 ** 3 };

/** Classifies each message to an archive as an event of its machine. Reads only. */
export function classifyArchive({ bytesPerWorkspace }: ArchiveLimits) {
  return (message: ArchiveMessage | Woken, { context }: { readonly context: ArchiveContext }, turn: TurnReading) => {
    const row = archives.get(turn, turn.self.partition, turn.self.id);
    switch (message.type) {
      case "archive.hold":
        return message;
      case "archive.release":
        return row === undefined || hasOtherHolders(turn, message.holder)
          ? toEvent("archive.unheld", message)
          : toEvent("archive.let-go", { ...message, row });
      case "archive.look":
        return row?.standing === "served" ? toEvent("archive.doubted", { row }) : toEvent("look.needless");
      case "archive.take":
      case "archive.report":
      case "archive.offer":
      case "archive.chunk":
        return row === undefined ? unneeded : classifyReported(message, { row, context, turn, bytesPerWorkspace });
      case "woken":
        return row === undefined ? unneeded : classifyWakeUp(message, row, turn.now);
      // Messages of unknown types, which no transition handles.
      default:
        return message;
    }
  };
}

/** The data against which the actor checks a runner's message. */
interface Known extends ArchiveLimits {
  readonly row: ArchiveRow;
  readonly context: ArchiveContext;
  readonly turn: TurnReading;
}

function classifyReported(
  message: TakeArchive | ReportArchive | OfferPack | TakeChunk,
  { row, context, turn, bytesPerWorkspace }: Known,
) {
  if (message.type === "archive.take") return classifyTake(message, row, context);
  if (context.runnerId !== message.runnerId) return notYours;
  if (row.standing === "kept" && !isRepeat(message, row, turn)) return refusal("it is kept");
  if (message.type === "archive.chunk") return classifyChunk(message, row, context);
  if (message.type === "archive.report") return classifyReport(message, row);
  return classifyOffer(message, row, turn, bytesPerWorkspace);
}

/** A refused message, without effect. */
interface ArchiveRefused extends Answered<Refusal> {
  readonly type: "archive.refused";
  readonly why: string;
}

function refusal(why: string): ArchiveRefused {
  return { type: "archive.refused", why };
}

const notYours = refusal("another runner has it");
const unneeded = refusal("nobody needs it");

function hasOtherHolders(turn: TurnReading, holder: string): boolean {
  const { partition, id } = turn.self;
  return archiveHolds.entries(turn, partition, [id], { limit: 2 }).some(({ key }) => key.at(-1) !== holder);
}

function classifyTake(message: TakeArchive, row: ArchiveRow, { runnerId }: ArchiveContext) {
  if (row.standing === "kept" && runnerId === message.runnerId) {
    return toEvent("take.repeated", message);
  }
  if (row.standing === "kept" || row.standing === "refused") {
    return refusal("the service has stopped looking for it");
  }
  return runnerId === null || runnerId === message.runnerId ? toEvent("archive.take", { ...message, row }) : notYours;
}

function classifyReport(message: ReportArchive, row: ArchiveRow) {
  const types = { "on-branch": "found.on-branch", missing: "found.nowhere", "too-large": "found.too-large" } as const;
  return toEvent(types[message.found], { ...message, row });
}

function classifyOffer(message: OfferPack, row: ArchiveRow, turn: TurnReading, bytesPerWorkspace: number) {
  const { bytes } = message.pack;
  if (isOffered(message, row)) return toEvent("pack.resumed", { ...message, row });
  if (bytes > MAX_PACK_BYTES) return refusal("the pack is too large");
  const taken = (archiveUsage.get(turn, turn.self.partition, TOTAL_BYTES) ?? 0) - (row.pack?.bytes ?? 0);
  if (taken + bytes <= bytesPerWorkspace) return toEvent("pack.begun", { ...message, row });
  const why = `The workspace's archives cannot store ${bytes} more bytes: ${taken} of ${bytesPerWorkspace} are used.`;
  return toEvent("pack.unfit", { ...message, row, why });
}

/**
 * Returns whether the message offers the stored pack again, or repeats one of the pack's chunks. The runner sends such
 * a message if it lost the answer.
 */
function isRepeat(message: ReportArchive | OfferPack | TakeChunk, row: ArchiveRow, turn: TurnReading): boolean {
  if (message.type !== "archive.chunk") return isOffered(message, row);
  const stored = archiveChunks.get(turn, turn.self.partition, row.id, message.n);
  return stored !== undefined && Buffer.compare(stored, message.chunk) === 0;
}

/** Whether the message offers the pack that is stored or incoming. */
function isOffered(message: ReportArchive | OfferPack, { pack }: ArchiveRow): boolean {
  if (message.type !== "archive.offer" || pack === null) return false;
  return pack.digest === message.pack.digest && pack.bytes === message.pack.bytes;
}

function classifyChunk(message: TakeChunk, row: ArchiveRow, { received, chain }: ArchiveContext) {
  const { n, chunk } = message;
  const { pack } = row;
  if (pack === null) return refusal("no pack was announced");
  if (n < received) return toEvent("chunk.repeated", message);
  if (n > received) return refusal(`chunk ${received} comes next`);
  const isLast = n === countChunks(pack) - 1;
  const wanted = isLast ? pack.bytes - n * CHUNK_BYTES : CHUNK_BYTES;
  if (chunk.length !== wanted) return refusal(`the chunk must have ${wanted} bytes`);
  const fault = n === 0 ? faultOfPack(chunk, row.commit) : null;
  const next = chainDigest(chain, chunk);
  const why = fault ?? (isLast && next !== pack.digest ? "its digest differs from the announced digest" : null);
  if (why !== null) return toEvent("chunk.false", { ...message, row, why });
  return toEvent(isLast ? "chunk.last" : "chunk.next", { ...message, row, chain: next });
}

function classifyWakeUp({ name }: Woken, row: ArchiveRow, now: number) {
  if (name !== "ask") return toEvent("runner.silent", { row });
  const { pendingSinceMs } = row;
  const isOver = pendingSinceMs !== null && now >= pendingSinceMs + PENDING_MS;
  return toEvent(isOver ? "time.over" : "asked.again", { row });
}

/** Returns when the search for a pending archive's commit ends, in milliseconds since 1970. */
export function toDeadline(pendingSinceMs: number): number {
  return pendingSinceMs + PENDING_MS;
}

/** A classified message, with the data that its transition needs. */
export type ArchiveEvent = ReturnType<ReturnType<typeof classifyArchive>>;

/** Maximum size of a commit object, in bytes. Most commit objects have fewer than 1,000 bytes. */
const MAX_COMMIT_BYTES = 256 * 1024;
/** Number of bytes before the first object: `PACK`, the version, the number of objects. */
const HEADER_BYTES = 12;
const COMMIT_TYPE = 1;

/**
 * Returns why a pack that starts with these bytes does not belong to this commit; null if no reason is found. Checks
 * the format of git, and that the first object is the commit itself. At checkout, git verifies the other objects by
 * their ids.
 */
export function faultOfPack(bytes: Uint8Array, commit: string): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (head.length < HEADER_BYTES + 2 || head.toString("latin1", 0, 4) !== "PACK") return "it is not a git pack";
  const [version, objects] = [head.readUInt32BE(4), head.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return "it has an unknown pack version";
  if (objects < 2) return "it has no commit with a tree";
  const first = readObjectHead(head);
  if (first === null || first.type !== COMMIT_TYPE) return "it does not start with a commit";
  if (first.bytes > MAX_COMMIT_BYTES) return "its commit is too long";
  const content = inflated(head.subarray(first.at), first.bytes);
  if (content === null || content.length !== first.bytes) return "its commit cannot be read";
  const algorithm = commit.length === 64 ? "sha256" : "sha1";
  const id = createHash(algorithm).update(`commit ${content.length}\0`).update(content).digest("hex");
  return id === commit ? null : "it starts with a different commit";
}

/**
 * Reads the type and length of the first object, and where its compressed bytes start. Returns null if `head` ends too
 * early, or if the length is encoded in too many bytes.
 */
function readObjectHead(head: Buffer): { readonly type: number; readonly bytes: number; readonly at: number } | null {
  let at = HEADER_BYTES;
  let byte = head[at] ?? 0;
  const type = (byte >> 4) & 7;
  let bytes = byte & 15;
  // The first byte has the lowest 4 bits of the length. Each further byte has the next 7 bits. Five further bytes are
  // enough for every accepted length.
  for (let factor = 16; byte >= 0x80; factor *= 128) {
    at += 1;
    if (at > HEADER_BYTES + 5 || at >= head.length) return null;
    byte = head[at] ?? 0;
    bytes += (byte & 127) * factor;
  }
  return { type, bytes, at: at + 1 };
}

function inflated(bytes: Buffer, maxOutputLength: number): Buffer | null {
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, maxOutputLength) });
  } catch {
    return null;
  }
}
