import { type CelMap, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";

/**
 * What one evaluation may cost, in units of about a tenth of a microsecond: a call, a step of a loop times the nodes
 * it holds, 16 characters looked at or made. Counted, not timed, so that an expression gives the same everywhere.
 */
export const MAX_UNITS = 30_000;
const CHARACTERS_A_UNIT = 16;
/** Elements that a value is looked through for at most when its size is counted. */
const MAX_COUNTED = MAX_UNITS;

/** What something may still cost, in such units; below 0 once it cost more. */
export interface Work {
  units: number;
}

/**
 * Counts what an evaluation costs. Once it is spent it stays so: errors that an expression swallows (`all` and
 * `exists` do) change nothing, since loops ask {@link isSpent} before each step.
 */
export class Meter {
  #left = MAX_UNITS;
  readonly #patterns = new Set<string>();

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Units that are not spent; below 0 once it took more. */
  get left(): number {
    return this.#left;
  }

  restart(units = MAX_UNITS): void {
    this.#left = units;
    this.#patterns.clear();
  }

  /** Whether an evaluation comes to this pattern for the first time, and so may have to make it. */
  isNew(pattern: string): boolean {
    const { size } = this.#patterns;
    return this.#patterns.add(pattern).size > size;
  }

  spend(units: number): void {
    this.#left -= units;
  }

  /** What handling the value costs: its characters and elements, all the way down. */
  spendFor(value: CelValue | undefined): void {
    this.#left -= 1;
    if (typeof value === "string" || value instanceof Uint8Array) this.#left -= value.length / CHARACTERS_A_UNIT;
  }

  /** As {@link spendFor}, for what looks at every element. */
  spendForAll(value: CelValue): void {
    const pending: CelValue[] = [value];
    for (let counted = 0; counted < MAX_COUNTED; counted++) {
      const next = pending.pop();
      if (next === undefined) return;
      this.spendFor(next);
      if (this.isSpent) return;
      // A list that was put together may say that it is larger than anything that exists.
      if (isCelList(next)) {
        this.spend(next.size);
        if (!this.isSpent) pending.push(...next);
      } else if (isCelMap(next)) {
        this.spend(next.size);
        if (!this.isSpent) pending.push(...valuesOf(next));
      }
    }
  }
}

function valuesOf(map: CelMap): CelValue[] {
  return [...map.values()];
}
