import { formatType, type Type } from "./cel-types.js";
import { type Fault, parseExpression } from "./parse.js";
import { CLOSE, type Embedded, isTemplate, OPEN, onlyExpression, readTemplate } from "./templates.js";
import { checkExpression } from "./type-check.js";

/** The form of the expressions in a field. */
export type ExpressionForm =
  /** One expression, bare or within `${{ }}`. */
  | "condition"
  /** One expression within `${{ }}`, and nothing else. */
  | "expression"
  /** Text with any number of expressions. */
  | "text";

/** The names in an expression's scope, and the type that the expression must have; null for any type. */
export interface ExpectedExpression {
  readonly names: ReadonlyMap<string, Type>;
  readonly returns: "bool" | "list" | null;
}

/**
 * The result of validating an expression or a field. `type` is null if there are faults, or if the field does not
 * consist of exactly one expression. `parses` is false for syntax errors.
 */
export interface ValidationResult {
  readonly type: Type | null;
  readonly faults: readonly Fault[];
  readonly parses: boolean;
}

/** Validates one expression, without `${{ }}`. */
export function validateSource(source: string, { names, returns }: ExpectedExpression): ValidationResult {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return { type: null, faults: [parsed.fault], parses: false };
  const { type, faults } = checkExpression(parsed.tree, names);
  if (faults.length > 0) return { type: null, faults, parses: true };
  if (fits(type, returns)) return { type, faults: [], parses: true };
  const message = `must be ${returns}, not ${formatType(type)}`;
  return { type: null, faults: [{ message, span: { start: 0, end: source.length }, suggestion: null }], parses: true };
}

/** Validates a field of this form. Spans are offsets in the field's text. */
export function validateField(text: string, form: ExpressionForm, wanted: ExpectedExpression): ValidationResult {
  const read = readField(text, form);
  if ("fault" in read) return { type: null, faults: [read.fault], parses: false };
  const results = read.expressions.map((each) => shifted(validateSource(each.source, wanted), each.start));
  return {
    type: results.length === 1 ? (results[0]?.type ?? null) : null,
    faults: results.flatMap(({ faults }) => faults),
    parses: results.every(({ parses }) => parses),
  };
}

/** Returns the messages of the syntax errors in a field, at most one for each expression. */
export function syntaxFaults(text: string, form: ExpressionForm): string[] {
  const read = readField(text, form);
  if ("fault" in read) return [read.fault.message];
  return read.expressions.flatMap(({ source }) => {
    const parsed = parseExpression(source);
    return "fault" in parsed ? [parsed.fault.message] : [];
  });
}

const NO_EXPRESSION =
  `must be an expression written as ${OPEN} ... ${CLOSE}; ` +
  `a fixed text is ${OPEN} "…" ${CLOSE}, and texts are joined with +`;

/** Returns the expressions of a field, in order. Returns a fault if the field does not have this form. */
function readField(
  text: string,
  form: ExpressionForm,
): { readonly expressions: readonly Embedded[] } | { readonly fault: Fault } {
  if (form === "condition" && !isTemplate(text)) return { expressions: [{ source: text, start: 0 }] };
  const read = readTemplate(text);
  if (form !== "text" && ("fault" in read || onlyExpression(read.template) === null)) {
    return { fault: { message: NO_EXPRESSION, span: null, suggestion: null } };
  }
  if ("fault" in read) return read;
  return { expressions: read.template.filter((part): part is Embedded => typeof part !== "string") };
}

/**
 * Maximum number of faults to report for one definition. The remaining faults are reported once the author has
 * corrected these.
 */
const MAX_FAULTS = 200;

/** Returns the faults of all items, in order, at most {@link MAX_FAULTS}. */
export function firstFaults<Item, Reported>(
  items: readonly Item[],
  listFaults: (item: Item) => readonly Reported[],
): Reported[] {
  const found: Reported[] = [];
  for (const item of items) {
    if (found.length >= MAX_FAULTS) break;
    found.push(...listFaults(item).slice(0, MAX_FAULTS - found.length));
  }
  return found;
}

/**
 * Formats a fault as text for a message, with the suggestion if there is one. For example: `does not check: there is no
 * evnt here. Did you mean event?`
 */
export function toSentence({ message, suggestion }: Fault, result: Pick<ValidationResult, "parses">): string {
  const what = result.parses ? `does not check: ${message}` : message;
  return suggestion === null ? what : `${what}. Did you mean ${suggestion}?`;
}

function shifted(result: ValidationResult, by: number): ValidationResult {
  const faults = result.faults.map((fault) => ({
    ...fault,
    span: fault.span === null ? null : { start: fault.span.start + by, end: fault.span.end + by },
  }));
  return { ...result, faults };
}

function fits(type: Type, returns: ExpectedExpression["returns"]): boolean {
  return returns === null || type.kind === "dyn" || type.kind === returns;
}
