/**
 * Checks the stored rows of actors.
 *
 * 1. The record decides which wake-ups an actor has. The repair removes wake-up rows that no record names, and writes
 * those that are missing.
 * 2. No other row holds a copy of an actor's state. An unknown state or a lost effect is therefore only reported.
 */
import { checkDerived } from "../../storage/check-derived.js";
import { type Finding, listEntries } from "../../storage/finding.js";
import {
  actorSpace,
  effectSpace,
  GLOBAL_PARTITION,
  startedSpace,
  timerSpace,
  undeliveredSpace,
} from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, Key, Reading } from "../../storage/store.js";
import { type EffectRow, effectKey } from "../effects/pending-effect.js";
import { checkCounter } from "../messages/undelivered.js";
import { timerKey } from "../schedule/timers.js";
import type { Catalogue } from "./actor-type.js";
import { type Address, address } from "./address.js";
import { Behaviours } from "./behaviour.js";
import { type CellRecord, cellKey } from "./cell-record.js";

export function* checkActors(damageable: Reading, catalogue: Catalogue): Generator<Finding> {
  const behaviours = new Behaviours(catalogue);
  let isIncomplete = false;
  const reading = readPastDamage(damageable, ({ 1: space }) => {
    if (space === actorSpace) isIncomplete = true;
  });
  for (const partition of listPartitions(reading)) {
    for (const { key, value } of listEntries<CellRecord>(reading, [partition, actorSpace])) {
      yield* checkRecord(reading, { key, record: value, behaviours });
    }
    for (const { key, value } of listEntries<EffectRow>(reading, [partition, effectSpace])) {
      yield* checkEffect(reading, { key, row: value, behaviours });
    }
    for (const { key } of listEntries(reading, [partition, startedSpace])) {
      if (reading.get(effectKey(toAddress(key), String(key[4]))) !== undefined) continue;
      yield { what: "a mark of an effect that is not pending", key, repair: [{ op: "remove", key }] };
    }
    for (const { key } of listEntries(reading, [partition, undeliveredSpace])) {
      if (behaviours.find(toAddress(key)) === undefined)
        yield { what: "a message to no kind of actor", key, repair: [] };
    }
  }
  yield* checkDerived(reading, {
    title: "wake-ups",
    expected: listWakeUps(reading),
    // The value of a wake-up's row is the time when the wake-up was set. It may differ: the runtime needs this time
    // only after the clock goes back.
    mayDiffer: true,
    prefixes: [[GLOBAL_PARTITION, timerSpace]],
    isIncomplete: () => isIncomplete,
  });
  yield* checkCounter(reading);
}

interface Stored {
  readonly key: Key;
  readonly behaviours: Behaviours;
}

function* checkRecord(reading: Reading, { key, record, behaviours }: Stored & { readonly record: CellRecord }) {
  yield* checkState(key, record, behaviours);
  for (const id of record.effects ?? []) {
    if (reading.get(effectKey(toAddress(key), id)) !== undefined) continue;
    const finding: Finding = { what: "an effect that its actor waits for is missing", key, repair: [] };
    yield finding;
  }
}

/** Checks an effect's row. The actor's record is under its own key, or in the row of its only effect. */
function* checkEffect(reading: Reading, { key, row, behaviours }: Stored & { readonly row: EffectRow }) {
  const own = reading.get<CellRecord>(cellKey(toAddress(key)));
  if (own === undefined && row.actor !== undefined) yield* checkState(key, row.actor, behaviours);
  if (own?.effects?.includes(String(key[4])) === true || row.actor !== undefined) return;
  const finding: Finding = { what: "an effect that no actor waits for", key, repair: [] };
  yield finding;
}

/** Reports a state that the actor's machine cannot restore. */
function* checkState(key: Key, { state, version }: CellRecord, behaviours: Behaviours): Generator<Finding> {
  const behaviour = behaviours.find(toAddress(key));
  if (behaviour === undefined) yield { what: "an actor of no kind", key, repair: [] };
  if (behaviour === undefined || state === undefined) return;
  try {
    behaviour.restore(state, version);
  } catch {
    yield { what: "an actor in a state that its machine does not have", key, repair: [] };
  }
}

/** Lists the wake-ups that the records name. */
function* listWakeUps(reading: Reading): Generator<Entry> {
  for (const partition of listPartitions(reading)) {
    for (const { key, value } of listEntries<CellRecord>(reading, [partition, actorSpace])) {
      for (const [name, dueMs] of Object.entries(value.timers ?? {})) {
        const at = timerKey({ to: toAddress(key), name, dueMs });
        // Only the wake-up's row contains the time when the wake-up was set. If the row is missing, write null: a
        // wake-up also works without this time.
        yield { key: at, value: reading.get<number | null>(at) ?? null };
      }
    }
  }
}

/** Converts a key to an address. In every actor space, kind and id follow the space. */
function toAddress([partition, , kind, id]: Key): Address {
  return address(String(partition), String(kind), String(id));
}
