import { z } from "zod";
import { type Form, syntaxFaults } from "./checking.js";

/** How expressions are written in the fields of definitions: what cannot be read is refused where it stands. */

/** Longest text that holds expressions, in characters. */
const MAX_TEXT = 20_000;

const text = z.string().max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`);

/** A field that holds one expression and nothing else. */
export const expression = text.superRefine(reading("expression"));

/** A field that holds a condition, bare or as an expression. */
export const condition = text.superRefine(reading("condition"));

/** A field that holds text, with any number of expressions in it. */
export const template = text.superRefine(reading("text"));

/** Any JSON, whose texts may hold expressions. */
export const jsonTemplate = z.json().superRefine((value, context) => {
  for (const [path, each] of textsIn(value)) {
    for (const message of syntaxFaults(each, "text")) context.addIssue({ code: "custom", message, path: [...path] });
  }
});

function reading(form: Form) {
  return (written: string, context: z.core.$RefinementCtx<string>): void => {
    for (const message of syntaxFaults(written, form)) context.addIssue({ code: "custom", message });
  };
}

function* textsIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<[readonly (string | number)[], string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* textsIn(member, [...path, name]);
  }
}
