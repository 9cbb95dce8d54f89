import { Command } from "commander";
import { createExaminations, createKinds } from "../../../actors/catalogue.js";
import type { Examination } from "../../../actors/doctor.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { toShownKey } from "../../../runtime/rows/damage-log.js";
import { listPageFaults } from "../../../storage/data-file.js";
import type { Finding } from "../../../storage/finding.js";
import { isDamage, type Store } from "../../../storage/store.js";
import { openStoreForDoctor } from "../../process/open-store.js";

/**
 * `signalbox doctor`: looks for damage in the store of a stopped service, or in a backup. With `--repair`, it also
 * repairs what can be derived from other rows, and removes damaged rows that are not needed. Exits with 1 if damage is
 * left. Prints keys, never values.
 */
const program = new Command("signalbox doctor")
  .description("Check a stopped service's store or a backup for damage. Exits with 1 if damage remains.")
  .requiredOption("--data <folder>", "the data folder of a service that is stopped, or a backup")
  .option("--repair", "rewrite rows that can be derived from others, and remove damaged rows that are not needed");

/** Maximum number of findings to print per kind. */
const PRINTED = 20;
/** Number of changes per batch. */
const BATCH = 500;

try {
  const { data, repair = false } = program.parse().opts<{ readonly data: string; readonly repair?: boolean }>();
  const left = await examine(data, repair);
  if (left > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/**
 * Examines the store and prints the findings. With `repairs`, also makes the repairs and examines the store again.
 * Returns the number of faults that are left.
 */
async function examine(folder: string, repairs: boolean): Promise<number> {
  const store = await openStoreForDoctor(folder);
  try {
    const pages = listPageFaults(folder);
    for (const { page, what } of pages)
      console.log(`page ${page} ${what}: its data can be restored only from a backup`);
    // The settings do not affect which fields of a kind are indexed or hashed.
    const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
    const examinations = createExaminations(kinds, Date.now());
    let found = 0;
    for (const examination of examinations) found += await look(store, examination, repairs);
    if (repairs && found > 0)
      console.log(`${found} found in ${folder}; repaired what could be repaired, then checked again:`);
    let left = repairs ? 0 : found;
    if (repairs) for (const examination of examinations) left += await look(store, examination, false);
    const all = left + pages.length;
    console.log(all === 0 ? `${folder} is whole` : `${all} faults in ${folder}`);
    return all;
  } finally {
    await store.close();
  }
}

/** Prints the findings of one examination, and repairs them if requested. Returns their number. */
async function look(store: Store, examination: Examination, repairs: boolean): Promise<number> {
  const findings: Finding[] = [];
  try {
    for (const finding of examination(store.reading)) findings.push(finding);
  } catch (error) {
    if (!isDamage(error)) throw error;
    findings.push({ what: "unreachable rows: restore them from a backup", key: [], repair: [] });
  }
  print(findings);
  const changes = repairs ? findings.flatMap(({ repair }) => repair) : [];
  for (let begin = 0; begin < changes.length; begin += BATCH) await store.commit(changes.slice(begin, begin + BATCH));
  return findings.length;
}

function print(findings: readonly Finding[]): void {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const same = kinds.get(finding.what);
    if (same === undefined) kinds.set(finding.what, [finding]);
    else same.push(finding);
  }
  for (const [what, same] of kinds) {
    for (const { key } of same.slice(0, PRINTED)) console.log(`${what}\t${toShownKey(key)}`);
    if (same.length > PRINTED) console.log(`${what}\tand ${same.length - PRINTED} more`);
  }
}
