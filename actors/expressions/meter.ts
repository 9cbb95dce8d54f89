import { type CelMap, type CelValue, isCelList, isCelMap } from "@bufbuild/cel";

/**
 * Cost limit of one evaluation, in units of about a tenth of a microsecond: a call, a step of a loop for each of its
 * nodes, 16 characters read or written. Counted, not timed, so that an expression has the same result everywhere.
 */
export const MAX_UNITS = 30_000;
const CHARACTERS_A_UNIT = 16;
/** Most elements visited to count the size of a value. */
const MAX_COUNTED = MAX_UNITS;

/** The remaining budget in units; below 0 once it is exceeded. */
export interface Work {
  units: number;
}

/**
 * Counts the cost of an evaluation. Once spent it stays spent, even when the expression swallows the error (`all` and
 * `exists` do), since loops check {@link isSpent} before each step.
 */
export class Meter {
  #left = MAX_UNITS;
  readonly #patterns = new Set<string>();

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** The remaining units; below 0 once they are exceeded. */
  get left(): number {
    return this.#left;
  }

  restart(units = MAX_UNITS): void {
    this.#left = units;
    this.#patterns.clear();
  }

  /** Whether the evaluation uses this pattern for the first time, and may have to compile it. */
  isNew(pattern: string): boolean {
    const { size } = this.#patterns;
    return this.#patterns.add(pattern).size > size;
  }

  spend(units: number): void {
    this.#left -= units;
  }

  /** Spends the cost of handling the value: of all its characters and elements, at any depth. */
  spendFor(value: CelValue | undefined): void {
    this.#left -= 1;
    if (typeof value === "string" || value instanceof Uint8Array) this.#left -= value.length / CHARACTERS_A_UNIT;
  }

  /** As {@link spendFor}, for functions that read every element. */
  spendForAll(value: CelValue): void {
    const pending: CelValue[] = [value];
    for (let counted = 0; counted < MAX_COUNTED; counted++) {
      const next = pending.pop();
      if (next === undefined) return;
      this.spendFor(next);
      if (this.isSpent) return;
      // A concatenated list may report a size that could never be built.
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
