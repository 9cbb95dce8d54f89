import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { ArchiveRow } from "./archive.js";

/** `[archive]` */
export const archives = indexedTable<ArchiveRow>("archive", {
  order: ["id"],
  indexes: { "archive-standing": ["standing"] },
});
/** `[archive, who needs it]` -> true */
export const archiveHolds = table<true>("archive-hold");
/** `[archive, n]`: the bytes of the n-th chunk of its pack, from 0. */
export const archiveChunks = table<Uint8Array>("archive-chunk");
/** `["bytes"]`: the bytes of all packs of the workspace, stored or coming in. */
export const archiveRoom = table<number>("archive-room");
export const ROOM = "bytes";
