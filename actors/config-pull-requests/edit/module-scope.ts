import { dirname } from "node:path";
import type { ModuleCall } from "./module-calls.js";
import { blockNamed, isMany, openLevel } from "./module-levels.js";
import { type TeamNamed, valuesOf } from "./module-values.js";
import type { Repository } from "./repository.js";

/** What is known about the names in a module. */
export interface ModuleScope {
  /**
   * Returns the text of a reference such as `service_skill.core_greet.key` to a resource in the module; null if
   * unknown.
   */
  known(reference: string): string | null;
  /** Returns the teams that an expression may name. A null element means that it may name other, unknown teams. */
  teamsOf(expression: string): readonly (TeamNamed | null)[];
}

/** Reads the files of a module, of its callers and of the modules that it calls, where they can be read. */
export async function openScope(
  repository: Repository,
  path: string,
  calls: readonly ModuleCall[],
): Promise<ModuleScope> {
  const level = await openLevel(repository, dirname(path), calls);
  return {
    known: (reference) => {
      const [, data, type = "", name = "", attribute = ""] = REFERENCE.exec(reference) ?? [];
      const block =
        attribute === "id" ? undefined : blockNamed(level, data === undefined ? "resource" : "data", type, name);
      return block === undefined || isMany(block) ? null : literalOf(block.attributes.get(attribute) ?? "");
    },
    teamsOf: (expression) =>
      valuesOf(repository.syntax, expression, level).map((value) =>
        value === null ? null : "team" in value ? value.team : { id: value.text },
      ),
  };
}

const REFERENCE = /^(data\.)?([A-Za-z][\w-]*)\.([\w-]+)\.([\w-]+)$/;

function literalOf(expression: string): string | null {
  return /^"([^"\\$%]*)"$/.exec(expression)?.[1] ?? null;
}
