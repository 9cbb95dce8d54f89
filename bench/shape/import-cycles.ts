import type { Import } from "../../test/support/source-code.js";

/**
 * Returns the strongly connected components of an import graph, by Tarjan's algorithm. Only components with a cycle
 * count: they have two or more files, or one file that imports itself. The largest component is first. The files of
 * each component are sorted by path.
 */
export function findImportCycles(imports: readonly Import[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const search = new Search(next);
  for (const file of next.keys()) search.visit(file);
  return search.components.map((component) => component.sort()).sort((left, right) => right.length - left.length);
}

/** Tarjan's depth-first search. `low` is the earliest file on the stack that is reachable from a file. */
class Search {
  readonly components: string[][] = [];
  readonly #next: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #index = new Map<string, number>();
  readonly #stack: string[] = [];
  readonly #onStack = new Set<string>();

  constructor(next: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#next = next;
  }

  /**
   * Visits a file and returns its `low`. For a file that was visited before, returns the file's index, or infinity if
   * the file's component is complete.
   */
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
    const component = this.#stack.splice(this.#stack.lastIndexOf(file));
    for (const member of component) this.#onStack.delete(member);
    if (component.length > 1 || this.#next.get(file)?.has(file) === true) this.components.push(component);
  }
}
