import { dirname } from "node:path";
import type { ModuleInstance } from "./module-instances.js";
import { blockNamed, isMany, openLevel } from "./module-levels.js";
import type { ModuleValue, TeamNamed } from "./module-value.js";
import { listValues } from "./module-values.js";
import type { Repository } from "./repository.js";

/** What is known about the names in a module. */
export interface ModuleScope {
  /** Whether the module is certainly a root module. */
  readonly isRoot: boolean;
  /**
   * Returns the text of a reference such as `service_skill.core_greet.key` to a resource or data source in the module;
   * null if unknown.
   */
  known(reference: string): string | null;
  /**
   * Returns the teams that an expression may name. Empty if the expression names no team, for example if it is `null`.
   */
  listTeams(expression: string): readonly PossibleTeam[];
}

/** A team that an expression may name. */
export interface PossibleTeam {
  /** Null if the expression may name any team; `input` if the team is given outside of the repository. */
  readonly team: TeamNamed | "input" | null;
  /** Returns the place of the value as `path:line`; null if the value is in the expression itself. */
  readonly place: () => string | null;
  /** Whether an unknown index or a function selects or builds the team. */
  readonly isIndirect: boolean;
}

/** Reads the files of a module, of its callers and of the modules that it calls, where they can be read. */
export async function openScope(
  repository: Repository,
  path: string,
  { calls, problem }: Pick<ModuleInstance, "calls" | "problem">,
): Promise<ModuleScope> {
  const level = await openLevel(repository, dirname(path), calls);
  const teams = new Map<string, readonly PossibleTeam[]>();
  return {
    isRoot: calls.length === 0 && problem === null,
    known: (reference) => {
      const [, data, type = "", name = "", attribute = ""] = REFERENCE.exec(reference) ?? [];
      const block =
        attribute === "id" ? undefined : blockNamed(level, data === undefined ? "resource" : "data", type, name);
      return block === undefined || isMany(block) ? null : findLiteral(block.attributes.get(attribute) ?? "");
    },
    listTeams: (expression) => {
      const known = teams.get(expression) ?? listValues(repository.syntax, expression, level).map(toTeam);
      teams.set(expression, known);
      return known;
    },
  };
}

function toTeam(value: ModuleValue): PossibleTeam {
  const { place, isIndirect = false } = value;
  if ("team" in value) return { team: value.team, place, isIndirect };
  if ("unknown" in value && value.unknown === "input") return { team: "input", place, isIndirect };
  return { team: "text" in value ? { id: value.text } : null, place, isIndirect };
}

const REFERENCE = /^(data\.)?([A-Za-z][\w-]*)\.([\w-]+)\.([\w-]+)$/;

function findLiteral(expression: string): string | null {
  return /^[\s(]*"([^"\\$%]*)"[\s)]*$/.exec(expression)?.[1] ?? null;
}
