/**
 * Brings a store from one format to the next, before anything is served. It owns the store's format and how far a
 * migration came; what a step changes is the step's own.
 *
 * 1. A step walks partition after partition in key order (the service's own, `~`, comes last), in slices. A slice is one
 *    batch of one partition, and holds the place behind it: a process that is killed goes on where it was.
 * 2. A step begins when the one before it has ended everywhere. What it reads elsewhere has its own format or, in
 *    partitions that come later, the one before.
 * 3. From the first batch on the store has the newest format and says from which it comes: an older release refuses it.
 */
import { GLOBAL_PARTITION, metaSpace } from "./keys.js";
import { listPartitions } from "./partitions.js";
import { type Change, type Entry, type Key, type KeyPart, type Reading, type Store, StoreError } from "./store.js";

/** Entries of one partition that are looked at in one batch. */
export interface Slice {
  readonly partition: string;
  /** At least one, in key order. */
  readonly entries: readonly Entry[];
  /** The store as it is before the batch. */
  readonly reading: Reading;
}

/** A walk over the entries below `[partition, ...under]`. */
export interface Walk {
  readonly under: readonly KeyPart[];
  /** The workspaces' partitions unless told: the service's own (`~`), or all. */
  readonly of?: "workspaces" | "service" | "all";
  /** Entries in a slice at most; to be given where one may take megabytes, since a slice is in memory as a whole. */
  readonly most?: number;
  /**
   * What is written for a slice, in its partition alone. Pure, and repeatable: entries that it has brought up to date it
   * leaves as they are, since those that it writes further on are walked too.
   */
  readonly changes: (slice: Slice) => readonly Change[];
}

/** What brings a store to format `to` from the one before. */
export interface MigrationStep {
  /** Steps are numbered from 2, without a gap. */
  readonly to: number;
  /** What it brings, for the log. */
  readonly title: string;
  /** One after the other, in each partition. */
  readonly walks: readonly Walk[];
}

/** The format of a store whose release knew no step. */
const FIRST_FORMAT = 1;
/** Time between lines that say how far a step came, in milliseconds. */
const TELL_EVERY_MS = 5_000;
/** Entries in a slice, but for those below the last one's key. */
const SLICE = 128;

const FORMAT_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format"];
/** The format that a migration under way comes from. */
const FROM_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format-before"];

/** Where the migration of a partition goes on; what lies before it is done. */
interface Place {
  readonly to: number;
  /** Index of the walk. */
  readonly walk: number;
  /** The last key that was looked at; null at a walk's beginning. */
  readonly after: Key | null;
}

const placeKey = (partition: string): Key => [partition, metaSpace, "migration"];

/** Told how it goes on, in lines for the log. */
export interface MigrationLog {
  info(message: string): void;
}

export interface MigrateOptions {
  /** What messages call the store. */
  readonly folder: string;
  readonly steps: readonly MigrationStep[];
  readonly log: MigrationLog;
  readonly nowMs: () => number;
  /** Ends it after the slice under way, with {@link MigrationCutShort}. */
  readonly ending?: AbortSignal | undefined;
  /** Entries in a slice; tests take fewer. */
  readonly slice?: number;
}

/** Somebody asked for the end while a store was on its way; the next start goes on. */
export class MigrationCutShort extends Error {
  override readonly name = "MigrationCutShort";
}

/**
 * Marks a new store with the newest format, and brings an older one there. Rejects with `newer-format` for a newer one;
 * any other {@link StoreError} leaves it where it came to, to go on from there.
 */
export async function migrate(store: Store, options: MigrateOptions): Promise<void> {
  const { steps, folder, log } = options;
  const newest = newestFormat(steps);
  checkFormat(store.reading, options);
  const format = store.reading.get<number>(FORMAT_KEY);
  const from = store.reading.get<number>(FROM_KEY) ?? format;
  const mark: Change = { op: "put", key: FORMAT_KEY, value: newest };
  if (from === undefined) return store.commit([mark]);
  if (from === newest) return;
  if (from === format) {
    log.info(`the store in ${folder} has format ${from} and is brought to ${newest}: no earlier release reads it then`);
    log.info("a backup made before (npm run backup) is the only way back: end this now if there is none");
  } else log.info(`the store in ${folder} is on its way from format ${from} to ${newest}, and goes on`);
  await store.commit([mark, { op: "put", key: FROM_KEY, value: from }]);
  for (const step of steps) if (step.to > from) await take(store, step, options);
  await store.commit([{ op: "remove", key: FROM_KEY }]);
  log.info(`the store in ${folder} has format ${newest}`);
}

/** Throws `newer-format` for a store that this release cannot read; one that is older passes. */
export function checkFormat(reading: Reading, { folder, steps }: Pick<MigrateOptions, "folder" | "steps">): void {
  const newest = newestFormat(steps);
  const format = reading.get<number>(FORMAT_KEY) ?? newest;
  if (format <= newest) return;
  throw new StoreError(
    "newer-format",
    `the store in ${folder} has format ${format}, this release reads up to ${newest}: use a newer release`,
  );
}

function newestFormat(steps: readonly MigrationStep[]): number {
  const gap = steps.find(({ to }, index) => to !== FIRST_FORMAT + index + 1);
  if (gap !== undefined) throw new Error(`the steps of migrations are not numbered without a gap at ${gap.to}`);
  return FIRST_FORMAT + steps.length;
}

async function take(store: Store, step: MigrationStep, options: MigrateOptions): Promise<void> {
  const { log, nowMs } = options;
  const partitions = listPartitions(store.reading);
  let entries = 0;
  let toldMs = nowMs();
  const tell = (done: number): void =>
    log.info(`format ${step.to} (${step.title}): ${done} of ${partitions.length} partitions, ${entries} entries`);
  for (const [index, partition] of partitions.entries()) {
    await takePartition(store, step, { partition, limit: options.slice ?? SLICE }, (looked) => {
      entries += looked;
      if (options.ending?.aborted === true) {
        tell(index);
        throw new MigrationCutShort(`ended on the way to format ${step.to}`);
      }
      if (nowMs() - toldMs < TELL_EVERY_MS) return;
      toldMs = nowMs();
      tell(index);
    });
  }
  tell(partitions.length);
}

/** Takes a step in one partition, from where it came to; `taken` hears how many entries each slice had. */
async function takePartition(
  store: Store,
  step: MigrationStep,
  { partition, limit }: { readonly partition: string; readonly limit: number },
  taken: (entries: number) => void,
): Promise<void> {
  let place = placeIn(store.reading, partition, step);
  for (let walk = step.walks[place.walk]; walk !== undefined && place.to === step.to; walk = step.walks[place.walk]) {
    const most = Math.min(limit, walk.most ?? limit);
    const entries = nextSlice(store.reading, { partition, walk, after: place.after, limit: most });
    place = placeBehind(place, entries, { step, limit: most });
    if (entries.length === 0) continue;
    const changes = walk.changes({ partition, entries, reading: store.reading });
    for (const { key } of changes) if (key[0] !== partition || key[1] === metaSpace) throw astray(step, key);
    await store.commit([...changes, { op: "put", key: placeKey(partition), value: place }]);
    taken(entries.length);
  }
}

function placeIn(reading: Reading, partition: string, { to }: MigrationStep): Place {
  const place = reading.get<Place>(placeKey(partition));
  return place !== undefined && place.to >= to ? place : { to, walk: 0, after: null };
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
  // The next slice begins past everything below the last key.
  return last === undefined ? found : [...found, ...reading.range({ prefix: last.key })];
}

function placeBehind(
  place: Place,
  found: readonly Entry[],
  { step, limit }: { readonly step: MigrationStep; readonly limit: number },
): Place {
  const { to, walk } = place;
  const last = found.at(-1);
  if (last !== undefined && found.length >= limit) return { to, walk, after: last.key };
  return walk + 1 < step.walks.length ? { to, walk: walk + 1, after: null } : { to: to + 1, walk: 0, after: null };
}

function astray({ to, title }: MigrationStep, key: Key): Error {
  return new Error(
    `the step to format ${to} (${title}) writes ${JSON.stringify(key)}, which is not its slice's to write`,
  );
}
