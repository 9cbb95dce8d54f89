import { type Chance, createChance } from "../simulation/chance.js";

/** What a fault takes hold of: those of one target come one after the other in a round, others at the same time. */
export type FaultTarget = "service" | "runners" | "receivers" | "code host" | "clients";

/** What the plan wants to know of a fault. */
export interface PlannedFault {
  readonly name: string;
  readonly target: FaultTarget;
}

/** Faults of a round. */
const FAULTS_A_ROUND = 4;

/**
 * The faults of each round, from the seed: each comes once before any comes again, and those of a round have different
 * targets as far as the rest of that turn allows.
 */
export function* planRounds<Fault extends PlannedFault>(faults: readonly Fault[], seed: number): Generator<Fault[]> {
  const chance = createChance(seed);
  let left: Fault[] = [];
  for (;;) {
    const round: Fault[] = [];
    while (round.length < Math.min(FAULTS_A_ROUND, faults.length)) {
      if (left.length === 0) left = shuffled(faults, chance);
      const at = indexOfNext(left, round);
      // What is left of this turn are faults that the round has: they come in the next one.
      if (at < 0) break;
      round.push(...left.splice(at, 1));
    }
    yield round;
  }
}

/** A seed of its own for each part of something that has a seed: near numbers lead to seeds far apart. */
export function seedOf(...parts: readonly number[]): number {
  let mixed = 0x9e3779b9;
  for (const part of parts) {
    mixed = Math.imul(mixed ^ part, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
    mixed ^= mixed >>> 16;
  }
  return mixed;
}

/** The first with a target that the round does not have yet; else the first that it does not have itself. */
function indexOfNext(left: readonly PlannedFault[], round: readonly PlannedFault[]): number {
  const taken = new Set(round.map(({ target }) => target));
  const other = left.findIndex(({ target }) => !taken.has(target));
  return other >= 0 ? other : left.findIndex((fault) => !round.includes(fault));
}

function shuffled<Item>(items: readonly Item[], chance: Chance): Item[] {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at--) {
    const other = chance.between(0, at);
    const [one, two] = [all[at], all[other]];
    if (one === undefined || two === undefined) continue;
    all[at] = two;
    all[other] = one;
  }
  return all;
}
