import type { Sharing } from "./sharing-rules.js";

/** How to assign a run's files to processes. */
export interface Dealing {
  readonly sharingOf: (file: string) => Sharing;
  /**
   * Maximum and minimum number of files per process. A process gets fewer files than the minimum if not enough waiting
   * files may share it.
   */
  readonly together: { readonly most: number; readonly least: number };
  /** Maximum number of concurrent processes. */
  readonly jobs: number;
}

/**
 * Test files that wait for a process, in order. Each process gets its files when it starts. The first processes get
 * many files, because each process has to load the product. Later processes get fewer files, so that all processes end
 * at about the same time.
 */
export class WaitingFiles {
  #files: readonly string[];
  readonly #dealing: Dealing;

  constructor(files: readonly string[], dealing: Dealing) {
    this.#files = files;
    this.#dealing = dealing;
  }

  /** Returns the files for the next process, in order; empty when none are left. */
  deal(): readonly string[] {
    const { sharingOf: toSharing } = this.#dealing;
    const [first] = this.#files;
    if (first === undefined) return [];
    const sharing = toSharing(first);
    const fitting = this.#files.filter((file) => toSharing(file) === sharing);
    const dealt = new Set(sharing === "none" ? [first] : fitting.slice(0, this.#share(fitting.length)));
    this.#files = this.#files.filter((file) => !dealt.has(file));
    return [...dealt];
  }

  /** Puts back the files that a process received but did not start. */
  putBack(files: readonly string[]): void {
    this.#files = [...files, ...this.#files];
  }

  /**
   * Returns the number of files for the next process: half of the remaining files that can share the process, divided
   * by the number of processes. Stays within the limits of `together`.
   */
  #share(left: number): number {
    const { together, jobs } = this.#dealing;
    return Math.min(together.most, Math.max(together.least, Math.ceil(left / (2 * jobs))));
  }
}
