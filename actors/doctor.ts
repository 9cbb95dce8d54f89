/**
 * Looks for damage in a store that no runtime uses: rows that are not what was written, and rows that do not fit one
 * another. Reads everything in slices. What it finds may follow from something else that it finds: repair in order.
 */
import type { Catalogue } from "../runtime/actor-type.js";
import { checkActors } from "../runtime/check-actors.js";
import { checkDirectories } from "../runtime/check-directories.js";
import { checkDerived } from "../storage/check-derived.js";
import { checkValues } from "../storage/check-values.js";
import type { Finding } from "../storage/finding.js";
import { rowSpace } from "../storage/keys.js";
import { listPartitions } from "../storage/partitions.js";
import { readPastDamage } from "../storage/past-damage.js";
import type { Reading } from "../storage/store.js";
import { createActorTypes } from "./actor-types.js";
import { checkArchives } from "./archives/check-archives.js";
import { createDependentSources } from "./dependent-tables.js";
import { createDirectoryCatalogue } from "./directories.js";
import { referringTables } from "./referring-tables.js";
import type { Kind } from "./resources/kind.js";
import { gates, subscribers } from "./subscriptions.js";
import { bodies } from "./tables/blob.table.js";
import { recountBlobs } from "./tables/blob-recount.js";
import type { DependentSource } from "./tables/dependents.js";

/** One look at a whole store, or at one kind of things in it. */
export type Examination = (reading: Reading) => Iterable<Finding>;

/** All examinations, in the order in which their findings are to be repaired. */
export function createExaminations(kinds: readonly Kind[], nowMs: number): readonly Examination[] {
  const sources = createDependentSources(kinds);
  const directories = createDirectoryCatalogue(kinds);
  const catalogue: Catalogue = { actors: createActorTypes(kinds), subscribers, gates, effects: [] };
  const tables = new Set([...sources.flatMap(({ dependentTables }) => dependentTables), ...directories.names]);
  return [
    (reading) => checkValues(reading, { tables }),
    (reading) => checkIndexes(reading, sources),
    (reading) => checkBodies(reading, nowMs),
    checkArchives,
    (reading) => checkActors(reading, catalogue),
    (reading) => checkDirectories(reading, directories),
  ];
}

/** Rows against their indexes, partition by partition. */
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
        // Asked when all rows were read.
        isIncomplete: () => damage.size > 0,
      });
    }
  }
}

/** Counts of references to bodies against the rows that refer to them, and bodies against both. */
function* checkBodies(damageable: Reading, nowMs: number): Generator<Finding> {
  for (const partition of listPartitions(damageable)) {
    let isIncomplete = false;
    const reading = readPastDamage(damageable, () => {
      isIncomplete = true;
    });
    for (const { digest, isMissing, changes } of recountBlobs(reading, partition, {
      referring: referringTables,
      nowMs,
    })) {
      const key = [partition, rowSpace, bodies.name, digest];
      if (isMissing) yield { what: "a body that rows refer to: only a backup has it", key, repair: [] };
      if (changes.length > 0) {
        yield { what: "references to bodies: wrong count", key, repair: isIncomplete ? [] : changes };
      }
    }
  }
}
