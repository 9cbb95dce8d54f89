import { type CelValue, celList, celMap, celType, celUint, isCelError, isCelList, isCelMap, plan } from "@bufbuild/cel";
import type { Type as ProtoType } from "@bufbuild/cel-spec/cel/expr/checked_pb.js";
import type { Value as ProtoValue } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import { getCheckingSuite, getConformanceSuite, type IncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js";
import t from "tap";
import * as types from "../../../actors/expressions/cel-types.js";
import { checkExpression } from "../../../actors/expressions/check.js";
import { meteredEnvironment } from "../../../actors/expressions/functions.js";
import { Meter } from "../../../actors/expressions/meter.js";
import { parseExpression } from "../../../actors/expressions/parse.js";
import { programOf } from "../../../actors/expressions/program.js";

/**
 * The official conformance tests of cel-spec: the core language without protobuf messages, optional values and
 * extensions. Counts a section may only rise; what fails is listed.
 */
const evaluated: Readonly<Record<string, number>> = {
  basic: 43,
  comparisons: 334,
  conversions: 109,
  fields: 59,
  fp_math: 30,
  integer_math: 64,
  lists: 39,
  logic: 30,
  macros: 44,
  namespace: 1,
  parse: 193,
  plumbing: 5,
  string: 51,
  timestamps: 73,
};
/** A map literal with a key twice, as an int and as a uint, is an error; here the first is taken. */
const failing = ["fields/map_value_repeat_key_heterogeneous"];

const meter = new Meter();
const environment = meteredEnvironment(meter);

function isCore({ original }: IncrementalTest): boolean {
  const names = JSON.stringify([original.bindings, original.typeEnv, original.resultMatcher], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return (
    original.container === "" &&
    !/TestAllTypes|google\.protobuf|GlobalEnum|NestedEnum|optional\.|tuple\(/.test(original.expr) &&
    !/"objectValue"|"messageType"|"wrapper"|TestAll|"function"/.test(names)
  );
}

interface Section {
  readonly name: string;
  readonly tests: readonly IncrementalTest[];
}

function sections(): Section[] {
  const testsOf = (suite: ReturnType<typeof getConformanceSuite>): IncrementalTest[] => [
    ...suite.tests,
    ...suite.suites.flatMap(testsOf),
  ];
  return getConformanceSuite().suites.map((suite) => ({ name: suite.name, tests: testsOf(suite).filter(isCore) }));
}

/** A value of the tests' protobuf form. */
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
        new Map(kind.value.entries.map(({ key, value }) => [keyOf(valueFrom(need(key))), valueFrom(need(value))])),
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

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a part of a test is missing");
  return value;
}

function keyOf(value: CelValue): string | bigint | boolean {
  if (typeof value === "string" || typeof value === "bigint" || typeof value === "boolean") return value;
  return String(value);
}

/** A value with its type, so that 1, 1u and 1.0 differ. */
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
  return plan(environment, programOf(parsed.tree))(Object.fromEntries(names));
}

function passes(test: IncrementalTest): boolean {
  const found = evaluate(test);
  const { resultMatcher: wanted } = test.original;
  if (wanted.case === "evalError") return found instanceof Error || isCelError(found);
  if (wanted.case !== "value" || found instanceof Error || isCelError(found)) return false;
  if (wanted.value.kind.case === "typeValue") return `type ${wanted.value.kind.value}` === `type ${nameOf(found)}`;
  return JSON.stringify(shown(found)) === JSON.stringify(shown(valueFrom(wanted.value)));
}

function nameOf(value: CelValue): string {
  return value !== null && typeof value === "object" && "name" in value ? String(value.name) : "";
}

t.test("the core of the language evaluates as cel-spec's own tests say", async (t) => {
  const failed: string[] = [];
  for (const { name, tests } of sections().filter(({ name }) => name in evaluated)) {
    const wrong = tests.filter((test) => !passes(test));
    failed.push(...wrong.map((test) => `${name}/${test.name}`));
    t.ok(
      tests.length - wrong.length >= (evaluated[name] ?? 0),
      `${name}: ${tests.length - wrong.length} of ${tests.length}`,
    );
  }
  t.same(failed, failing, "what fails is what is known to fail");
});

/** A declared type of the tests' protobuf form. */
function typeFrom({ typeKind }: ProtoType): types.Type {
  const scalars = [types.DYN, types.BOOL, types.INT, types.UINT, types.DOUBLE, types.STRING, types.BYTES];
  switch (typeKind.case) {
    case "primitive":
      return scalars[typeKind.value] ?? types.DYN;
    case "null":
      return types.NULL;
    case "wellKnown":
      return [types.DYN, types.DYN, types.TIMESTAMP, types.DURATION][typeKind.value] ?? types.DYN;
    case "listType":
      return types.listOf(typeFrom(need(typeKind.value.elemType)));
    case "mapType":
      return types.mapOf(typeFrom(need(typeKind.value.keyType)), typeFrom(need(typeKind.value.valueType)));
    case "type":
      return types.typeOf(typeFrom(typeKind.value));
    default:
      return types.DYN;
  }
}

function typeFound({ original }: IncrementalTest): string {
  const parsed = parseExpression(original.expr);
  if ("fault" in parsed) return parsed.fault.message;
  const names = new Map(
    original.typeEnv.flatMap(({ name, declKind }) =>
      declKind.case === "ident" ? [[name, typeFrom(need(declKind.value.type))] as const] : [],
    ),
  );
  const { type, faults } = checkExpression(parsed.tree, names);
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
  let count = 0;
  for (const { name, tests } of sections().filter(({ name }) => name in evaluated || name === "type_deductions")) {
    for (const test of tests.filter(({ original, type }) => !original.disableCheck && type !== undefined)) {
      count += 1;
      const found = typeFound(test);
      if (found !== typeWanted(test)) t.equal(found, typeWanted(test), `${name}/${test.name}: ${test.original.expr}`);
    }
  }
  t.ok(count >= 1_020, `${count} expressions`);
});

/** The names that cel-go's own tests of its checker declare, in all of them and in single ones. */
const declared: readonly (readonly [string, types.Type])[] = [
  ["is", types.STRING],
  ["ii", types.INT],
  ["iu", types.UINT],
  ["iz", types.BOOL],
  ["ib", types.BYTES],
  ["id", types.DOUBLE],
  ["ix", types.NULL],
];
const anyMap = types.mapOf(types.STRING, types.DYN);
const repeated = types.objectOf({ repeated_int64: types.listOf(types.INT), single_int32: types.INT });
const declaredFor: readonly (readonly [RegExp, Readonly<Record<string, types.Type>>])[] = [
  [/^size\(x\)/, { x: types.listOf(types.INT) }],
  [/^x\["claims"\]/, { x: anyMap, y: types.listOf(types.DYN), z: types.DYN }],
  [/^x\.all\(y/, { x: types.BOOL }],
  [/^x\.repeated_int64/, { x: repeated }],
  [/^args\./, { args: anyMap }],
  [/^a\.b \+/, { a: types.DYN }],
  [/^values\./, { values: types.listOf(types.mapOf(types.STRING, types.STRING)) }],
  [/^1 \+ x$/, {}],
  [/^(\[|\{)/, {}],
];
/** What needs messages, containers, optional values or functions that only those tests declare. */
const beyond =
  /TestAllTypes|google\.|pb2|\bx\b|\by\b|Msg|fg_s|fi_s_s|lists\.|myfun|\{\?|\.\?|\?a|\?'|args|a\.b|a\.dyn|base64|encode|set\(|int\{|values|testAll|null_int|NotAMess|test\./;
const beyondAlways = /\.\?|\{\?|\?'|\[\?|TestAllTypes|has\(a/;
/** Numbers of different types are compared, as cel-spec lists; those tests have that option of cel-go's off. */
const mixedNumbers = /^1 [<>]=? 1\.0/;

t.test("the checker accepts and rejects what cel-go's own tests do", async (t) => {
  let accepted = 0;
  let rejected = 0;
  for (const { original, type, error } of getCheckingSuite().tests) {
    const { expr } = original;
    const own = declaredFor.find(([start]) => start.test(expr))?.[1];
    if (mixedNumbers.test(expr) || beyondAlways.test(expr) || (beyond.test(expr) && own === undefined)) continue;
    const parsed = parseExpression(expr);
    const names = new Map([...declared, ...Object.entries(own ?? {})]);
    const checked = "fault" in parsed ? null : checkExpression(parsed.tree, names);
    const found = checked === null || checked.faults.length > 0 ? null : types.formatType(checked.type);
    if (error === undefined) accepted += 1;
    else rejected += 1;
    t.equal(found, error === undefined ? type : null, expr);
  }
  t.ok(accepted >= 59 && rejected >= 10, `${accepted} accepted, ${rejected} rejected`);
});
