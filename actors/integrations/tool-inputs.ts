import { z } from "zod";
import { type Budget, createBudget, type Names } from "../expressions/evaluate.js";
import { findPart } from "../expressions/positions.js";
import { evaluateJson, isTemplate } from "../expressions/templates.js";
import type { Json } from "../expressions/values.js";
import { type FieldError, pathText } from "../refusal.js";
import type { IntegrationFields } from "./definition.js";

/** The inputs that a tool's definition declares, by name. */
export type ToolInputs = IntegrationFields["tools"][string]["inputs"];
type ToolInput = ToolInputs[string];

/** The inputs of a call with defaults added, or the errors by path. */
export type CheckedInputs =
  | { readonly inputs: Readonly<Record<string, unknown>> }
  | { readonly errors: readonly FieldError[] };

/** Maximum number of errors to report per call. */
const MAX_ERRORS = 20;

/**
 * Checks the inputs of a call and adds defaults. The expression in a default is evaluated with `names`, and only if the
 * call lacks the input. A default is ignored if it has no value or another type than the input.
 */
export function checkInputs(declared: ToolInputs, given: unknown, names: Names): CheckedInputs {
  const isUnseen = typeof given === "object" && given !== null && Object.hasOwn(given, UNSEEN);
  const errors: FieldError[] = isUnseen ? [{ path: UNSEEN, message: UNKNOWN }] : [];
  const parsed = inputsSchema(declared).safeParse(withoutPrototype(given));
  if (!parsed.success) {
    errors.push(...parsed.error.issues.flatMap((issue) => toErrors(issue, given)));
    return { errors: errors.slice(0, MAX_ERRORS) };
  }
  const allowance = createBudget();
  const inputs = new Map<string, unknown>();
  for (const [name, input] of Object.entries(declared)) {
    const value = Object.hasOwn(parsed.data, name) ? parsed.data[name] : findDefault(input, names, allowance);
    if (value !== undefined) inputs.set(name, value);
    else if (input.required) errors.push({ path: name, message: MISSING });
  }
  return errors.length === 0 ? { inputs: Object.fromEntries(inputs) } : { errors };
}

/** Copies the members to an object without a prototype, because an input may be named `constructor`. */
function withoutPrototype(given: unknown): unknown {
  const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
  return isMap ? Object.assign(Object.create(null), given) : given;
}

/** Returns the JSON Schema of a tool's inputs for agents. The schema allows no members other than these inputs. */
export function toJsonSchema(declared: ToolInputs): Record<string, unknown> {
  const { $schema: _version, ...schema } = z.toJSONSchema(toObjectSchema(declared, shownTypes), { io: "input" });
  for (const [name, input] of Object.entries(declared))
    Object.assign(schema.properties?.[name] ?? {}, shownDefault(input));
  return schema;
}

/** Returns the default of an input if it is a literal of the right type. */
function shownDefault(input: ToolInput): { readonly default?: unknown } {
  const { type, default: given } = input;
  if (given === undefined || hasExpressions(given)) return {};
  const literal = types[type].safeParse(given);
  return literal.success ? { default: literal.data } : {};
}

/**
 * Returns whether the default of an input can be used. Also true if the default is an expression, because its value is
 * unknown until the call, and if the input has no default.
 */
export function isDefaultUsable(input: ToolInput): boolean {
  const { type, default: given } = input;
  return given === undefined || hasExpressions(given) || types[type].safeParse(given).success;
}

const MISSING = "must be given";
const UNKNOWN = "is not an input of the tool";
/** A member name that the schemas ignore. */
const UNSEEN = "__proto__";

const NUMBER = "must be a number";

type InputTypes = Readonly<Record<ToolInput["type"], z.ZodType>>;

const types: InputTypes = {
  string: z.string("must be text"),
  // Whole numbers above 2^53 are read as bigint.
  number: z.union([z.number(NUMBER), z.bigint(NUMBER)], NUMBER),
  boolean: z.boolean("must be true or false"),
  object: z.record(z.string(), z.unknown(), "must be an object"),
  array: z.array(z.unknown(), "must be a list"),
};

/** The same types in a form that JSON Schema supports. */
const shownTypes: InputTypes = { ...types, number: z.number(NUMBER) };

const schemas = new WeakMap<ToolInputs, ReturnType<typeof toObjectSchema>>();

/**
 * Returns the schema of a tool's inputs. Caches the schema per declaration object, because its first check compiles it.
 */
function inputsSchema(declared: ToolInputs) {
  const known = schemas.get(declared);
  if (known !== undefined) return known;
  const made = toObjectSchema(declared, types);
  schemas.set(declared, made);
  return made;
}

function toObjectSchema(declared: ToolInputs, of: InputTypes) {
  const shape = Object.entries(declared).map(([name, input]) => [name, inputSchema(input, of)] as const);
  return z.strictObject(Object.fromEntries(shape), "must be an object");
}

function inputSchema({ type, description, required, default: given }: ToolInput, of: InputTypes): z.ZodType {
  const schema = description === "" ? of[type] : of[type].describe(description);
  return required && given === undefined ? schema : schema.optional();
}

function hasExpressions(value: Json): boolean {
  if (typeof value === "string") return isTemplate(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasExpressions);
}

function findDefault(input: ToolInput, names: Names, allowance: Budget): unknown {
  if (input.default === undefined) return undefined;
  const outcome = evaluateJson(input.default, names, allowance);
  const parsed = "error" in outcome ? undefined : types[input.type].safeParse(outcome.value);
  return parsed?.success === true ? parsed.data : undefined;
}

function toErrors(issue: z.core.$ZodIssue, given: unknown): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: pathText([key]), message: UNKNOWN }));
  }
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  const isMissing = path.length === 1 && findPart(given, path) === undefined;
  return [{ path: pathText(path), message: isMissing ? MISSING : issue.message }];
}
