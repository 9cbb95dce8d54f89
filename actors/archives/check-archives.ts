import { type Finding, listEntries } from "../../storage/finding.js";
import { rowSpace } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading } from "../../storage/store.js";
import type { ArchiveRow } from "./archive.js";
import { archiveChunks, archiveHolds, archives, archiveUsage, TOTAL_BYTES } from "./archive.table.js";
import { countChunks } from "./pack.js";

/** Checks archives against their chunks, their holders and the quota they use. */
export function* checkArchives(damageable: Reading): Generator<Finding> {
  for (const partition of listPartitions(damageable)) {
    let isIncomplete = false;
    const reading = readPastDamage(damageable, () => {
      isIncomplete = true;
    });
    const rows = new Map<string, ArchiveRow>();
    for (const row of archives.rows(reading, partition)) rows.set(row.id, row);
    const findings = [...checkParts(reading, partition, rows), ...checkUsage(reading, partition, rows)];
    for (const { isDerived, ...finding } of findings) {
      yield isDerived && isIncomplete ? { ...finding, repair: [] } : finding;
    }
  }
}

/** A possible finding. `isDerived`: its repair may be wrong if other rows are damaged. */
type Suspected = Finding & { readonly isDerived: boolean };

function* checkParts(reading: Reading, partition: string, rows: ReadonlyMap<string, ArchiveRow>): Generator<Suspected> {
  const chunks = new Map<string, number>();
  for (const { name } of [archiveChunks, archiveHolds]) {
    for (const { key } of listEntries(reading, [partition, rowSpace, name])) {
      const id = String(key[3]);
      if (name === archiveChunks.name) chunks.set(id, (chunks.get(id) ?? 0) + 1);
      if (rows.has(id)) continue;
      const what = `${name === archiveChunks.name ? "chunks" : "holds"} of archives: without an archive`;
      yield { what, key, repair: [{ op: "remove", key }], isDerived: true };
    }
  }
  for (const { id, standing, pack } of rows.values()) {
    if (standing !== "kept" || (pack !== null && chunks.get(id) === countChunks(pack))) continue;
    const key = archives.key(partition, id);
    yield { what: "an archived commit lacks chunks: restore them from a backup", key, repair: [], isDerived: false };
  }
}

function* checkUsage(reading: Reading, partition: string, rows: ReadonlyMap<string, ArchiveRow>): Generator<Suspected> {
  let bytes = 0;
  for (const { pack } of rows.values()) bytes += pack?.bytes ?? 0;
  if ((archiveUsage.get(reading, partition, TOTAL_BYTES) ?? 0) === bytes) return;
  const key = archiveUsage.key(partition, TOTAL_BYTES);
  const repair = bytes > 0 ? [{ op: "put", key, value: bytes } as const] : [{ op: "remove", key } as const];
  yield { what: "archive usage differs from the size of the packs", key, repair, isDerived: true };
}
