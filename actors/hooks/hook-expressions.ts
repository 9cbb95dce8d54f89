import { workEventNames, workEvents } from "../events/catalogue.js";
import { DYN, STRING, type Type, toObject } from "../expressions/cel-types.js";
import { MAX_EXPRESSIONS } from "../expressions/evaluate.js";
import {
  findPart,
  findSizeFault,
  hookNames,
  hookPositions,
  type Language,
  listExpressions,
  listNames,
} from "../expressions/positions.js";
import { firstFaults, toSentence, validateField } from "../expressions/validate-expression.js";
import { type FieldError, pathText } from "../refusal.js";

/** The names that a hook's expressions may use, for example its event, its vars, and the earlier steps. */
export const hookLanguage: Language = {
  name: "hook",
  positions: hookPositions,
  maxExpressions: MAX_EXPRESSIONS,
  namesAt: (definition, { position, path }) => {
    const on = workEventNames.find((name) => name === definition.on);
    const event = on === undefined ? null : workEvents[on];
    const steps = path[0] === "steps" && Array.isArray(definition.steps) ? definition.steps : [];
    const before = steps.slice(0, Number(path[1])).map((step) => String(findPart(step, ["name"])));
    const known: Readonly<Record<string, Type>> = {
      ...hookNames,
      event: toObject({ at: STRING, ...event?.fields }),
      vars: toObject(Object.fromEntries(listNames(definition.vars).map((name) => [name, STRING]))),
      step: toObject(Object.fromEntries(before.map((name) => [name, toObject({ status: STRING, output: DYN })]))),
    };
    const seen = position.sees.filter((name) => name !== "run" || event?.inRun === true);
    return new Map(seen.map((name) => [name, known[name] ?? DYN]));
  },
};

/** Returns an error if a received body exceeds the limits for a hook's expressions (count or characters). */
export function hookSizeErrors(body: unknown): FieldError[] {
  const tooMuch = findSizeFault(hookLanguage, body);
  return tooMuch === null ? [] : [{ path: "steps", message: tooMuch }];
}

/** Returns the errors in a hook's expressions. Each error has the path of the field with the expression. */
export function expressionErrors(definition: Readonly<Record<string, unknown>>): FieldError[] {
  return firstFaults(listExpressions(hookLanguage, definition), (placed) => {
    const { position, path, text } = placed;
    const names = hookLanguage.namesAt(definition, placed);
    const result = validateField(text, position.form, { names, returns: position.returns });
    return result.faults.map((fault) => ({ path: pathText(path), message: toSentence(fault, result) }));
  });
}
