/** The largest number of pieces of work that run at the same time. */
interface ConcurrencyLimits {
  /** For one caller. */
  readonly each: number;
  /** For all callers in one workspace. Much lower than `all`, so that one workspace cannot use the whole limit. */
  readonly workspace: number;
  /** For all callers together. */
  readonly all: number;
}

/** The key in {@link ConcurrencyLimit} that counts the work of all callers together. */
const ALL = "all";

/** Limits concurrent work that holds resources, per caller, per workspace and in total. */
export class ConcurrencyLimit {
  readonly #max: ConcurrencyLimits;
  /**
   * Number of active pieces of work by caller id, by workspace id, and in total (under {@link ALL}). An entry is
   * removed when its number reaches 0.
   */
  readonly #counts = new Map<string, number>();

  constructor(max: ConcurrencyLimits) {
    this.#max = max;
  }

  /**
   * Starts one piece of work for a caller in a workspace. Returns a function that ends this work; call the function
   * once. Returns null if a limit is reached.
   */
  begin(callerId: string, workspaceId: string): (() => void) | null {
    const { each, workspace, all } = this.#max;
    const isFull = this.#count(callerId) >= each || this.#count(workspaceId) >= workspace || this.#count(ALL) >= all;
    if (isFull) return null;
    const names = [callerId, workspaceId, ALL];
    for (const name of names) this.#counts.set(name, this.#count(name) + 1);
    return () => {
      for (const name of names) this.#release(name);
    };
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  #release(name: string): void {
    const left = this.#count(name) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}
