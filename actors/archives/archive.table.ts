import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { ArchiveRow } from "./archive.js";

/** Key: `[archive]`. */
export const archives = indexedTable<ArchiveRow>("archive", {
  order: ["id"],
  indexes: { "archive-standing": ["standing"] },
});
/** Key: `[archive, holder]`. Value: true. */
export const archiveHolds = table<true>("archive-hold");
/** Key: `[archive, n]`. Value: the bytes of the pack's n-th chunk, from 0. */
export const archiveChunks = table<Uint8Array>("archive-chunk");
/** Key: `["bytes"]`. Value: the total bytes of the workspace's packs, stored or incoming. */
export const archiveUsage = table<number>("archive-room");
export const TOTAL_BYTES = "bytes";
