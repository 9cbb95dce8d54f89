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
  /(from|import) "@cdktn\/hcl/,
  // On a full disk, lmdb leaves a listener to the process's end.
  /\brun\("mount"/,
];

const startsProcesses = /from "node:child_process"/;

const imported = /^(?:import|export) (?:[^"]*? from )?"(\.{1,2}\/[^"]+)";$/gm;

/** Parts of the product that start processes when they are used, beside the tests' folder. */
const programs = ["../http/runner/", "../http/demo/"];

/**
 * Finds who test files share a process with, by what they do themselves or through a module that they import, of the
 * tests or of {@link programs}: start threads, replace globals, measure memory, start processes.
 */
export class SharingRules {
  readonly #folders: readonly string[];
  readonly #modules = new Map<string, Module>();

  /** @param folder Absolute path of the compiled tests. */
  constructor(folder: string) {
    this.#folders = ["", ...programs].map((name) => `${resolve(folder, name)}/`);
  }

  /** @param file Path of a compiled file; one that does not exist shares with none. */
  of(file: string): Sharing {
    if (!existsSync(file)) return "none";
    const reached = new Set([resolve(file)]);
    let isStarting = false;
    for (const path of reached) {
      const { does, imports } = this.#read(path);
      if (does === "none") return "none";
      isStarting ||= does === "starting";
      for (const module of imports) reached.add(module);
    }
    return isStarting ? "starting" : "any";
  }

  #read(path: string): Module {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const source = existsSync(path) ? readFileSync(path, "utf8") : "";
    const imports = [...source.matchAll(imported)]
      .map(([, module = ""]) => resolve(dirname(path), module))
      .filter((module) => this.#folders.some((folder) => module.startsWith(folder)));
    const module: Module = { does: doneBy(source), imports };
    this.#modules.set(path, module);
    return module;
  }
}

/** What a module does itself, and the modules that it imports, of those that are looked at. */
interface Module {
  readonly does: Sharing;
  readonly imports: readonly string[];
}

function doneBy(source: string): Sharing {
  if (ownProcess.some((pattern) => pattern.test(source))) return "none";
  return startsProcesses.test(source) ? "starting" : "any";
}
