import { findBlob, storeBlob } from "../../actors/tables/blobs.js";
import { indexedTable } from "../../actors/tables/indexed-table.js";
import { address } from "../../runtime/cells/address.js";
import type { Writing } from "../../storage/store.js";
import { partition } from "./harness.js";
import { memoryRows, withTurn } from "./turn.js";

/** A row that references bodies. */
interface Paper {
  readonly id: string;
  readonly bodies: readonly string[];
}

export const papers = indexedTable<Paper>("paper", { order: ["id"], blobs: ({ bodies }) => bodies });

/** The default time of writes. */
export const startMs = Date.parse("2026-01-01T00:00:00.000Z");

/**
 * Returns the rows, and functions that write and remove a workspace's papers in one turn per call. `kept` has the
 * current papers by id.
 */
export function desk(rows: Writing = memoryRows()) {
  const self = address(partition, "desk", "1");
  const kept = new Map<string, Paper>();
  const write = (id: string, texts: readonly string[], now = startMs) => {
    const before = kept.get(id);
    return withTurn(
      self,
      (turn) => {
        const row = { id, bodies: texts.map((text) => storeBlob(turn, partition, Buffer.from(text))) };
        if (before === undefined) papers.insert(turn, partition, row);
        else papers.put(turn, partition, before, row);
        kept.set(id, row);
      },
      { rows, now },
    );
  };
  const remove = (id: string, now = startMs) => {
    const before = kept.get(id);
    kept.delete(id);
    return withTurn(self, (turn) => before && papers.remove(turn, partition, before), { rows, now });
  };
  return { rows, kept, write, remove };
}

/** Returns a text's digest. */
export const toDigest = (text: string) => storeBlob(memoryRows(), partition, Buffer.from(text));

/** Returns the text if its body is stored; otherwise undefined. */
export const findText = (rows: Writing, text: string) => {
  const body = findBlob(rows, partition, toDigest(text));
  return body === undefined ? undefined : Buffer.from(body).toString();
};
