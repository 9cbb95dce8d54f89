/** Counts what takes long and holds something meanwhile, for each who asked and altogether. */
export class ConcurrencyLimit {
  readonly #max: { readonly each: number; readonly all: number };
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** `each` at once for one who asks, `all` for everybody together. */
  constructor(max: { readonly each: number; readonly all: number }) {
    this.#max = max;
  }

  /** Counts one more and gives what ends it, to be called once; null where there is no room. */
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
