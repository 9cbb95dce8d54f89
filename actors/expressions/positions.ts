/**
 * Positions: the fields of definitions that contain expressions, each with the expected type and the names in scope.
 * See "Integration positions" and "Hook positions and values" in the expressions document.
 */

import { DYN, STRING, type Type, toList, toMap, toObject } from "./cel-types.js";
import { isTemplate, OPEN, readTemplate } from "./templates.js";
import type { ExpectedExpression, ExpressionForm } from "./validate-expression.js";

export interface Position {
  /** The path of the field; `[*]` is any key or index: `hook.steps[*].with[*]`. */
  readonly position: string;
  readonly form: ExpressionForm;
  readonly returns: ExpectedExpression["returns"];
  readonly sees: readonly string[];
  /** Names that are in scope only in some definitions. */
  readonly alsoSees: readonly ("item" | "captures" | "inputs")[];
}

const MARKS = toMap(STRING, STRING);
const ANY = toMap(STRING, DYN);

/** Types of the names in a hook's scope. A definition gives `event`, `vars` and `step` more precise types. */
export const hookNames: Readonly<Record<string, Type>> = {
  event: toObject({ at: STRING }),
  task: toObject({
    id: STRING,
    title: STRING,
    url: STRING,
    line: STRING,
    station: STRING,
    stationKey: STRING,
    marks: MARKS,
    repositories: toList(STRING),
    pullRequest: DYN,
    openedBy: DYN,
  }),
  run: toObject({ id: STRING }),
  vars: MARKS,
  hook: toObject({ key: STRING }),
  step: toMap(STRING, toObject({ status: STRING, output: DYN })),
};

/** Types of the names in an integration's scope. */
export const integrationNames: Readonly<Record<string, Type>> = {
  body: DYN,
  headers: DYN,
  raw: STRING,
  cursor: STRING,
  connection: STRING,
  response: DYN,
  status: DYN,
  capture: ANY,
  item: DYN,
  file: DYN,
  inputs: ANY,
  target: MARKS,
  task: toObject({ line: STRING, station: STRING, stationKey: STRING, marks: MARKS }),
  ask: toObject({ body: STRING, link: DYN, station: STRING }),
};

interface Seeing {
  readonly sees: readonly string[];
  readonly alsoSees?: Position["alsoSees"];
}

const at =
  (form: ExpressionForm, returns: Position["returns"] = null) =>
  (position: string, { sees, alsoSees = [] }: Seeing): Position => ({ position, form, returns, sees, alsoSees });
const expression = at("expression");
const list = at("expression", "list");
const test = at("expression", "bool");
const text = at("text");

/** The positions of an HTTP request. */
function request(path: string, seeing: Seeing): Position[] {
  return [
    text(`${path}.url`, seeing),
    text(`${path}.query[*]`, seeing),
    text(`${path}.headers[*]`, seeing),
    text(`${path}.body`, seeing),
  ];
}

function answered({ sees, alsoSees }: Seeing): Seeing {
  return { sees: [...sees, "response", "status"], ...(alsoSees === undefined ? {} : { alsoSees }) };
}

function requestWithAnswer(path: string, seeing: Seeing): Position[] {
  return [
    ...request(path, seeing),
    test(`${path}.expect.success`, answered(seeing)),
    expression(`${path}.capture[*]`, answered(seeing)),
  ];
}

/** The positions of a webhook or poll event. `sees` has the names that the webhook or poll puts in scope. */
function events(path: string, sees: readonly string[]): Position[] {
  const item: Seeing = { sees, alsoSees: ["item"] };
  const captured: Seeing = { sees, alsoSees: ["item", "captures"] };
  const file: Seeing = { sees: [...sees, "file"], alsoSees: ["item", "captures"] };
  const raise = `${path}.raise`;
  return [
    list(`${path}.forEach`, { sees }),
    test(`${path}.when`, item),
    ...requestWithAnswer(`${path}.lookup.request`, item),
    expression(`${path}.lookup.capture[*]`, answered(item)),
    expression(`${raise}.say`, captured),
    expression(`${raise}.opens.title`, captured),
    expression(`${raise}.opens.description`, captured),
    expression(`${raise}.opens.assignBy.email`, captured),
    expression(`${raise}.branch`, captured),
    expression(`${raise}.marks[*].value`, captured),
    list(`${raise}.attaches.each`, captured),
    expression(`${raise}.attaches.name`, file),
    expression(`${raise}.attaches.type`, file),
    expression(`${raise}.attaches.size`, file),
    ...request(`${raise}.attaches.fetch`, file),
  ];
}

const delivery = ["body", "headers", "raw"];
const poll = ["cursor", "connection"];
const acting = ["task", "ask", "target", "connection"];

/** The positions of an integration's definition. */
export const integrationPositions: readonly Position[] = [
  expression("integration.webhook.verify.hmac.signed", { sees: delivery }),
  expression("integration.webhook.verify.hmac.freshness.at", { sees: delivery }),
  text("integration.webhook.verify.asymmetric.key", { sees: delivery }),
  expression("integration.webhook.verify.asymmetric.signed", { sees: delivery }),
  expression("integration.webhook.verify.asymmetric.freshness.at", { sees: delivery }),
  test("integration.webhook.respond.when", { sees: delivery }),
  expression("integration.webhook.respond.body", { sees: delivery }),
  test("integration.webhook.mine", { sees: delivery }),
  expression("integration.webhook.route.by", { sees: delivery }),
  expression("integration.webhook.delivery", { sees: delivery }),
  ...events("integration.webhook.events[*]", delivery),
  ...requestWithAnswer("integration.poll.request", { sees: poll }),
  expression("integration.poll.cursor", { sees: ["body", "cursor"] }),
  ...events("integration.poll.events[*]", ["body", "cursor", "headers", "raw"]),
  ...requestWithAnswer("integration.actions[*].request", { sees: acting, alsoSees: ["inputs"] }),
  text("integration.tools[*].inputs[*].default", { sees: ["task"] }),
  expression("integration.tools[*].output", { sees: [...acting, "response", "status", "capture", "inputs"] }),
  expression("integration.connection.oauth2.identity", { sees: ["response"] }),
  expression("integration.on[*].to[*]", { sees: ["task", "ask"] }),
  expression("integration.on[*].mark[*].value", { sees: [...acting, "response", "capture"] }),
];

const hookVariables = ["event", "task", "run", "vars", "hook"];
const hookStepScope = { sees: [...hookVariables, "step"] };

/** The positions of a hook. */
export const hookPositions: readonly Position[] = [
  at("condition", "bool")("hook.when", { sees: hookVariables }),
  text("hook.steps[*].with[*]", hookStepScope),
  text("hook.steps[*].request.url", hookStepScope),
  text("hook.steps[*].request.headers[*]", hookStepScope),
  text("hook.steps[*].request.body", hookStepScope),
];

/** The rules for the expressions in one kind of definition. */
export interface Language {
  readonly name: "hook" | "integration";
  readonly positions: readonly Position[];
  /** Maximum number of expressions in one definition. */
  readonly maxExpressions: number;
  /** The names in scope at a position of a definition, with their types. */
  namesAt(definition: Definition, placed: ExpressionLocation): ReadonlyMap<string, Type>;
}

/** A definition, parsed by its schema. */
export type Definition = Readonly<Record<string, unknown>>;

/** Returns the value at a path of a definition; undefined if there is none. */
export function findPart(definition: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, name) =>
      typeof part === "object" && part !== null
        ? Object.entries(part).find(([own]) => own === String(name))?.[1]
        : undefined,
    definition,
  );
}

/** Lists the field names of an object. Returns none for other values. */
export function listNames(part: unknown): string[] {
  return typeof part === "object" && part !== null && !Array.isArray(part) ? Object.keys(part) : [];
}

/** A text of a definition, with its position. */
export interface ExpressionLocation {
  readonly position: Position;
  /** The path in the definition, as keys and indexes. */
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** Lists all texts of a definition that contain expressions, in the definition's order. */
export function listExpressions(language: Language, definition: Definition): ExpressionLocation[] {
  const found: ExpressionLocation[] = [];
  visitExpressions(language, definition, (placed) => {
    found.push(placed);
    return true;
  });
  return found;
}

/** A position with the parts of its path below the language's name; null is any key or index. */
interface Pattern {
  readonly position: Position;
  readonly parts: readonly (string | null)[];
}

/**
 * Calls `take` for each text in the definition that contains expressions. Stops when `take` returns false. The
 * definition may be any JSON of any size.
 */
function visitExpressions(
  language: Language,
  definition: unknown,
  take: (placed: ExpressionLocation) => boolean,
): void {
  const path: (string | number)[] = [];
  const visit = (value: unknown, patterns: readonly Pattern[]): boolean => {
    if (typeof value === "string") {
      const position = patterns.find(({ parts, position }) => isAt(path.length, parts, position.form))?.position;
      const holds = position !== undefined && (position.form === "condition" || isTemplate(value));
      return !holds || take({ position, path: [...path], text: value });
    }
    if (typeof value !== "object" || value === null || patterns.length === 0) return true;
    const within = (name: string | number, inner: unknown): boolean => {
      path.push(name);
      const goesOn = visit(inner, below(patterns, path.length - 1, name));
      path.pop();
      return goesOn;
    };
    if (Array.isArray(value)) return value.every((inner, index) => within(index, inner));
    return Object.entries(value).every(([name, inner]) => within(name, inner));
  };
  visit(definition, listPatterns(language));
}

/** Returns the patterns whose path allows this name at this depth. */
function below(patterns: readonly Pattern[], depth: number, name: string | number): readonly Pattern[] {
  const goesOn = ({ parts, position: { form } }: Pattern) =>
    depth < parts.length ? parts[depth] === null || parts[depth] === name : form === "text";
  return patterns.every(goesOn) ? patterns : patterns.filter(goesOn);
}

/**
 * Returns whether a text at this depth belongs to the position. If the position has the form `text`, all texts below it
 * also belong to it, such as those in a JSON body or in a tool's inputs.
 */
function isAt(depth: number, parts: readonly (string | null)[], form: ExpressionForm): boolean {
  return depth === parts.length || (depth > parts.length && form === "text");
}

const patternsKnown = new Map<readonly Position[], readonly Pattern[]>();

function listPatterns({ positions }: Language): readonly Pattern[] {
  const known = patternsKnown.get(positions);
  if (known !== undefined) return known;
  const patterns = positions.map((position) => ({ position, parts: listParts(position.position).slice(1) }));
  patternsKnown.set(positions, patterns);
  return patterns;
}

/** Maximum total characters of a definition's texts with expressions. Limits the cost of parsing. */
const MAX_CHARACTERS = 200_000;
/**
 * Maximum total characters of a definition's expressions. With this limit, the type check blocks the event loop for 20
 * ms at most.
 */
const MAX_EXPRESSION_CHARACTERS = 25_000;

/**
 * Returns why a definition exceeds the limits for expressions; null if it does not. Call it with the body as received,
 * before parsing anything in it. The function stops as soon as a limit is exceeded, and parses no expression.
 */
export function findSizeFault(language: Language, definition: unknown): string | null {
  const { maxExpressions } = language;
  const holding: ExpressionLocation[] = [];
  let count = 0;
  let characters = 0;
  visitExpressions(language, definition, (placed) => {
    holding.push(placed);
    characters += placed.text.length;
    if (characters <= MAX_CHARACTERS) count += Math.max(1, placed.text.split(OPEN).length - 1);
    return count <= maxExpressions && characters <= MAX_CHARACTERS;
  });
  if (count > maxExpressions) return `must hold at most ${maxExpressions} expressions`;
  if (characters > MAX_CHARACTERS) return `must hold at most ${MAX_CHARACTERS} characters of text with expressions`;
  const sources = holding.flatMap(({ text, position }) => listSources(text, position.form));
  return sources.reduce((sum, source) => sum + source.length, 0) > MAX_EXPRESSION_CHARACTERS
    ? `must hold at most ${MAX_EXPRESSION_CHARACTERS} characters of expressions`
    : null;
}

/** Lists the expressions of a text. Returns none for a template with a syntax error. */
function listSources(text: string, form: ExpressionForm): string[] {
  if (form === "condition" && !isTemplate(text)) return [text];
  const read = readTemplate(text);
  return "fault" in read ? [] : read.template.flatMap((part) => (typeof part === "string" ? [] : [part.source]));
}

/** Splits a position's path into its parts; null is any key or index. */
function listParts(pattern: string): (string | null)[] {
  return pattern.split(/\.|(?=\[\*\])/).map((part) => (part === "[*]" ? null : part));
}
