import type { Sharing } from "./sharing-rules.js";

/** How the files of a run are dealt to processes. */
export interface Dealing {
  readonly sharingOf: (file: string) => Sharing;
  /** Files that share a process: at most, and at least while others wait that may share it. */
  readonly together: { readonly most: number; readonly least: number };
  /** Processes at once. */
  readonly jobs: number;
}

/**
 * Test files that wait for a process, in order. A process is dealt its files when it begins: many at first, since each
 * loads the product, and fewer towards the end, so that no process goes on long after the others.
 */
export class WaitingFiles {
  #files: readonly string[];
  readonly #dealing: Dealing;

  constructor(files: readonly string[], dealing: Dealing) {
    this.#files = files;
    this.#dealing = dealing;
  }

  /** The files of the next process, in order; none when all have been dealt. */
  deal(): readonly string[] {
    const { sharingOf } = this.#dealing;
    const [first] = this.#files;
    if (first === undefined) return [];
    const sharing = sharingOf(first);
    const fitting = this.#files.filter((file) => sharingOf(file) === sharing);
    const dealt = new Set(sharing === "none" ? [first] : fitting.slice(0, this.#share(fitting.length)));
    this.#files = this.#files.filter((file) => !dealt.has(file));
    return [...dealt];
  }

  /** Puts back what a process was dealt and did not begin. */
  putBack(files: readonly string[]): void {
    this.#files = [...files, ...this.#files];
  }

  /** Of files that may share a process, those of the next one: half of what is left, over all processes. */
  #share(left: number): number {
    const { together, jobs } = this.#dealing;
    return Math.min(together.most, Math.max(together.least, Math.ceil(left / (2 * jobs))));
  }
}
