import { isDeepStrictEqual } from "node:util";
import type { CellRecord } from "../../runtime/cells/cell-record.js";
import { gateKind } from "../../runtime/cells/gate.machine.js";
import { directoryKey } from "../../runtime/directories/directory.js";
import { listStoredEntries } from "../../runtime/feeds/feed.js";
import { listDeadLetters } from "../../runtime/messages/dead-letters.js";
import { readView } from "../../runtime/rows/read-view.js";
import {
  actorSpace,
  effectSpace,
  GLOBAL_PARTITION,
  startedSpace,
  timerSpace,
  undeliveredSpace,
} from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import type { Told } from "./clients.js";
import type { Outside } from "./outside.js";
import { arrivals, durableLedger, operations, partitions, reminders, takenAt, violations } from "./rows.js";

/** Checks that no acknowledged operation is lost. Call it at any time. */
export function checkAcknowledged(durable: Reading, told: Told): string[] {
  return [...told.done]
    .filter(([op, partition]) => operations.get(durable, partition, op) === undefined)
    .map(([op]) => `${op} was acknowledged and is lost`);
}

/** Checks that cached read views match the durable rows. Call it at any time. */
export function checkReads(reading: Reading, durable: Reading): string[] {
  return partitions
    .filter((partition) => {
      const held = readView(reading, durableLedger, partition);
      return !isDeepStrictEqual(held, durableLedger.build(durable, partition));
    })
    .map((partition) => `reads of ${partition} are told of other operations than are durable`);
}

/** Runs the checks that must hold once nothing is in progress. */
export function checkAtRest(durable: Reading, told: Told, outside: Outside): string[] {
  return [
    ...checkAcknowledged(durable, told),
    ...[...told.refused]
      .filter(([op, partition]) => operations.get(durable, partition, op) !== undefined)
      .map(([op]) => `${op} was refused and is done`),
    ...partitions.flatMap((partition) => violations.list(durable, partition).map(({ what }) => what)),
    ...violations.list(durable, GLOBAL_PARTITION).map(({ what }) => what),
    ...partitions.flatMap((partition) => checkArrivals(durable, partition)),
    ...partitions.flatMap((partition) => checkFeed(durable, partition)),
    ...checkMoney(durable, outside),
    ...checkLeftovers(durable),
    ...checkDirectory(durable),
    ...outside.complaints,
  ];
}

/** Checks that every consequence of an operation happened exactly once. */
function checkArrivals(durable: Reading, partition: string): string[] {
  const arrived = (name: string): boolean =>
    [...partitions, GLOBAL_PARTITION].some((where) => arrivals.get(durable, where, name) !== undefined);
  const letters = listDeadLetters(durable, partition, 10_000).concat(
    partitions.flatMap((other) => (other === partition ? [] : listDeadLetters(durable, other, 10_000))),
  );
  return operations.entries(durable, partition).flatMap(({ key, value }) => {
    const op = String(key[3]);
    const wanted: Record<string, readonly string[]> = {
      transfer: [`credit-${op}`, `audit-${op}`],
      reserve: [`gate-${op}`],
      pay: [`effect-${op}`],
      stumble: [`stumbling-${op}`],
    };
    const missing = (wanted[value.kind] ?? []).filter((name) => !arrived(name)).map((name) => `${name} never arrived`);
    const poisons = letters.filter(({ message }) => "op" in message && message.op === op).length;
    const expected = value.kind === "infect" ? 1 : 0;
    return poisons === expected ? missing : [...missing, `${op} left ${poisons} dead letters, not ${expected}`];
  });
}

function checkFeed(durable: Reading, partition: string): string[] {
  const entries = listStoredEntries(durable, partition);
  const gaps = entries.filter(({ seq }, index) => seq !== index + 1);
  const told = entries.map(({ data }) => (data as { readonly op: string }).op).sort();
  const done = operations
    .entries(durable, partition)
    .filter((row) => row.value.kind !== "cancelled")
    .map((row) => String(row.key[3]))
    .sort();
  const same = told.length === done.length && told.every((op, index) => op === done[index]);
  return [
    ...gaps.map((entry) => `the feed of ${partition} has a gap at ${entry.seq}`),
    ...(same ? [] : [`the feed of ${partition} tells ${told.length} operations, ${done.length} were done`]),
  ];
}

interface Account {
  readonly balance: number;
  readonly reserved: object;
  readonly paying: object;
}

function checkMoney(durable: Reading, outside: Outside): string[] {
  let held = [...outside.ledger.values()].reduce((sum, amount) => sum + amount, 0);
  let created = 0;
  const open: string[] = [];
  for (const partition of partitions) {
    for (const { value } of operations.entries(durable, partition)) created += value.created;
    for (const { key, value } of durable.range<CellRecord>({ prefix: [partition, actorSpace, "account"] })) {
      // The account crashed before its first turn ended, and has been suspended since then. So it has no state.
      if (value.state === undefined) continue;
      const account = value.state.context as Account;
      held += account.balance;
      if (Object.keys(account.reserved).length + Object.keys(account.paying).length > 0) {
        open.push(`${partition}/${key[3]} still waits for an answer`);
      }
    }
  }
  return held === created ? open : [...open, `${created} of money was made, ${held} is there`];
}

/** Checks that the directory points to every operation, and to nothing else. */
function checkDirectory(durable: Reading): string[] {
  const led = durable.range<{ readonly partition: string }>({
    prefix: directoryKey({ directory: takenAt.name, id: [] }),
  });
  const found = led.map(({ key, value }) => `${value.partition}/${key.at(-1)}`).sort();
  const taken = partitions
    .flatMap((partition) => operations.entries(durable, partition))
    .map(({ key }) => `${key[0]}/${key.at(-1)}`)
    .sort();
  return found.join() === taken.join() ? [] : [`the directory leads to ${found.length} of ${taken.length} operations`];
}

/** Checks that finished work leaves no rows behind. */
function checkLeftovers(durable: Reading): string[] {
  const spaces = [...partitions, GLOBAL_PARTITION].flatMap((partition) => [
    [partition, undeliveredSpace],
    [partition, effectSpace],
    [partition, startedSpace],
    [partition, actorSpace, gateKind],
    [partition, actorSpace, "payer"],
  ]);
  const left = [...spaces, [GLOBAL_PARTITION, timerSpace]].flatMap((prefix) => durable.range({ prefix }));
  const unwoken = partitions.flatMap((partition) => reminders.entries(durable, partition));
  return [...left, ...unwoken].map((row) => `${row.key.join("/")} is left over`);
}
