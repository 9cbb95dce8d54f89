import { type FieldError, pathText, type Refusal } from "../refusal.js";
import type { Type } from "./cel-types.js";
import type { Fault } from "./parse.js";
import {
  type Definition,
  type ExpressionLocation,
  findSizeFault,
  type Language,
  listExpressions,
} from "./positions.js";
import { CLOSE, isTemplate, OPEN } from "./templates.js";
import {
  type ExpectedExpression,
  firstFaults,
  toSentence,
  type ValidationResult,
  validateField,
  validateSource,
} from "./validate-expression.js";

const WRONG_POSITION = "must name an attribute of an integration or a hook, and begin with integration. or hook.";

/** A kind of definition that contains expressions of one language. */
export interface DefinitionKind {
  readonly language: Language;
  /** Parses a definition by its schema, or returns the errors. */
  parse(given: unknown): { readonly definition: Definition } | { readonly errors: readonly FieldError[] };
}

/** An expression to validate in place of the current one at a position of a definition. */
export interface ExpressionAttempt {
  /** The position with its keys and indexes: `hook.steps[0].request.url`. */
  readonly position: string;
  /** The new expression, without `${{ }}`. */
  readonly expression: string;
  readonly definition: unknown;
}

export interface AttemptResult {
  /** The expression's type; null if the expression has faults. */
  readonly type: Type | null;
  readonly faults: readonly Fault[];
  /** The faults at the other positions of the definition. */
  readonly warnings: readonly { readonly position: string; readonly message: string }[];
}

/**
 * Validates an expression with the names in scope at its position, and validates the rest of the definition. Refuses an
 * unknown position, a position without an expression, and a definition that is invalid or exceeds a limit.
 */
export function validateAtPosition(
  kinds: readonly DefinitionKind[],
  { position, expression, definition: given }: ExpressionAttempt,
): AttemptResult | Refusal {
  const kind = kinds.find(({ language }) => position.startsWith(`${language.name}.`));
  if (kind === undefined) return invalidPosition(WRONG_POSITION);
  const { language } = kind;
  const sizeFault = findSizeFault(language, given);
  if (sizeFault !== null) return { refused: "invalid", errors: [{ path: "definition", message: sizeFault }] };
  const parsed = kind.parse(given);
  if ("errors" in parsed) return { refused: "invalid", errors: parsed.errors.map(underDefinition) };
  const { definition } = parsed;
  const all = listExpressions(language, definition);
  const here = all.find((each) => positionText(language, each) === position);
  if (here === undefined) return invalidPosition(`${position} holds no expression in the definition`);
  const names = language.namesAt(definition, here);
  const { type, faults } = validateAttempt(expression, { names, returns: here.position.returns });
  const others = all.filter((each) => each !== here);
  return { type, faults, warnings: firstFaults(others, (each) => listWarnings(language, definition, each)) };
}

/** Like {@link validateSource}, but with a specific message for an expression that includes its `${{ }}`. */
function validateAttempt(expression: string, expected: ExpectedExpression): Pick<ValidationResult, "type" | "faults"> {
  const result = validateSource(expression, expected);
  if (result.parses || !isTemplate(expression)) return result;
  const message = `must be written without ${OPEN} ${CLOSE} here`;
  return { type: null, faults: [{ message, span: { start: 0, end: expression.length }, suggestion: null }] };
}

function listWarnings(language: Language, definition: Definition, location: ExpressionLocation) {
  const expected = { names: language.namesAt(definition, location), returns: location.position.returns };
  const result = validateField(location.text, location.position.form, expected);
  return result.faults.map((fault) => ({
    position: positionText(language, location),
    message: toSentence(fault, result),
  }));
}

function positionText({ name }: Language, { path }: ExpressionLocation): string {
  return pathText([name, ...path]);
}

function underDefinition({ path, message }: FieldError): FieldError {
  return { path: path === "" ? "definition" : `definition${path.startsWith("[") ? "" : "."}${path}`, message };
}

function invalidPosition(message: string): Refusal {
  return { refused: "invalid", errors: [{ path: "position", message }] };
}
