import { listElements, type SyntaxNode, toInner, toText } from "./hcl-syntax.js";
import {
  type Expression,
  indirect,
  isExpression,
  type ModuleValue,
  placeIn,
  type Step,
  textChanges,
  textValues,
  unknownAt,
} from "./module-value.js";

/** The functions of the evaluation that {@link callValues} uses. */
export interface Evaluator {
  /** Follows the steps into an expression, and returns all possible values of the part found there. */
  values(at: Expression, steps: readonly Step[]): readonly ModuleValue[];
  /** Returns an unknown value, and the teams that some part of the expression names. */
  mentioned(at: Expression): readonly ModuleValue[];
  /**
   * Joins parts to one text. If there is only one part, returns the values of that part. If one of several parts has no
   * single known text, returns the same as `mentioned`.
   */
  joined(at: Expression, parts: readonly (readonly ModuleValue[])[]): readonly ModuleValue[];
}

/** Returns the step that an index selects: its only possible value, if that is a text; otherwise `*`. */
export function toStep([value, other]: readonly ModuleValue[]): Step {
  return value !== undefined && other === undefined && "text" in value ? value.text : "*";
}

/** Follows the steps into the result of a function call, and returns the possible values of the part found there. */
export function callValues(at: Expression, steps: readonly Step[], evaluator: Evaluator): readonly ModuleValue[] {
  const { text, node } = at;
  const name = toText(text, node).slice(0, toText(text, node).indexOf("(")).trim();
  const given = node.children.find(({ type }) => type === "function_arguments")?.children.filter(isExpression) ?? [];
  const [first, second, third] = given;
  const read = (each: SyntaxNode, further: readonly Step[]) => evaluator.values({ ...at, node: each }, further);
  // In `f(list...)`, the list's elements are the arguments, so the arguments are unknown.
  if (first === undefined || /\.\.\.\s*\)$/.test(toText(text, node).slice(-50))) return evaluator.mentioned(at);
  if (/^(try|coalesce)$/.test(name)) return given.flatMap((each) => read(each, steps));
  const [key] = steps;
  if (name === "toset" && steps.length === 1 && typeof key === "string" && key !== "*")
    return [{ text: key, place: placeIn(at) }];
  // The elements of a set are ordered by their values, not as they are written.
  if (name === "toset" && typeof key === "number") return indirect(read(first, ["*", ...steps.slice(1)]));
  if (/^(tostring|tolist|toset|tomap|sensitive|nonsensitive)$/.test(name)) return read(first, steps);
  if (name === "one") return read(first, ["*", ...steps]);
  if (name === "values")
    return key === undefined ? evaluator.mentioned(at) : indirect(read(first, ["*", ...steps.slice(1)]));
  if (name === "element" && second !== undefined) {
    const index = toText(text, second).trim();
    return indirect(read(first, [/^\d+$/.test(index) ? Number(index) : "*", ...steps]));
  }
  if (name === "lookup" && second !== undefined) {
    const key = toStep(read(second, []));
    const found = read(first, [key, ...steps]);
    const isKnown = key !== "*" && found.every((value) => !("unknown" in value));
    return isKnown ? found : indirect([...found, ...(third === undefined ? [] : read(third, steps))]);
  }
  const parts = steps.length > 0 ? null : listTextParts(evaluator, at, name, given);
  if (parts !== null) return indirect(evaluator.joined(at, parts));
  const change = textChanges.get(name);
  if (change === undefined || steps.length > 0 || second !== undefined) return evaluator.mentioned(at);
  return indirect(read(first, [])).flatMap((value) => {
    if ("text" in value) return indirect(textValues(change(value.text), at));
    // Trimming does not change a team's id or key.
    return "unknown" in value || /^(trimspace|chomp)$/.test(name) ? [value] : evaluator.mentioned(at);
  });
}

/**
 * Returns the parts of the text that `format` or `join` makes of its arguments. Returns null if the parts are unknown,
 * and for a call of any other function.
 */
function listTextParts(
  evaluator: Evaluator,
  at: Expression,
  name: string,
  [first, ...given]: readonly SyntaxNode[],
): readonly (readonly ModuleValue[])[] | null {
  const read = (each: SyntaxNode | undefined) =>
    each === undefined ? [unknownAt(at)] : evaluator.values({ ...at, node: each }, []);
  const [form, other] = read(first);
  if (form === undefined || other !== undefined || !("text" in form)) {
    // For `join("", …)`, `read` returns no value, because an empty text is not a value.
    const glue = first === undefined ? "" : toText(at.text, first).trim();
    const list = given[0] === undefined ? undefined : toInner(given[0]);
    if (name !== "join" || given.length !== 1 || glue !== '""' || list?.type !== "tuple") return null;
    return listElements(list).map(read);
  }
  if (name === "join" && given.length === 1 && given[0] !== undefined) {
    const list = toInner(given[0]);
    if (list.type !== "tuple") return null;
    return listElements(list).flatMap((each, index) => [...(index > 0 ? [[form]] : []), read(each)]);
  }
  if (name !== "format" || /%[^sv%]/.test(form.text)) return null;
  let next = 0;
  return form.text.split(/(%[sv%])/).flatMap((part) => {
    if (part === "") return [];
    if (part === "%%") return [textValues("%", at)];
    if (!/^%[sv]$/.test(part)) return [textValues(part, at)];
    next += 1;
    return [read(given[next - 1])];
  });
}
