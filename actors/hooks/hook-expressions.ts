import { DYN, objectOf, STRING, type Type } from "../expressions/cel-types.js";
import { checkField, firstFaults, sentenceOf } from "../expressions/checking.js";
import { MOST_EXPRESSIONS } from "../expressions/evaluate.js";
import {
  hookNames,
  hookPositions,
  type Language,
  namesOf,
  partAt,
  placedIn,
  sizeFault,
} from "../expressions/positions.js";
import { type FieldError, pathText } from "../refusal.js";
import { hookEventNames, hookEvents } from "./events.js";

/** What hooks say of their expressions: the fields of their event, their vars, the steps before. */
export const hookLanguage: Language = {
  name: "hook",
  positions: hookPositions,
  mostExpressions: MOST_EXPRESSIONS,
  namesAt: (definition, { position, path }) => {
    const on = hookEventNames.find((name) => name === definition.on);
    const event = on === undefined ? null : hookEvents[on];
    const steps = path[0] === "steps" && Array.isArray(definition.steps) ? definition.steps : [];
    const before = steps.slice(0, Number(path[1])).map((step) => String(partAt(step, ["name"])));
    const known: Readonly<Record<string, Type>> = {
      ...hookNames,
      event: objectOf({ at: STRING, ...event?.fields }),
      vars: objectOf(Object.fromEntries(namesOf(definition.vars).map((name) => [name, STRING]))),
      step: objectOf(Object.fromEntries(before.map((name) => [name, objectOf({ status: STRING, output: DYN })]))),
    };
    const seen = position.sees.filter((name) => name !== "run" || event?.inRun === true);
    return new Map(seen.map((name) => [name, known[name] ?? DYN]));
  },
};

/** Why a body, as it came, holds too many expressions for a hook. */
export function hookSizeErrors(body: unknown): FieldError[] {
  const tooMuch = sizeFault(hookLanguage, body);
  return tooMuch === null ? [] : [{ path: "steps", message: tooMuch }];
}

/** What is wrong with the expressions of a hook: one error a fault, at the path of its field. */
export function expressionErrors(definition: Readonly<Record<string, unknown>>): FieldError[] {
  return firstFaults(placedIn(hookLanguage, definition), (placed) => {
    const { position, path, text } = placed;
    const names = hookLanguage.namesAt(definition, placed);
    const verdict = checkField(text, position.form, { names, returns: position.returns });
    return verdict.faults.map((fault) => ({ path: pathText(path), message: sentenceOf(fault, verdict) }));
  });
}
