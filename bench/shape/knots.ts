import type { Import } from "../../test/support/source-code.js";

/**
 * The knots of a graph of imports: the greatest sets of files each of which leads to each other (Tarjan's strongly
 * connected components of two files or more, and a file that imports itself). Without knots there is no circle; a knot
 * holds one circle or many. Each in order of paths, the largest knot first.
 */
export function knotsOf(imports: readonly Import[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const search = new Search(next);
  for (const file of next.keys()) search.visit(file);
  return search.knots.map((knot) => knot.sort()).sort((left, right) => right.length - left.length);
}

/** Tarjan's walk. `low` is the earliest file on the stack that a file leads to. */
class Search {
  readonly knots: string[][] = [];
  readonly #next: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #index = new Map<string, number>();
  readonly #stack: string[] = [];
  readonly #onStack = new Set<string>();

  constructor(next: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#next = next;
  }

  /** Gives the file's `low`. */
  visit(file: string): number {
    const known = this.#index.get(file);
    if (known !== undefined) return this.#onStack.has(file) ? known : Number.POSITIVE_INFINITY;
    const index = this.#index.size;
    this.#index.set(file, index);
    this.#stack.push(file);
    this.#onStack.add(file);
    let low = index;
    for (const to of this.#next.get(file) ?? []) low = Math.min(low, this.visit(to));
    if (low === index) this.#close(file);
    return low;
  }

  #close(file: string): void {
    const knot = this.#stack.splice(this.#stack.lastIndexOf(file));
    for (const member of knot) this.#onStack.delete(member);
    if (knot.length > 1 || this.#next.get(file)?.has(file) === true) this.knots.push(knot);
  }
}
