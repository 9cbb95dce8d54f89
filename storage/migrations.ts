/**
 * Migrates a store from one format to the next, before the service accepts requests. Owns the store's format and the
 * progress of a migration, but not the changes of a step.
 *
 * 1. A step walks partition after partition in key order (the service's own, `~`, is last), in slices. A slice is one
 *    batch of one partition. The batch also contains the cursor after the slice, so a killed process resumes where it
 *    stopped.
 * 2. A step starts after the previous step has ended in all partitions. When a step reads another partition, that
 *    partition has the step's own format if the step has already walked it, and otherwise the previous format.
 * 3. The first batch marks the store with the newest format and with its original format. From then on, older
 *    releases reject the store.
 */
import { findFormatCopy } from "./format-copy.js";
import { GLOBAL_PARTITION, metaSpace } from "./keys.js";
import { listPartitions } from "./partitions.js";
import { readPastDamage } from "./past-damage.js";
import { type Change, type Entry, type Key, type KeyPart, type Reading, type Store, StoreError } from "./store.js";
import { SEALED_FORMAT } from "./stored-value.js";

/** Entries of one partition that are migrated in one batch. */
export interface Slice {
  readonly partition: string;
  /** At least one entry, in key order. */
  readonly entries: readonly Entry[];
  /** The store before the batch. */
  readonly reading: Reading;
}

/** A walk over the entries below `[partition, ...under]`. */
export interface Walk {
  readonly under: readonly KeyPart[];
  /** The partitions to walk: those of workspaces (the default), the service's own (`~`), or all. */
  readonly of?: "workspaces" | "service" | "all";
  /**
   * Maximum number of entries in a slice. Set it if an entry may have megabytes, because all entries of a slice are in
   * memory.
   */
  readonly maxEntries?: number;
  /**
   * Leaves damaged entries as they are, and continues after them. Without this option, a damaged entry stops the
   * migration.
   */
  readonly skipsDamage?: boolean;
  /**
   * Returns the changes for a slice, only in the slice's partition. The function must be pure and repeatable. It leaves
   * migrated entries unchanged, because the walk also visits entries that the function writes at later keys.
   */
  readonly changes: (slice: Slice) => readonly Change[];
}

/** Migrates a store to format `to` from the previous format. */
export interface MigrationStep {
  /** Steps are numbered from 2, without gaps. */
  readonly to: number;
  /** What the step changes, for the log. */
  readonly title: string;
  /** The walks run one after the other in each partition. */
  readonly walks: readonly Walk[];
}

/** The format of a store that no step has migrated. */
const FIRST_FORMAT = 1;
/** Time between two progress lines in the log, in milliseconds. */
const REPORT_EVERY_MS = 5_000;
/** Number of entries in a slice. The slice also gets all entries whose keys start with its last key. */
const SLICE = 128;

/** The key of the row with the store's format. */
export const FORMAT_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format"];
/** The key of the row with the format from which an unfinished migration started. */
export const FROM_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format-before"];

/** The position of a partition's migration. Everything before it is done. */
interface Cursor {
  readonly to: number;
  /** Index of the walk. */
  readonly walk: number;
  /** The last key that was walked; null at the start of a walk. */
  readonly after: Key | null;
}

const cursorKey = (partition: string): Key => [partition, metaSpace, "migration"];

/** Receives progress lines. */
export interface MigrationLog {
  info(message: string): void;
}

export interface MigrateOptions {
  /** The store's folder, for messages. */
  readonly folder: string;
  readonly steps: readonly MigrationStep[];
  readonly log: MigrationLog;
  readonly nowMs: () => number;
  /**
   * Copies the store's file and returns the path of the copy. Called before the first change of a migration, with the
   * store's format and the newest format. By default, no copy is made.
   */
  readonly copyFirst?: ((from: number, to: number) => Promise<string>) | undefined;
  /** Ends the migration after the current slice, with {@link MigrationCutShort}. */
  readonly ending?: AbortSignal | undefined;
  /** Number of entries in a slice; tests use fewer. */
  readonly slice?: number;
}

/** The process was asked to exit during a migration. The next start resumes the migration. */
export class MigrationCutShort extends Error {
  override readonly name = "MigrationCutShort";
}

/**
 * Marks a new store with the newest format, and migrates an older store. Rejects with `newer-format` for a newer store.
 * After any other {@link StoreError}, the next call resumes the migration.
 */
export async function migrate(store: Store, options: MigrateOptions): Promise<void> {
  const { steps, folder, log } = options;
  const newest = newestFormat(steps);
  checkFormat(store.reading, options);
  const format = store.reading.get<number>(FORMAT_KEY);
  const from = store.reading.get<number>(FROM_KEY) ?? format;
  const mark: Change = { op: "put", key: FORMAT_KEY, value: newest };
  if (from === undefined) {
    assertNew(store.reading, folder);
    return store.commit([mark]);
  }
  if (from === newest) return;
  if (from === format) await begin(options, from, newest);
  else
    log.info(`the migration of the store in ${folder} from format ${from} to ${newest} was interrupted, and resumes`);
  await store.commit([mark, { op: "put", key: FROM_KEY, value: from }]);
  for (const step of steps) if (step.to > from) await runStep(store, step, options);
  const unsealed = from < SEALED_FORMAT ? rewriteMeta(store.reading) : [];
  await store.commit([...unsealed, { op: "remove", key: FROM_KEY }]);
  log.info(`the store in ${folder} has format ${newest}`);
}

/** Copies the file if requested, then logs that the migration starts. */
async function begin({ folder, log, copyFirst }: MigrateOptions, from: number, newest: number): Promise<void> {
  const begins = `migrating the store in ${folder} from format ${from} to ${newest}, which earlier releases cannot read`;
  if (copyFirst === undefined) return log.info(begins);
  const copy = await copyFirst(from, newest);
  log.info(`${begins}: a copy of its file is at ${copy} until the next start without a migration`);
}

/** Throws `damaged` if a store without a format has contents. */
function assertNew(reading: Reading, folder: string): void {
  if (reading.range({ prefix: [], limit: 1 }).length === 0) return;
  throw new StoreError(
    "damaged",
    `the store in ${folder} has no format number: restore a backup into another folder; nothing was changed`,
  );
}

/** Rewrites the rows that steps may not write, so that their values get checksums. */
function rewriteMeta(reading: Reading): Change[] {
  return listPartitions(reading)
    .flatMap((partition) => reading.range({ prefix: [partition, metaSpace] }))
    .filter(({ key }) => key[2] !== FROM_KEY[2])
    .map(({ key, value }): Change => ({ op: "put", key, value }));
}

/** Throws `newer-format` for a store that this release cannot read. Accepts an older store. */
export function checkFormat(reading: Reading, { folder, steps }: Pick<MigrateOptions, "folder" | "steps">): void {
  const newest = newestFormat(steps);
  const format = reading.get<number>(FORMAT_KEY) ?? newest;
  if (format <= newest) return;
  const oldCopy = findFormatCopy(folder, newest);
  const back =
    oldCopy === null ? "" : `, or restore the store from before the upgrade: move ${oldCopy.copy} to ${oldCopy.file}`;
  throw new StoreError(
    "newer-format",
    `the store in ${folder} has format ${format}, but this release reads only formats up to ${newest}: use a ` +
      `newer release${back}`,
  );
}

/** Returns the format of a store that this release has opened. */
export function readFormat(reading: Reading): number {
  return reading.get<number>(FORMAT_KEY) ?? FIRST_FORMAT;
}

/**
 * `from` is the store's format or, during an unfinished migration, the format before that migration. `to` is the newest
 * format.
 */
export interface Formats {
  readonly from: number;
  readonly to: number;
}

/** Returns the formats between which `migrate` migrates a store. They are equal if it has nothing to migrate. */
export function findFormats(reading: Reading, steps: readonly MigrationStep[]): Formats {
  const to = newestFormat(steps);
  return { from: reading.get<number>(FROM_KEY) ?? reading.get<number>(FORMAT_KEY) ?? to, to };
}

/** Whether a store needs no migration. */
export function isCurrentFormat(reading: Reading, steps: readonly MigrationStep[]): boolean {
  return reading.get<number>(FORMAT_KEY) === newestFormat(steps) && reading.get(FROM_KEY) === undefined;
}

function newestFormat(steps: readonly MigrationStep[]): number {
  const gap = steps.find(({ to }, index) => to !== FIRST_FORMAT + index + 1);
  if (gap !== undefined) throw new Error(`the migration steps have a gap at ${gap.to}`);
  return FIRST_FORMAT + steps.length;
}

async function runStep(store: Store, step: MigrationStep, options: MigrateOptions): Promise<void> {
  const { log, nowMs } = options;
  const partitions = listPartitions(store.reading);
  let entries = 0;
  let reportedMs = nowMs();
  const report = (done: number): void =>
    log.info(`format ${step.to} (${step.title}): ${done} of ${partitions.length} partitions, ${entries} entries`);
  for (const [index, partition] of partitions.entries()) {
    await migratePartition(store, step, { partition, limit: options.slice ?? SLICE }, (walked) => {
      entries += walked;
      if (options.ending?.aborted === true) {
        report(index);
        throw new MigrationCutShort(`interrupted during the migration to format ${step.to}`);
      }
      if (nowMs() - reportedMs < REPORT_EVERY_MS) return;
      reportedMs = nowMs();
      report(index);
    });
  }
  report(partitions.length);
}

/**
 * Runs a step in one partition, starting at its cursor. Calls `committed` with the number of entries after each slice.
 */
async function migratePartition(
  store: Store,
  step: MigrationStep,
  { partition, limit }: { readonly partition: string; readonly limit: number },
  committed: (entries: number) => void,
): Promise<void> {
  let cursor = readCursor(store.reading, partition, step);
  for (
    let walk = step.walks[cursor.walk];
    walk !== undefined && cursor.to === step.to;
    walk = step.walks[cursor.walk]
  ) {
    const max = Math.min(limit, walk.maxEntries ?? limit);
    const reading = walk.skipsDamage === true ? readPastDamage(store.reading) : store.reading;
    const entries = nextSlice(reading, { partition, walk, after: cursor.after, limit: max });
    cursor = advance(cursor, entries, { step, limit: max });
    if (entries.length === 0) continue;
    const changes = walk.changes({ partition, entries, reading });
    for (const { key } of changes) if (key[0] !== partition || key[1] === metaSpace) throw foreignKeyError(step, key);
    await store.commit([...changes, { op: "put", key: cursorKey(partition), value: cursor }]);
    committed(entries.length);
  }
}

function readCursor(reading: Reading, partition: string, { to }: MigrationStep): Cursor {
  const cursor = reading.get<Cursor>(cursorKey(partition));
  return cursor !== undefined && cursor.to >= to ? cursor : { to, walk: 0, after: null };
}

function nextSlice(
  reading: Reading,
  at: { readonly partition: string; readonly walk: Walk; readonly after: Key | null; readonly limit: number },
): readonly Entry[] {
  const { partition, walk, after, limit } = at;
  const isService = partition === GLOBAL_PARTITION;
  if (walk.of !== "all" && isService !== (walk.of === "service")) return [];
  const prefix = [partition, ...walk.under];
  const found = reading.range({ prefix, after: after ?? undefined, limit });
  const last = found.at(-1);
  // Add the keys that start with the last key, because the next slice starts after all of them.
  return last === undefined ? found : [...found, ...reading.range({ prefix: last.key })];
}

/** Returns the cursor after the slice `found`. */
function advance(
  cursor: Cursor,
  found: readonly Entry[],
  { step, limit }: { readonly step: MigrationStep; readonly limit: number },
): Cursor {
  const { to, walk } = cursor;
  const last = found.at(-1);
  if (last !== undefined && found.length >= limit) return { to, walk, after: last.key };
  return walk + 1 < step.walks.length ? { to, walk: walk + 1, after: null } : { to: to + 1, walk: 0, after: null };
}

function foreignKeyError({ to, title }: MigrationStep, key: Key): Error {
  return new Error(`the step to format ${to} (${title}) writes ${JSON.stringify(key)}, which its slice may not write`);
}
