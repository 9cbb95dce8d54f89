import { checkDerived } from "../../storage/check-derived.js";
import { type Finding, listEntries } from "../../storage/finding.js";
import { listPartitions } from "../../storage/partitions.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, Reading } from "../../storage/store.js";
import { directoryKey } from "./directory.js";
import type { DirectoryCatalogue } from "./rebuild-directories.js";

/** Compares directories with the contents of all partitions. Holds one key per entry in memory. */
export function* checkDirectories(damageable: Reading, catalogue: DirectoryCatalogue): Generator<Finding> {
  let isIncomplete = false;
  const reading = readPastDamage(damageable, () => {
    isIncomplete = true;
  });
  yield* checkDerived(reading, {
    title: "directory",
    expected: listExpected(reading, catalogue),
    prefixes: catalogue.names.map((name) => directoryKey({ directory: name, id: [] })),
    isIncomplete: () => isIncomplete,
  });
}

function* listExpected(reading: Reading, { sources }: DirectoryCatalogue): Generator<Entry> {
  for (const partition of listPartitions(reading)) {
    for (const source of sources) {
      for (const found of listEntries(reading, source.prefix(partition))) {
        for (const entry of source.toEntries(found, reading)) yield { key: directoryKey(entry), value: entry.row };
      }
    }
  }
}
