import { z } from "zod";
import { permit } from "../../actors/access/visibility/visibility.js";
import { formatType, type Type } from "../../actors/expressions/cel-types.js";
import {
  hookNames,
  hookPositions,
  integrationNames,
  integrationPositions,
  type Language,
  type Position,
} from "../../actors/expressions/positions.js";
import { CLOSE, OPEN } from "../../actors/expressions/templates.js";
import { type DefinitionKind, validateAtPosition } from "../../actors/expressions/validate-at-position.js";
import { hookLanguage } from "../../actors/hooks/hook-expressions.js";
import { integrationLanguage } from "../../actors/integrations/integration-expressions.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { parseBy } from "../wire/field-errors.js";
import { granted } from "../wire/refused.js";
import { type Route, route } from "../wire/route.js";

const nullableText = z.string().nullable();

const checkBody = z.strictObject({
  position: z
    .string()
    .max(1_000, "must be at most 1000 characters")
    .describe(
      "The position of the expression: `integration.` or `hook.`, then the path in the form that warnings use.",
    ),
  expression: z
    .string()
    .max(20_000, "must be at most 20000 characters")
    .describe(`The text of the expression, without ${OPEN} ${CLOSE}.`),
  definition: z
    .record(z.string(), z.unknown())
    .describe("An integration or a hook that has any expression at the position."),
});

const EXAMPLE: z.input<typeof checkBody> = {
  position: "integration.webhook.events[0].when",
  expression: 'body.action == "opened"',
  definition: {
    integration: "tracker",
    name: "Tracker",
    webhook: {
      verify: { hmac: { secret: "tracker-webhook", header: "x-signature" } },
      events: [
        {
          when: `${OPEN} true ${CLOSE}`,
          raise: { opens: { line: "fix", title: `${OPEN} body.issue.title ${CLOSE}` } },
        },
      ],
    },
  },
};

const checkAnswer = z
  .strictObject({
    type: nullableText.describe("The CEL type; null if the expression has errors."),
    errors: z
      .array(
        z.strictObject({
          message: z.string().describe("What is wrong with the expression."),
          span: z
            .strictObject({
              start: z.int().describe("Offset of the first faulty code unit, from 0."),
              end: z.int().describe("Offset after the last faulty code unit."),
            })
            .nullable()
            .describe("The start and end offset of the faulty part, in UTF-16 code units."),
          suggestion: nullableText.describe("Name that was probably meant; null if no known name is similar."),
        }),
      )
      .describe("Errors of the expression; empty if it is valid."),
    warnings: z
      .array(
        z.strictObject({
          position: z.string().describe("Position of the faulty expression in the definition."),
          message: z.string().describe("What is wrong with that expression."),
        }),
      )
      .describe("The other errors in the definition."),
  })
  .meta({ title: "expression-check" });

interface SeenName {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly SeenName[];
}
const seenName: z.ZodType<SeenName> = z
  .lazy(() =>
    z.strictObject({
      name: z.string().describe("Name of the value or field in expressions."),
      type: z.string().describe("CEL type of the value, such as `string` or `map`."),
      fields: z.array(seenName).describe("Known fields of an object; empty for other types."),
    }),
  )
  .meta({ title: "seen-name" });
const positionAnswer = z
  .strictObject({
    position: z.string().describe("Path of the position in a definition, such as `hook.when`."),
    returns: z.enum(["bool", "list"]).nullable().describe("Type that the expression must return; null for any type."),
    sees: z.array(seenName).describe("Values that every expression at the position can read."),
    alsoSees: z
      .array(z.enum(["item", "captures", "inputs"]))
      .describe("Values that the expression can read in some definitions only."),
  })
  .meta({ title: "expression-position" });

/** The routes that check an expression at its position in a definition, and list all positions. */
export function expressionRoutes(options: {
  readonly runtime: Pick<Runtime, "reading">;
  readonly kinds: readonly Kind[];
}): Route[] {
  const kinds = toDefinitionKinds(options.kinds);
  return [
    route({
      method: "POST",
      path: "/api/expressions/check",
      isServedReadOnly: true,
      summary: "Type-check an expression at its position",
      description:
        "Stores nothing. The definition decides which names the expression can read, and must be valid apart from its " +
        "expressions. A token needs the scope `plan`.",
      access: "any",
      body: checkBody,
      example: EXAMPLE,
      answers: { 200: checkAnswer },
      admits: ({ caller }) =>
        caller.kind === "token"
          ? permit(options.runtime.reading, caller, caller.workspaceId, "plan", "workspace")
          : null,
      handle: ({ body }) => {
        const { type, faults: errors, warnings } = granted(validateAtPosition(kinds, body));
        return { status: 200, body: { type: type === null ? null : formatType(type), errors, warnings } };
      },
    }),
    route({
      method: "GET",
      path: "/api/expressions/positions",
      summary: "List every position where an expression can be written",
      description: [...integrationPositions, ...hookPositions].map(describePosition).join("\n"),
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

function toDefinitionKinds(kinds: readonly Kind[]): readonly DefinitionKind[] {
  return languages.flatMap((language) => {
    const kind = kinds.find(({ name }) => name === language.name);
    return kind === undefined ? [] : [{ language, parse: (given: unknown) => parseDefinition(kind, given) }];
  });
}

function parseDefinition(kind: Kind, given: unknown): ReturnType<DefinitionKind["parse"]> {
  const parsed = parseBy(kind.schema, given);
  if ("errors" in parsed) return parsed;
  const errors = kind.validateDefinition?.(parsed.data) ?? [];
  return errors.length > 0 ? { errors } : { definition: parsed.data };
}

/** Describes a position in one line of the documentation: `hook.when` gives bool, sees event, task, run, vars, hook. */
function describePosition({ position, returns, sees, alsoSees }: Position): string {
  const gives = returns === null ? "" : ` gives ${returns},`;
  const also = alsoSees.length === 0 ? "" : `; in some definitions ${alsoSees.join(", ")}`;
  return `- \`${position}\`${gives} sees ${sees.join(", ")}${also}`;
}

function positionView({ position, returns, sees, alsoSees }: Position, names: Readonly<Record<string, Type>>) {
  return { position, returns, alsoSees, sees: sees.flatMap((name) => toSeenNames(name, names[name])) };
}

function toSeenNames(name: string, type: Type | undefined): SeenName[] {
  if (type === undefined) return [];
  const fields = type.kind === "object" ? Object.entries(type.fields) : [];
  return [{ name, type: formatType(type), fields: fields.flatMap(([field, each]) => toSeenNames(field, each)) }];
}
