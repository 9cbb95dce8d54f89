import { createExaminations, createKinds } from "../../../actors/catalogue.js";
import type { Examination } from "../../../actors/doctor.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { toShownKey } from "../../../runtime/rows/damage-log.js";
import { listPageFaults } from "../../../storage/data-file.js";
import type { Finding } from "../../../storage/finding.js";
import { isDamage, type Store } from "../../../storage/store.js";
import { openStoreForDoctor } from "../../process/open-store.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import { onStore } from "./store-errors.js";

interface DoctorOptions extends CommonOptions {
  readonly data: string;
  readonly repair?: boolean;
}

/** Findings of one kind. */
interface Found {
  readonly what: string;
  readonly count: number;
  /** The keys of the first {@link PRINTED} findings. */
  readonly keys: readonly string[];
}

/** Maximum number of findings to print per kind. */
const PRINTED = 20;
/** Number of changes per batch. */
const BATCH = 500;

/**
 * Looks for damage in the store of a stopped service, or in a backup. With `repair`, also does the following, and then
 * examines the store again:
 *
 * - It repairs rows that can be derived from other rows.
 * - It removes damaged rows that are not needed.
 *
 * Returns `failed` if damage is left. Prints keys, never values.
 */
export async function doctor(context: Context, { data, repair = false }: DoctorOptions): Promise<ExitCode> {
  const { terminal, isJson } = context;
  const print = (line: string) => {
    if (!isJson) terminal.print(line);
  };
  return await onStore(async () => {
    const store = await openStoreForDoctor(data);
    try {
      const pages = listPageFaults(data);
      for (const { page, what } of pages) print(`page ${page} ${what}: its data can be restored only from a backup`);
      // Use default settings, because settings do not affect which fields of a kind are indexed or hashed.
      const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
      const examinations = createExaminations(kinds, Date.now());
      const found = await look(store, examinations, { repairs: repair, print });
      const hasRepaired = repair && count(found) > 0;
      if (hasRepaired) print(`${count(found)} found in ${data}; repaired what could be repaired, then checked again:`);
      const left = repair ? await look(store, examinations, { repairs: false, print }) : found;
      const faults = count(left) + pages.length;
      const value = { data, faults, pages, findings: left, ...(repair && { before: found }) };
      context.show(value, () => [faults === 0 ? `${data} is whole` : `${faults} faults in ${data}`]);
      return faults === 0 ? exitCodes.done : exitCodes.failed;
    } finally {
      await store.close();
    }
  });
}

function count(found: readonly Found[]): number {
  return found.reduce((sum, each) => sum + each.count, 0);
}

interface Looking {
  readonly repairs: boolean;
  readonly print: (line: string) => void;
}

/** Runs the examinations one after the other. Prints their findings, and repairs the damage if requested. */
async function look(
  store: Store,
  examinations: readonly Examination[],
  { repairs, print }: Looking,
): Promise<readonly Found[]> {
  const all: Found[] = [];
  for (const examination of examinations) {
    const findings = listFindings(store, examination);
    const found = group(findings);
    for (const { what, count: times, keys } of found) {
      for (const key of keys) print(`${what}\t${key}`);
      if (times > keys.length) print(`${what}\tand ${times - keys.length} more`);
    }
    all.push(...found);
    const changes = repairs ? findings.flatMap(({ repair }) => repair) : [];
    for (let begin = 0; begin < changes.length; begin += BATCH) await store.commit(changes.slice(begin, begin + BATCH));
  }
  return all;
}

function listFindings(store: Store, examination: Examination): readonly Finding[] {
  const findings: Finding[] = [];
  try {
    for (const finding of examination(store.reading)) findings.push(finding);
  } catch (error) {
    if (!isDamage(error)) throw error;
    findings.push({ what: "unreachable rows: restore them from a backup", key: [], repair: [] });
  }
  return findings;
}

function group(findings: readonly Finding[]): readonly Found[] {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const same = kinds.get(finding.what);
    if (same === undefined) kinds.set(finding.what, [finding]);
    else same.push(finding);
  }
  return [...kinds].map(([what, same]) => ({
    what,
    count: same.length,
    keys: same.slice(0, PRINTED).map(({ key }) => toShownKey(key)),
  }));
}
