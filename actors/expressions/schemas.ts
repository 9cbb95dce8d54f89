import { z } from "zod";
import { isTemplate } from "./templates.js";
import { type ExpressionForm, syntaxFaults } from "./validate-expression.js";
import type { Json } from "./values.js";

/** Schemas of fields with expressions. They reject syntax errors, with the path of the field. */

/** Maximum length of a text with expressions, in characters. */
const MAX_TEXT = 20_000;

const text = z.string().max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`);

/** A field with one expression and nothing else. */
export const expression = text.superRefine(reading("expression"));

/** A field with a condition, bare or within `${{ }}`. */
export const condition = text.superRefine(reading("condition"));

/** A text field with any number of expressions. */
export const template = text.superRefine(reading("text"));

/** A JSON number as `readJson` returns it. An integer beyond 2^53 is a `bigint`. */
const jsonNumber = z
  .custom<number | bigint>((value) => typeof value === "bigint" || Number.isFinite(value))
  .meta({ override: { type: "number" } });

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), jsonNumber, z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);

/** Any JSON, whose texts may contain expressions. */
export const jsonTemplate = json.superRefine((value, context) => {
  eachTemplate(value, [], (path, each) => {
    for (const message of syntaxFaults(each, "text")) context.addIssue({ code: "custom", message, path: [...path] });
  });
});

function reading(form: ExpressionForm) {
  return (written: string, context: z.core.$RefinementCtx<string>): void => {
    for (const message of syntaxFaults(written, form)) context.addIssue({ code: "custom", message });
  };
}

/**
 * Calls `take` for each text within `value` that contains expressions. The function changes `path` while it runs, and
 * restores it at the end.
 */
function eachTemplate(
  value: unknown,
  path: (string | number)[],
  take: (path: readonly (string | number)[], text: string) => void,
): void {
  if (typeof value === "string") return isTemplate(value) ? take(path, value) : undefined;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    path.push(name);
    eachTemplate(inner, path, take);
    path.pop();
  }
}
