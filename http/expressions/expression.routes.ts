import { z } from "zod";
import { permit } from "../../actors/access/visibility.js";
import { formatType, type Type } from "../../actors/expressions/cel-types.js";
import {
  type Definition,
  type ExpressionLocation,
  findSizeFault,
  hookNames,
  hookPositions,
  integrationNames,
  integrationPositions,
  type Language,
  listExpressions,
  type Position,
} from "../../actors/expressions/positions.js";
import {
  firstFaults,
  toSentence,
  validateField,
  validateSource,
} from "../../actors/expressions/validate-expression.js";
import { hookLanguage } from "../../actors/hooks/hook-expressions.js";
import { integrationLanguage } from "../../actors/integrations/integration-expressions.js";
import { type FieldError, pathText, type Refusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { parseBy } from "../field-errors.js";
import { type Answer, type Route, route } from "../route.js";

const nullableText = z.string().nullable();

const checkBody = z.strictObject({
  position: z.string().max(1_000, "must be at most 1000 characters"),
  expression: z.string().max(20_000, "must be at most 20000 characters"),
  definition: z.record(z.string(), z.unknown()),
});

const checkAnswer = z
  .strictObject({
    type: nullableText.describe("The CEL type; null when the expression does not check."),
    errors: z.array(
      z.strictObject({
        message: z.string(),
        span: z
          .strictObject({ start: z.int(), end: z.int() })
          .nullable()
          .describe("Of the part at fault, in UTF-16 code units."),
        suggestion: nullableText,
      }),
    ),
    warnings: z
      .array(z.strictObject({ position: z.string(), message: z.string() }))
      .describe("What else in the definition does not check."),
  })
  .meta({ title: "expression-check" });

interface SeenName {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly SeenName[];
}
const seenName: z.ZodType<SeenName> = z
  .lazy(() => z.strictObject({ name: z.string(), type: z.string(), fields: z.array(seenName) }))
  .meta({ title: "seen-name" });
const positionAnswer = z
  .strictObject({
    position: z.string(),
    returns: z.enum(["bool", "list"]).nullable(),
    sees: z.array(seenName),
    alsoSees: z.array(z.enum(["item", "captures", "inputs"])),
  })
  .meta({ title: "expression-position" });

/** What checks an expression where it would be written, and every place where one may be. */
export function expressionRoutes(options: {
  readonly runtime: Pick<Runtime, "reading">;
  readonly kinds: readonly Kind[];
}): Route[] {
  return [
    route({
      method: "POST",
      path: "/api/expressions/check",
      summary: "Check an expression where it would be written",
      access: "any",
      body: checkBody,
      answers: { 200: checkAnswer },
      admits: ({ caller }) =>
        caller.kind === "token"
          ? permit(options.runtime.reading, caller, caller.workspaceId, "plan", "workspace")
          : null,
      handle: ({ body }) => check(options.kinds, body),
    }),
    route({
      method: "GET",
      path: "/api/expressions/positions",
      summary: "Every place where an expression may be written",
      description: [...integrationPositions, ...hookPositions].map(inWords).join("\n"),
      access: "any",
      answers: { 200: z.array(positionAnswer) },
      handle: () => ({
        status: 200,
        body: [
          ...integrationPositions.map((position) => positionView(position, integrationNames)),
          ...hookPositions.map((position) => positionView(position, hookNames)),
        ],
      }),
    }),
  ];
}

const languages: readonly Language[] = [integrationLanguage, hookLanguage];

function check(
  kinds: readonly Kind[],
  { position, expression, definition }: z.output<typeof checkBody>,
): Answer | Refusal {
  const language = languages.find(({ name }) => position.startsWith(`${name}.`));
  const kind = kinds.find(({ name }) => name === language?.name);
  if (language === undefined || kind === undefined) {
    return invalid([{ path: "position", message: "must name an attribute of an integration or a hook" }]);
  }
  const tooMuch = findSizeFault(language, definition);
  if (tooMuch !== null) return invalid([{ path: "definition", message: tooMuch }]);
  const parsed = parseBy(kind.schema, definition);
  if ("errors" in parsed) return invalid(parsed.errors.map(underDefinition));
  const errors = kind.validateDefinition?.(parsed.data) ?? [];
  if (errors.length > 0) return invalid(errors.map(underDefinition));
  const all = listExpressions(language, parsed.data);
  const here = all.find((each) => positionOf(language, each) === position);
  if (here === undefined) {
    return invalid([{ path: "position", message: `${position} holds no expression in the definition` }]);
  }
  const names = language.namesAt(parsed.data, here);
  const { type, faults } = validateSource(expression, { names, returns: here.position.returns });
  return {
    status: 200,
    body: {
      type: type === null ? null : formatType(type),
      errors: faults,
      warnings: firstFaults(
        all.filter((each) => each !== here),
        (each) => warningsAt(language, parsed.data, each),
      ),
    },
  };
}

function warningsAt(language: Language, definition: Definition, placed: ExpressionLocation) {
  const wanted = { names: language.namesAt(definition, placed), returns: placed.position.returns };
  const verdict = validateField(placed.text, placed.position.form, wanted);
  return verdict.faults.map((fault) => ({
    position: positionOf(language, placed),
    message: toSentence(fault, verdict),
  }));
}

function positionOf({ name }: Language, { path }: ExpressionLocation): string {
  return pathText([name, ...path]);
}

function underDefinition({ path, message }: FieldError): FieldError {
  return { path: path === "" ? "definition" : `definition${path.startsWith("[") ? "" : "."}${path}`, message };
}

function invalid(errors: readonly FieldError[]): Refusal {
  return { refused: "invalid", errors };
}

/** A position as a line of the documents: `hook.when` gives bool, sees event, task, run, vars, hook. */
function inWords({ position, returns, sees, alsoSees }: Position): string {
  const gives = returns === null ? "" : ` gives ${returns},`;
  const also = alsoSees.length === 0 ? "" : `; in some definitions ${alsoSees.join(", ")}`;
  return `- \`${position}\`${gives} sees ${sees.join(", ")}${also}`;
}

function positionView({ position, returns, sees, alsoSees }: Position, names: Readonly<Record<string, Type>>) {
  return { position, returns, alsoSees, sees: sees.flatMap((name) => seen(name, names[name])) };
}

function seen(name: string, type: Type | undefined): SeenName[] {
  if (type === undefined) return [];
  const fields = type.kind === "object" ? Object.entries(type.fields) : [];
  return [{ name, type: formatType(type), fields: fields.flatMap(([field, each]) => seen(field, each)) }];
}
