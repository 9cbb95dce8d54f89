import {
  dedupSpace,
  effectSpace,
  feedSpace,
  rowSpace,
  startedSpace,
  timerSpace,
  undeliveredSpace,
} from "../../storage/keys.js";
import type { Change } from "../../storage/store.js";
import type { Chance } from "./chance.js";

/** A fault of the simulated disk. The checks must detect every fault; a check that detects none is useless. */
export interface Fault {
  readonly name: string;
  /** Whether the disk acknowledges a batch before it is durable. */
  readonly answersEarly: boolean;
  /** Returns the changes that the disk writes when it receives the batch `changes`. */
  readonly write: (changes: readonly Change[], chance: Chance) => readonly Change[];
}

export const faults: readonly Fault[] = [
  { name: "a disk that answers before the flush", answersEarly: true, write: (changes) => changes },
  dropping("a disk that loses whole batches", () => true, 40),
  { name: "a disk that writes half a batch", answersEarly: false, write: half },
  dropping("a disk that does not write mail", (change) => change.op === "put" && change.key[1] === undeliveredSpace, 1),
  dropping(
    "a disk that does not remove mail",
    (change) => change.op === "remove" && change.key[1] === undeliveredSpace,
    1,
  ),
  dropping("a disk that loses wake-ups", (change) => change.op === "put" && change.key[1] === timerSpace, 1),
  dropping("a disk that loses pending effects", (change) => change.op === "put" && change.key[1] === effectSpace, 1),
  dropping("a disk that does not end effects", (change) => change.op === "remove" && change.key[1] === effectSpace, 1),
  dropping("a disk that loses marks of effects", (change) => change.op === "put" && change.key[1] === startedSpace, 1),
  dropping("a disk that forgets message ids", (change) => change.op === "put" && change.key[1] === dedupSpace, 1),
  dropping("a disk that loses feed entries", (change) => change.op === "put" && change.key[1] === feedSpace, 5),
  dropping("a disk that loses single rows", (change) => change.op === "put" && change.key[1] === rowSpace, 30),
];

/**
 * Creates a fault that affects one batch in `times` on average. The disk does not write the changes of this batch for
 * which `drops` returns true.
 */
function dropping(name: string, drops: (change: Change) => boolean, times: number): Fault {
  return {
    name,
    answersEarly: false,
    write: (changes, chance) => (chance.onceIn(times) ? changes.filter((change) => !drops(change)) : changes),
  };
}

function half(changes: readonly Change[], chance: Chance): readonly Change[] {
  return chance.onceIn(10) ? changes.slice(0, Math.ceil(changes.length / 2)) : changes;
}
