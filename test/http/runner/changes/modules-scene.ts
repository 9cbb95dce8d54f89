import { join } from "node:path";
import type { Test } from "tap";
import type { Checkout } from "../../../../http/runner/checkout/checkout.js";
import { inRepository, layRepository } from "../../../support/repository.js";
import { type ChangeScene, changeScene } from "./change-scene.js";

/** A repository, and a library that agents add as a submodule. */
export interface ModulesScene extends ChangeScene {
  /** The repository that submodules clone. */
  readonly library: string;
  /** Adds the library to a checkout as a submodule, like an agent. */
  readonly add: (checkout: Checkout, path: string) => void;
}

/** Creates a repository with these files in one commit, and the library. */
export function modulesScene(t: Test, files: Readonly<Record<string, string>> = { "a.txt": "one\n" }): ModulesScene {
  const made = changeScene(t, files);
  const library = join(made.folder, "library");
  layRepository(library, { "lib.txt": "library\n", ".gitattributes": "*.txt text\n" });
  const add = (checkout: Checkout, path: string) =>
    inRepository(checkout.folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, path);
  return { ...made, library, add };
}
