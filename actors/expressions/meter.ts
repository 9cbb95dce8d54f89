import { type CelMap, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";

/**
 * Cost limit of one evaluation, in units. A unit is about a tenth of a microsecond. The cost is counted and not timed,
 * so that an expression has the same result on every machine.
 *
 * These cost one unit each; some calls cost more:
 *
 * - a call, and each argument of a call
 * - 16 characters of an argument
 * - each node in each step of a loop
 */
export const MAX_UNITS = 30_000;
const CHARACTERS_A_UNIT = 16;
/** Maximum number of elements to visit when counting the size of a value. */
const MAX_COUNTED = MAX_UNITS;

/** The remaining budget in units; below 0 once it is exceeded. */
export interface Work {
  units: number;
}

/**
 * Counts the cost of an evaluation. Exceeding the limit is an error, but `all` and `exists` ignore errors of single
 * elements. Loops therefore also check {@link isSpent} before each step.
 */
export class Meter {
  #left = MAX_UNITS;
  readonly #patterns = new Set<string>();

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** The remaining units; below 0 once the limit is exceeded. */
  get left(): number {
    return this.#left;
  }

  restart(units = MAX_UNITS): void {
    this.#left = units;
    this.#patterns.clear();
  }

  /**
   * Returns whether the evaluation uses this pattern for the first time, so that the pattern may not be compiled yet.
   * Remembers the pattern.
   */
  isNew(pattern: string): boolean {
    const { size } = this.#patterns;
    return this.#patterns.add(pattern).size > size;
  }

  spend(units: number): void {
    this.#left -= units;
  }

  /**
   * Spends the cost of passing a value to a function: one unit, and one more for every 16 characters of text or bytes.
   * The elements of lists and maps cost nothing here.
   */
  spendFor(value: CelValue | undefined): void {
    this.#left -= 1;
    if (typeof value === "string" || value instanceof Uint8Array) this.#left -= value.length / CHARACTERS_A_UNIT;
  }

  /** Like {@link spendFor}, but for functions that read all elements: counts characters and elements at any depth. */
  spendForAll(value: CelValue): void {
    const pending: CelValue[] = [value];
    for (let counted = 0; counted < MAX_COUNTED; counted++) {
      const next = pending.pop();
      if (next === undefined) return;
      this.spendFor(next);
      if (this.isSpent) return;
      // Spend the size before copying the elements: a concatenated list may report a size that cannot be copied.
      if (isCelList(next)) {
        this.spend(next.size);
        if (!this.isSpent) pending.push(...next);
      } else if (isCelMap(next)) {
        this.spend(next.size);
        if (!this.isSpent) pending.push(...listValues(next));
      }
    }
  }
}

function listValues(map: CelMap): CelValue[] {
  return [...map.values()];
}
