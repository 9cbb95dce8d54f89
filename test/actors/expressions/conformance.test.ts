import { type CelValue, celList, celMap, celType, celUint, isCelError, isCelList, isCelMap, plan } from "@bufbuild/cel";
import type { Value as ProtoValue } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import { getConformanceSuite, type IncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js";
import t from "tap";
import * as types from "../../../actors/expressions/cel-types.js";
import { meteredEnvironment } from "../../../actors/expressions/functions.js";
import { Meter } from "../../../actors/expressions/meter.js";
import { parseExpression } from "../../../actors/expressions/parse.js";
import { compileProgram } from "../../../actors/expressions/program.js";
import { extended, language } from "../../../actors/expressions/signatures.js";
import { checkExpression } from "../../../actors/expressions/type-check.js";
import { namesFrom, need, typeFrom, withFunctions } from "./cel-spec-types.js";

/**
 * Minimum number of tests per section that must pass, from cel-spec's official conformance tests. They cover the core
 * language without protobuf messages, optional values and extensions. A minimum may only rise.
 */
const evaluated: Readonly<Record<string, number>> = {
  basic: 43,
  comparisons: 334,
  conversions: 109,
  fields: 60,
  fp_math: 30,
  integer_math: 64,
  lists: 39,
  logic: 30,
  macros: 44,
  namespace: 3,
  parse: 193,
  plumbing: 5,
  string: 51,
  timestamps: 75,
};

/**
 * Number of tests that need protobuf messages, by section. A test may write a message as a literal, or bind a name to a
 * message.
 */
const withMessages: Readonly<Record<string, number>> = { comparisons: 72, parse: 26, timestamps: 1 };

const meter = new Meter();
const environment = meteredEnvironment(meter);

const writesMessage = /TestAllTypes|google\.protobuf\.\w+\s*\{/;
const namesMessage = /conformance\.proto|"objectValue"/;

function isCore({ original }: IncrementalTest): boolean {
  const { bindings, typeEnv, resultMatcher, expr } = original;
  const declared = JSON.stringify([bindings, typeEnv, resultMatcher], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return !writesMessage.test(expr) && !namesMessage.test(declared);
}

interface Section {
  readonly name: string;
  readonly tests: readonly IncrementalTest[];
  /** Tests with protobuf messages. */
  readonly leftOut: readonly IncrementalTest[];
}

function sections(): Section[] {
  const listTests = (suite: ReturnType<typeof getConformanceSuite>): IncrementalTest[] => [
    ...suite.tests,
    ...suite.suites.flatMap(listTests),
  ];
  return getConformanceSuite().suites.map((suite) => {
    const all = listTests(suite);
    const tests = all.filter(isCore);
    return { name: suite.name, tests, leftOut: all.filter((test) => !tests.includes(test)) };
  });
}

/** Converts a value from the tests' protobuf form. */
function valueFrom({ kind }: ProtoValue): CelValue {
  switch (kind.case) {
    case "nullValue":
      return null;
    case "uint64Value":
      return celUint(kind.value);
    case "listValue":
      return celList(kind.value.values.map(valueFrom));
    case "mapValue":
      return celMap(
        new Map(kind.value.entries.map(({ key, value }) => [toKey(valueFrom(need(key))), valueFrom(need(value))])),
      );
    case "boolValue":
    case "int64Value":
    case "doubleValue":
    case "stringValue":
    case "bytesValue":
      return kind.value;
    default:
      throw new Error(`a value of the tests is a ${kind.case}`);
  }
}

function toKey(value: CelValue): string | bigint | boolean {
  if (typeof value === "string" || typeof value === "bigint" || typeof value === "boolean") return value;
  return String(value);
}

/** Returns a value together with its type, so that 1, 1u and 1.0 differ. */
function shown(value: CelValue): unknown {
  const type = celType(value).name;
  if (isCelList(value)) return Array.from(value, shown);
  if (isCelMap(value)) return [...value.entries()].map(([key, each]) => [String(key), shown(each)]).sort();
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Object.is(value, -0)) return "double -0";
  if (value !== null && typeof value === "object" && "value" in value) return `${type} ${value.value}`;
  return `${type} ${String(value)}`;
}

function evaluate({ original }: IncrementalTest): CelValue | Error {
  const parsed = parseExpression(original.expr);
  if ("fault" in parsed) return new Error(parsed.fault.message);
  meter.restart();
  const names = Object.entries(original.bindings).map(([name, { kind }]) => {
    if (kind.case !== "value") throw new Error(`${name} has no value`);
    return [name, valueFrom(kind.value)];
  });
  const within = Object.create(environment, { namespace: { value: original.container } });
  return plan(within, compileProgram(parsed.tree))(Object.fromEntries(names));
}

function passes(test: IncrementalTest): boolean {
  const found = evaluate(test);
  const { resultMatcher: wanted } = test.original;
  if (wanted.case === "evalError") return found instanceof Error || isCelError(found);
  if (wanted.case !== "value" || found instanceof Error || isCelError(found)) return false;
  if (wanted.value.kind.case === "typeValue") return `type ${wanted.value.kind.value}` === `type ${toName(found)}`;
  return JSON.stringify(shown(found)) === JSON.stringify(shown(valueFrom(wanted.value)));
}

function toName(value: CelValue): string {
  return value !== null && typeof value === "object" && "name" in value ? String(value.name) : "";
}

t.test("the core of the language evaluates as cel-spec's own tests say", async (t) => {
  const failed: string[] = [];
  for (const { name, tests, leftOut } of sections().filter(({ name }) => name in evaluated)) {
    t.equal(leftOut.length, withMessages[name] ?? 0, `${name}: all but those with messages`);
    const wrong = tests.filter((test) => !passes(test));
    failed.push(...wrong.map((test) => `${name}/${test.name}`));
    t.ok(
      tests.length - wrong.length >= (evaluated[name] ?? 0),
      `${name}: ${tests.length - wrong.length} of ${tests.length}`,
    );
  }
  t.same(failed, [], "none fails");
});

const A: types.Type = { kind: "parameter", name: "A" };
/** Declarations of cel-go's optional values library; some tests check their types. */
const optionalFunctions = new Map([
  ["optional.none", [{ isMethod: false, takes: [], gives: types.opaque("optional_type", A) }]],
  ["optional.of", [{ isMethod: false, takes: [A], gives: types.opaque("optional_type", A) }]],
]);

/**
 * Tests of type deduction that use message literals, enums, or numbers that may be null. They are skipped: messages are
 * replaced by plain objects here, which have none of these.
 */
const deducedOfMessages: ReadonlySet<string> = new Set([
  ...["struct", "int_field", "repeated_int_field", "map_bool_int", "enum_field", "repeated_enum_field"],
  ...["enum_map_field", "list_parameters_do_not_unify", "wrapper_promotion", "wrapper_promotion_2"],
  ...["wrapper_dyn_promotion", "wrapper_dyn_promotion_2", "wrapper_primitive_assignable", "wrapper_null_assignable"],
  ...["wrapper_ternary_parameter_assignment", "wrapper_ternary_parameter_assignment_2"],
  "null_assignable_to_message_parameter_candidate",
]);

function typeFound({ original }: IncrementalTest): string {
  const parsed = parseExpression(original.expr);
  if ("fault" in parsed) return parsed.fault.message;
  const declared = {
    ...withFunctions(extended(language, optionalFunctions), original.typeEnv),
    container: original.container,
  };
  const names = new Map(namesFrom(original.typeEnv));
  const { type, faults } = checkExpression(parsed.tree, names, declared);
  return faults[0]?.message ?? types.formatType(type);
}

function typeWanted({ original: { resultMatcher }, type }: IncrementalTest): string | null {
  if (resultMatcher.case === "typedResult") return types.formatType(typeFrom(need(resultMatcher.value.deducedType)));
  return (
    type?.replace(/\b(timestamp|duration)\b/g, (name) => `google.protobuf.${name[0]?.toUpperCase()}${name.slice(1)}`) ??
    null
  );
}

t.test("the checker finds the type that cel-go's finds", async (t) => {
  const checked = sections().flatMap(({ name, tests, leftOut }) => {
    if (name in evaluated) return tests;
    return name === "type_deductions" ? [...tests, ...leftOut].filter((test) => !deducedOfMessages.has(test.name)) : [];
  });
  const typed = checked.filter(({ original, type }) => !original.disableCheck && type !== undefined);
  for (const test of typed) {
    if (typeFound(test) !== typeWanted(test)) t.equal(typeFound(test), typeWanted(test), test.original.expr);
  }
  t.ok(typed.length >= 1_040, `${typed.length} expressions`);
});
