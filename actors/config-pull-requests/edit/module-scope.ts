import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import type { ModuleCall } from "./module-calls.js";
import { isModuleFile, type Repository } from "./repository.js";

/** A team, by its id or by its key, whatever its line's source tells. */
export type TeamNamed = { readonly id: string } | { readonly key: string };

/** What is known of a module's names. */
export interface ModuleScope {
  /** The text that a reference to a resource of the module has, `service_skill.core_greet.key`; null for unknown. */
  known(reference: string): string | null;
  /** The team that an expression names; null for unknown. */
  teamOf(expression: string): TeamNamed | null;
}

/** The names of a module, and of those that call it. */
interface Level {
  readonly blocks: readonly CodeBlock[];
  /** The call in the level above; null in a root module, and where it is not known. */
  readonly call: { readonly block: CodeBlock; readonly above: Level } | null;
}

/** Most names that are followed one after the other. */
const MAX_STEPS = 20;

/** Reads the files of a module, and those of the modules that call it, as far as they can be read. */
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
    teamOf: (expression) => teamOf(expression, level, MAX_STEPS),
  };
}

const REFERENCE = /^(data\.)?([A-Za-z][\w-]*)\.([\w-]+)\.([\w-]+)$/;

async function openLevel(repository: Repository, folder: string, calls: readonly ModuleCall[]): Promise<Level> {
  const [call, ...above] = calls;
  const files = await repository.module(folder);
  const blocks = "fault" in files ? [] : files.files.flatMap((file) => readCode(repository, file).blocks);
  const path = call?.block.file.path ?? "";
  if (call === undefined || !isModuleFile(path)) return { blocks, call: null };
  return { blocks, call: { block: call.block, above: await openLevel(repository, dirname(path), above) } };
}

/** The one block of a resource; undefined where there is none, or more than one. */
function blockNamed({ blocks }: Level, kind: string, type: string, name: string): CodeBlock | undefined {
  const found = blocks.filter((block) => block.type === kind && block.labels[0] === type && block.labels[1] === name);
  return found.length === 1 ? found[0] : undefined;
}

function isMany({ attributes }: CodeBlock): boolean {
  return attributes.has("count") || attributes.has("for_each");
}

function literalOf(expression: string): string | null {
  return /^"([^"\\$%]*)"$/.exec(expression)?.[1] ?? null;
}

/** What an expression is once what adds nothing to it is taken away: `(…)`, `"${…}"`. */
function bare(expression: string): string {
  const inner = /^\(([^()]*)\)$|^"\$\{([^{}]*)\}"$/.exec(expression.trim());
  return inner === null ? expression.trim() : bare(inner[1] ?? inner[2] ?? "");
}

function teamOf(expression: string, level: Level, steps: number): TeamNamed | null {
  const written = bare(expression);
  const id = literalOf(written);
  if (id !== null) return { id };
  const [, data, name, index] = /^(data\.)?service_team\.([\w-]+)(?:\["([\w-]+)"\])?\.id$/.exec(written) ?? [];
  if (name !== undefined) return teamNamed(level, { kind: data === undefined ? "resource" : "data", name, index });
  const next = follow(written, level);
  return next === null || steps === 0 ? null : teamOf(next.expression, next.level, steps - 1);
}

function teamNamed(
  level: Level,
  { kind, name, index }: { readonly kind: string; readonly name: string; readonly index: string | undefined },
): TeamNamed | null {
  const block = blockNamed(level, kind, "service_team", name);
  const written = block?.attributes.get("key");
  if (block === undefined || written === undefined) return null;
  if (isMany(block) && index !== undefined && bare(written) === "each.key") return { key: index };
  const key = isMany(block) ? null : textOf(written, level, MAX_STEPS);
  return key === null ? null : { key };
}

function textOf(expression: string, level: Level, steps: number): string | null {
  const written = bare(expression);
  const next = follow(written, level);
  if (next === null || steps === 0) return literalOf(written);
  return textOf(next.expression, next.level, steps - 1);
}

/** What a local or a variable stands for; null where that is not known. */
function follow(written: string, level: Level): { readonly expression: string; readonly level: Level } | null {
  const [, kind, name = ""] = /^(local|var)\.([\w-]+)$/.exec(written) ?? [];
  if (kind === "local") {
    const found = level.blocks.flatMap(({ type, attributes }) =>
      type === "locals" ? (attributes.get(name) ?? []) : [],
    );
    return found[0] === undefined ? null : { expression: found[0], level };
  }
  if (kind !== "var") return null;
  const given = level.call?.block.attributes.get(name);
  if (level.call !== null && given !== undefined) return { expression: given, level: level.call.above };
  const declared = level.blocks.find(({ type, labels }) => type === "variable" && labels[0] === name);
  const value = level.call === null ? undefined : declared?.attributes.get("default");
  return value === undefined ? null : { expression: value, level };
}
