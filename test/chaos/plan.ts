import { type Chance, createChance } from "../simulation/chance.js";

/**
 * The target of a fault. Within a round, faults of one target run one after another, and faults of different targets
 * concurrently.
 */
export type FaultTarget = "service" | "runners" | "receivers" | "code host" | "clients";

/** The properties of a fault that the plan needs. */
export interface PlannedFault {
  readonly name: string;
  readonly target: FaultTarget;
}

/** Faults per round. */
const FAULTS_A_ROUND = 4;

/**
 * Generates the faults of each round from the seed. No fault occurs again before every other fault has occurred. The
 * faults of a round have different targets where the faults that have not occurred yet allow that.
 */
export function* planRounds<Fault extends PlannedFault>(faults: readonly Fault[], seed: number): Generator<Fault[]> {
  const chance = createChance(seed);
  let left: Fault[] = [];
  for (;;) {
    const round: Fault[] = [];
    while (round.length < Math.min(FAULTS_A_ROUND, faults.length)) {
      if (left.length === 0) left = shuffled(faults, chance);
      const at = indexOfNext(left, round);
      // All faults that are left are already in this round. They are played in the next round.
      if (at < 0) break;
      round.push(...left.splice(at, 1));
    }
    yield round;
  }
}

/** Derives one seed from several numbers. Numbers that differ only a little give very different seeds. */
export function toSeed(...parts: readonly number[]): number {
  let mixed = 0x9e3779b9;
  for (const part of parts) {
    mixed = Math.imul(mixed ^ part, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
    mixed ^= mixed >>> 16;
  }
  return mixed;
}

/**
 * Returns the index of the first fault in `left` whose target is new in the round. If there is none, returns the index
 * of the first fault in `left` that is not in the round, or -1.
 */
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
