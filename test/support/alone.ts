import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What files in one process cannot do at the same time, or would see of each other. */
const ownProcess: readonly RegExp[] = [
  /from "node:(child_process|cluster|worker_threads)"/,
  /\bprocess\.env(\.\w+|\[[^\]]+\]) = |\bdelete process\.env\b/,
  /\bglobalThis(\.\w+|\[[^\]]+\]) = /,
  /\bprocess\.(umask|chdir|on|once|addListener|prependListener)\(/,
  /\bsetFlagsFromString\(/,
  // It is compiled from Go and sets globals.
  /from "@cdktn\/hcl2json"/,
];

const imported = /^(?:import|export) (?:[^"]*? from )?"(\.{1,2}\/[^"]+)";$/gm;

/**
 * Finds the test files that need a process of their own: files that start processes, set the environment, replace
 * globals, listen to process events or measure memory, directly or through a test module that they import.
 */
export class Alone {
  readonly #folder: string;
  readonly #known = new Map<string, boolean>();

  /** @param folder Absolute path of the compiled tests. */
  constructor(folder: string) {
    this.#folder = `${folder}/`;
  }

  /** @param file Path of a compiled file; one that does not exist counts as alone. */
  has(file: string): boolean {
    const path = resolve(file);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    // For circular imports.
    this.#known.set(path, false);
    const found = !existsSync(path) || this.#isAlone(path);
    this.#known.set(path, found);
    return found;
  }

  #isAlone(path: string): boolean {
    const source = readFileSync(path, "utf8");
    if (ownProcess.some((pattern) => pattern.test(source))) return true;
    const modules = [...source.matchAll(imported)].map(([, module = ""]) => resolve(dirname(path), module));
    return modules.some((module) => module.startsWith(this.#folder) && this.has(module));
  }
}
