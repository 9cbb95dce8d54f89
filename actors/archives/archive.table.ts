import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { ArchiveRow } from "./archive.js";

/** `[archive]` */
export const archives = indexedTable<ArchiveRow>("archive", {
  order: ["id"],
  indexes: { "archive-standing": ["standing"] },
});
/** `[archive, holder]` -> true */
export const archiveHolds = table<true>("archive-hold");
/** `[archive, n]`: the bytes of the pack's n-th chunk, from 0. */
export const archiveChunks = table<Uint8Array>("archive-chunk");
/** `["bytes"]`: total bytes of the workspace's packs, stored or incoming. */
export const archiveUsage = table<number>("archive-room");
export const TOTAL_BYTES = "bytes";
