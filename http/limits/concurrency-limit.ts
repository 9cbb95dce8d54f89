/** Limits concurrent work that holds resources, per caller and in total. */
export class ConcurrencyLimit {
  readonly #max: { readonly each: number; readonly all: number };
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** `each` is the limit of one caller, `all` the limit of all callers together. */
  constructor(max: { readonly each: number; readonly all: number }) {
    this.#max = max;
  }

  /**
   * Starts one piece of work and returns a function that ends it; call that function once. Returns null if a limit is
   * reached.
   */
  begin(who: string): (() => void) | null {
    const count = this.#counts.get(who) ?? 0;
    if (count >= this.#max.each || this.#all >= this.#max.all) return null;
    this.#counts.set(who, count + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      const left = (this.#counts.get(who) ?? 0) - 1;
      if (left > 0) this.#counts.set(who, left);
      else this.#counts.delete(who);
    };
  }
}
