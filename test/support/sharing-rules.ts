import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Who a test file shares its process with, one after the other. */
export type Sharing =
  /** Nobody. */
  | "none"
  /** Other files that start processes: forking takes longer, the more memory a process has. */
  | "starting"
  | "any";

/** What is seen by files that come after, or seen of those before, whatever a file does at its end. */
const ownProcess: readonly RegExp[] = [
  /from "node:(cluster|worker_threads)"/,
  /\bglobalThis(\.\w+|\[[^\]]+\]) = /,
  /\bsetFlagsFromString\(/,
  // It is compiled from Go and sets globals.
  /from "@cdktn\/hcl2json"/,
  // On a full disk, lmdb leaves a listener to the process's end.
  /\brun\("mount"/,
];

const starting: readonly RegExp[] = [/from "node:child_process"/];

const imported = /^(?:import|export) (?:[^"]*? from )?"(\.{1,2}\/[^"]+)";$/gm;

/**
 * Finds who test files share a process with, by what they do themselves or through a test module that they import:
 * start threads, replace globals, measure memory, start processes.
 */
export class SharingRules {
  readonly #alone: Doing;
  readonly #starting: Doing;

  /** @param folder Absolute path of the compiled tests. */
  constructor(folder: string) {
    this.#alone = new Doing(`${folder}/`, ownProcess);
    this.#starting = new Doing(`${folder}/`, starting);
  }

  /** @param file Path of a compiled file; one that does not exist shares with none. */
  of(file: string): Sharing {
    if (!existsSync(file) || this.#alone.has(file)) return "none";
    return this.#starting.has(file) ? "starting" : "any";
  }
}

/** Finds files that match a pattern, themselves or through a module in the folder that they import. */
class Doing {
  readonly #folder: string;
  readonly #patterns: readonly RegExp[];
  readonly #known = new Map<string, boolean>();

  constructor(folder: string, patterns: readonly RegExp[]) {
    this.#folder = folder;
    this.#patterns = patterns;
  }

  has(file: string): boolean {
    const path = resolve(file);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    // For circular imports.
    this.#known.set(path, false);
    const found = existsSync(path) && this.#does(path);
    this.#known.set(path, found);
    return found;
  }

  #does(path: string): boolean {
    const source = readFileSync(path, "utf8");
    if (this.#patterns.some((pattern) => pattern.test(source))) return true;
    const modules = [...source.matchAll(imported)].map(([, module = ""]) => resolve(dirname(path), module));
    return modules.some((module) => module.startsWith(this.#folder) && this.has(module));
  }
}
