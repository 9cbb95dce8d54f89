import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The other test files with which a file can share a process. The files run one after another. */
export type Sharing =
  /** No other file. */
  | "none"
  /**
   * Only other files that start processes. These files need a process with little memory, because forking then is
   * faster.
   */
  | "starting"
  | "any";

/** Code that affects later files or depends on earlier files, even if each file cleans up at its end. */
const ownProcess: readonly RegExp[] = [
  /from "node:(cluster|worker_threads)"/,
  /\bglobalThis(\.\w+|\[[^\]]+\]) = /,
  /\bsetFlagsFromString\(/,
  // This package is compiled from Go and sets globals.
  /(from|import) "@cdktn\/hcl/,
  // On a full disk, lmdb leaves a listener until the process exits.
  /\brun\("mount"/,
];

const startsProcesses = /from "node:child_process"/;

const imported = /^(?:import|export) (?:[^"]*? from )?"(\.{1,2}\/[^"]+)";$/gm;

/** Parts of the product that start processes, relative to the tests' folder. */
const programs = ["../http/runner/", "../http/demo/"];

/**
 * Decides which test files can share a process. Looks for code that starts threads, replaces globals, measures memory
 * or starts processes. Searches the file and its imports, also indirect imports, but only modules of the tests and of
 * {@link programs}.
 */
export class SharingRules {
  readonly #folders: readonly string[];
  readonly #modules = new Map<string, Module>();

  /** @param folder Absolute path of the compiled tests. */
  constructor(folder: string) {
    this.#folders = ["", ...programs].map((name) => `${resolve(folder, name)}/`);
  }

  /** Returns how a compiled test file can share its process; `none` if the file is missing. */
  read(file: string): Sharing {
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

/** The sharing that a module's own code allows, and the examined modules that the module imports. */
interface Module {
  readonly does: Sharing;
  readonly imports: readonly string[];
}

function doneBy(source: string): Sharing {
  if (ownProcess.some((pattern) => pattern.test(source))) return "none";
  return startsProcesses.test(source) ? "starting" : "any";
}
