import { readJson } from "../../../actors/exact-json.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { readInput } from "../command/read-input.js";
import { refuseLong } from "./folder-files.js";
import { parseAssignments } from "./hcl-file.js";
import type { Module, VariableBlock } from "./hcl-module.js";
import { Faults, placeText, Refused, refuse, type SourceFile } from "./refused.js";
import { Scope } from "./scope.js";
import { Secrets } from "./secrets.js";
import { isList, isMap, type Value } from "./value.js";

/** The options that give values to variables. */
export interface VariableOptions {
  /** Values in the form `name=value`, in the order of the command line. */
  readonly var?: readonly string[];
  /** Files of values, in order. */
  readonly varFile?: readonly string[];
}

/** The values of a folder's variables. */
export interface Variables {
  readonly values: ReadonlyMap<string, Value>;
  readonly secrets: Secrets;
}

/** The values that one source gives: a file, the environment or an option. */
interface Source {
  /** The name in messages, such as `prod.tfvars`. */
  readonly name: string;
  readonly values: ReadonlyMap<string, Value>;
}

/**
 * Reads the values of variables. A later source replaces an earlier one: defaults, `TF_VAR_<name>`,
 * `SIGNALBOX_VAR_<name>`, `terraform.tfvars` and `*.auto.tfvars` of the folder, `--var-file`, `--var`. Throws a {@link
 * CommandError} for a value that does not have the type of its variable.
 */
export async function readVariables(
  { terminal }: Context,
  module: Module,
  { var: given = [], varFile = [] }: VariableOptions,
): Promise<Variables> {
  const reader = new VariableReader(module);
  const sources = [
    await reader.environment("TF_VAR_", terminal.env),
    await reader.environment("SIGNALBOX_VAR_", terminal.env),
  ];
  for (const name of automaticFiles(module.files.names())) {
    sources.push(await reader.file({ path: name, text: reader.textOf(name) }));
  }
  for (const path of varFile) sources.push(await reader.file({ path, text: await readInput(terminal, path) }));
  for (const text of given) sources.push(await reader.option(text));
  for (const { name, values } of sources) {
    const unknown = [...values.keys()].filter((each) => !module.variables.has(each));
    if (unknown.length > 0)
      terminal.note(`${name} sets variables that the folder does not have: ${unknown.join(", ")}`);
  }
  const values = new Map([...reader.defaults(), ...sources.flatMap((source) => [...reader.converted(source)])]);
  reader.faults.end();
  const secrets = [...module.variables.values()].filter(({ isSensitive }) => isSensitive);
  return { values, secrets: new Secrets(secrets.map(({ name }) => values.get(name) ?? null)) };
}

/** Lists the files of values that Terraform loads automatically, in Terraform's order. */
function automaticFiles(names: readonly string[]): readonly string[] {
  const automatic = names.filter((name) => /\.auto\.tfvars(\.json)?$/.test(name));
  return [...["terraform.tfvars", "terraform.tfvars.json"].filter((name) => names.includes(name)), ...automatic];
}

class VariableReader {
  readonly faults = new Faults();
  readonly #module: Module;

  constructor(module: Module) {
    this.#module = module;
  }

  textOf(name: string): string {
    return this.faults.try(() => this.#module.files.text(name)) ?? "";
  }

  defaults(): Map<string, Value> {
    const scope = new Scope(this.#module, { variable: () => undefined, id: () => null });
    const found = new Map<string, Value>();
    for (const variable of this.#module.variables.values()) {
      const { name, place, default: value } = variable;
      // Refuses a type that these commands do not support.
      this.faults.try(() => toType(variable, null, name));
      if (value === undefined) continue;
      this.faults.try(() => {
        const { references, value: evaluated } = scope.evaluate({ value, place });
        if (references.size > 0) refuse(place, "a default may not refer to anything");
        found.set(name, toType(variable, evaluated, `${placeText(place)}: the default`));
      });
    }
    return found;
  }

  /** Converts the values of a source to the types of their variables. */
  converted({ name: source, values }: Source): Map<string, Value> {
    const found = new Map<string, Value>();
    for (const [name, value] of values) {
      const variable = this.#module.variables.get(name);
      if (variable !== undefined) this.faults.try(() => found.set(name, toType(variable, value, source)));
    }
    return found;
  }

  async environment(prefix: string, env: Readonly<Record<string, string | undefined>>): Promise<Source> {
    const values = new Map<string, Value>();
    for (const name of this.#module.variables.keys()) {
      const text = env[`${prefix}${name}`];
      if (text !== undefined) values.set(name, await this.#fromText(name, text, `${prefix}${name}`));
    }
    return { name: "the environment", values };
  }

  async option(given: string): Promise<Source> {
    const [, name = "", text = ""] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
    if (name === "") throw new CommandError("--var needs name=value", exitCodes.usage);
    if (!this.#module.variables.has(name)) {
      throw new CommandError(`there is no variable ${name} in the folder`, exitCodes.usage);
    }
    return { name: `--var ${name}`, values: new Map([[name, await this.#fromText(name, text, `--var ${name}`)]]) };
  }

  async file(file: SourceFile): Promise<Source> {
    if (this.faults.try(() => refuseLong(file) ?? true) === undefined) return { name: file.path, values: new Map() };
    const values = file.path.endsWith(".json") ? this.#json(file) : await this.#assignments(file);
    return { name: file.path, values };
  }

  /**
   * Reads the value of a variable from a text. If the variable has no type, or the type string, number or bool, the
   * text is the value. Otherwise the text is HCL.
   */
  async #fromText(name: string, text: string, path: string): Promise<Value> {
    const { type = null } = this.#module.variables.get(name) ?? {};
    if (type === null || /^(string|number|bool)$/.test(type)) return text;
    const values = await this.#assignments({ path, text: `${name} = ${text}\n` });
    return values.get(name) ?? null;
  }

  async #assignments(file: SourceFile): Promise<ReadonlyMap<string, Value>> {
    const parsed = await parseAssignments(this.#module.syntax, { ...file, isOfValues: true }).catch(
      (error: unknown) => {
        this.faults.try(() => {
          throw error;
        });
        return null;
      },
    );
    const found = new Map<string, Value>();
    if (parsed === null) return found;
    const scope = new Scope({ ...this.#module, ...parsed }, { variable: () => undefined, id: () => null });
    for (const [name, placed] of parsed.values) {
      this.faults.try(() => found.set(name, scope.evaluate(placed).value));
    }
    return found;
  }

  #json({ path, text }: SourceFile): ReadonlyMap<string, Value> {
    const read = this.faults.try(() => {
      const value = parseJson(path, text);
      if (!isMap(value)) throw new Refused(`${path}:1: a file of variables must be an object`);
      return value;
    });
    return new Map(Object.entries(read ?? {}));
  }
}

function parseJson(path: string, text: string): Value {
  try {
    return readJson(text.replace(/^\ufeff/, "")) as Value;
  } catch {
    // Do not repeat the parser's message: it may quote the file, which may contain secrets.
    throw new Refused(`${path}:1: it is not JSON`);
  }
}

/** Converts a value to the type of its variable, as Terraform does: numbers and texts convert to each other. */
function toType({ name, type, place }: VariableBlock, value: Value, source: string): Value {
  const converted = convert(value, type?.replaceAll(/\s/g, "") ?? "any");
  if (converted === "unknown-type") {
    return refuse(place, `the type ${type} is not understood: use string, number, bool, any, list(…) or map(…)`);
  }
  if (converted !== null) return converted.value;
  throw new Refused(`${source}: the variable ${name} must be of the type ${type}`);
}

/**
 * Returns the converted value; null if the value does not have the type; `unknown-type` if these commands do not
 * support the type.
 */
function convert(value: Value, type: string): { readonly value: Value } | "unknown-type" | null {
  const [, holder, inner = ""] = /^(list|map)\((.*)\)$/.exec(type) ?? [];
  if (holder === undefined && !["any", "string", "number", "bool"].includes(type)) return "unknown-type";
  if (value === null || type === "any") return { value };
  if (holder === "list") return isList(value) ? all(value.map((each) => convert(each, inner))) : null;
  if (holder === "map") {
    const entries = isMap(value) ? Object.entries(value) : null;
    const values = entries === null ? null : all(entries.map(([, each]) => convert(each, inner)));
    if (values === null || values === "unknown-type" || entries === null) return values;
    return { value: Object.fromEntries(entries.map(([name], index) => [name, values.value[index] ?? null])) };
  }
  return convertPlain(value, type);
}

function convertPlain(value: Value, type: string): { readonly value: Value } | null {
  if (typeof value === "object") return null;
  if (type === "string") return { value: String(value) };
  if (type === "bool") {
    const known = value === true || value === "true" ? true : value === false || value === "false" ? false : null;
    return known === null ? null : { value: known };
  }
  if (typeof value === "number" || typeof value === "bigint") return { value };
  if (typeof value !== "string" || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return null;
  return { value: readJson(value) as Value };
}

function all(
  found: readonly ReturnType<typeof convert>[],
): { readonly value: readonly Value[] } | "unknown-type" | null {
  const values: Value[] = [];
  for (const each of found) {
    if (each === null || each === "unknown-type") return each;
    values.push(each.value);
  }
  return { value: values };
}
