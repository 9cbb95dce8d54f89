/**
 * Looks for damage in a store that no runtime uses. Damage means rows that differ from what was written, and rows that
 * contradict each other. Reads everything in slices. Repair findings in their order, because one finding may be the
 * cause of a later one.
 */
import type { Catalogue } from "../runtime/cells/actor-type.js";
import { checkActors } from "../runtime/cells/check-actors.js";
import { checkDirectories } from "../runtime/directories/check-directories.js";
import type { DirectoryCatalogue } from "../runtime/directories/rebuild-directories.js";
import { checkDerived } from "../storage/check-derived.js";
import { checkValues } from "../storage/check-values.js";
import type { Finding } from "../storage/finding.js";
import { rowSpace } from "../storage/keys.js";
import { listPartitions } from "../storage/partitions.js";
import { readPastDamage } from "../storage/past-damage.js";
import type { Reading } from "../storage/store.js";
import { checkArchives } from "./archives/check-archives.js";
import { bodies } from "./tables/blob.table.js";
import { type RecountOptions, type ReferringTable, recountBlobs } from "./tables/blob-recount.js";
import type { DependentSource } from "./tables/dependents.js";

/** One pass over a whole store, or over one kind of data in it. */
export type Examination = (reading: Reading) => Iterable<Finding>;

/** What a store contains, as the areas declare it. */
export interface StoreContents {
  /** Tables with declared indexes or derived rows. */
  readonly sources: readonly DependentSource[];
  readonly directories: DirectoryCatalogue;
  /** Tables whose rows refer to bodies. */
  readonly referring: readonly ReferringTable[];
  readonly catalogue: Catalogue;
}

/** Lists all examinations, in the order in which their findings must be repaired. */
export function listExaminations(contents: StoreContents, nowMs: number): readonly Examination[] {
  const { sources, directories, referring, catalogue } = contents;
  const tables = new Set([...sources.flatMap(({ dependentTables }) => dependentTables), ...directories.names]);
  return [
    (reading) => checkValues(reading, { tables }),
    (reading) => checkIndexes(reading, sources),
    (reading) => checkBodies(reading, { referring, nowMs }),
    checkArchives,
    (reading) => checkActors(reading, catalogue),
    (reading) => checkDirectories(reading, directories),
  ];
}

/** Compares rows with their indexes, one partition at a time. */
function* checkIndexes(damageable: Reading, sources: readonly DependentSource[]): Generator<Finding> {
  for (const partition of listPartitions(damageable)) {
    const damage = new Set<string>();
    const reading = readPastDamage(damageable, (key) => damage.add(String(key[2])));
    for (const source of sources) {
      const { name, dependentTables } = source;
      yield* checkDerived(reading, {
        title: `indexes of ${name}`,
        expected: source.dependents(reading, partition),
        prefixes: dependentTables.map((table) => [partition, rowSpace, table]),
        // Pass a function, because all damage is known only after all rows were read.
        isIncomplete: () => damage.size > 0,
      });
    }
  }
}

/** Compares the reference counts of bodies with the rows that refer to the bodies, and looks for missing bodies. */
function* checkBodies(damageable: Reading, options: RecountOptions): Generator<Finding> {
  for (const partition of listPartitions(damageable)) {
    let isIncomplete = false;
    const reading = readPastDamage(damageable, () => {
      isIncomplete = true;
    });
    for (const { digest, isMissing, changes } of recountBlobs(reading, partition, options)) {
      const key = [partition, rowSpace, bodies.name, digest];
      if (isMissing) yield { what: "a body that rows refer to is missing: restore it from a backup", key, repair: [] };
      if (changes.length > 0) {
        yield { what: "wrong count of references to a body", key, repair: isIncomplete ? [] : changes };
      }
    }
  }
}
