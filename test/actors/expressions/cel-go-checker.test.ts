import { getCheckingSuite, type IncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js";
import t from "tap";
import * as types from "../../../actors/expressions/cel-types.js";
import { parseExpression } from "../../../actors/expressions/parse.js";
import { extended, language, type Overload, standard } from "../../../actors/expressions/signatures.js";
import { checkExpression } from "../../../actors/expressions/type-check.js";
import { namesFrom, withFunctions } from "./cel-spec-types.js";

const method = (gives: types.Type, ...takes: types.Type[]): Overload => ({ isMethod: true, takes, gives });
const call = (gives: types.Type, ...takes: types.Type[]): Overload => ({ isMethod: false, takes, gives });

/** The declarations that all of cel-go's checker tests share, in addition to their own. */
const names: readonly (readonly [string, types.Type])[] = [
  ["is", types.STRING],
  ["ii", types.INT],
  ["iu", types.UINT],
  ["iz", types.BOOL],
  ["ib", types.BYTES],
  ["id", types.DOUBLE],
  ["ix", types.NULL],
];
const functions = new Map([
  ["fg_s", [call(types.STRING)]],
  ["fi_s_s", [method(types.STRING, types.STRING)]],
]);

function found({ original }: Pick<IncrementalTest, "original">, base = standard): string {
  const parsed = parseExpression(original.expr);
  if ("fault" in parsed) return `error: ${parsed.fault.message}`;
  const declared = { ...withFunctions(extended(base, functions), original.typeEnv), container: original.container };
  const checked = checkExpression(parsed.tree, new Map([...names, ...namesFrom(original.typeEnv)]), declared);
  const [fault] = checked.faults;
  return fault === undefined ? types.formatType(checked.type) : `error: ${fault.message}`;
}
const describe = (test: Pick<IncrementalTest, "original">) => test.original.expr.replace(/\s+/g, " ").trim();

/** Tests that cannot run because Signalbox has no protobuf messages, grouped by the message feature that they need. */
const withMessages: Readonly<Record<string, readonly string[]>> = {
  "a message is written": [
    "TestAllTypes{single_int32: 1, single_int64: 2}",
    "x.single_timestamp == google.protobuf.Timestamp{seconds: 20} && x.single_duration < google.protobuf.Duration{seconds: 10}",
    "x.single_bool_wrapper == google.protobuf.BoolValue{value: true} && x.single_bytes_wrapper == google.protobuf.BytesValue{value: b'hi'} && x.single_double_wrapper != google.protobuf.DoubleValue{value: 2.0} && x.single_float_wrapper == google.protobuf.FloatValue{value: 1.0} && x.single_int32_wrapper != google.protobuf.Int32Value{value: -2} && x.single_int64_wrapper == google.protobuf.Int64Value{value: 1} && x.single_string_wrapper == google.protobuf.StringValue{value: 'hi'} && x.single_string_wrapper == google.protobuf.Value{string_value: 'hi'} && x.single_uint32_wrapper == google.protobuf.UInt32Value{value: 1u} && x.single_uint64_wrapper != google.protobuf.UInt64Value{value: 42u}",
    "x == google.protobuf.Any{ type_url:'types.googleapis.com/google.expr.proto3.test.TestAllTypes' } && x.single_nested_message.bb == 43 || x == google.expr.proto3.test.TestAllTypes{} || y < x || x >= x",
    "x == google.protobuf.Any{ type_url:'types.googleapis.com/google.expr.proto3.test.TestAllTypes' } && x.single_nested_message.bb == 43 || x == google.expr.proto3.test.TestAllTypes{} || y < x || x >= x",
    "TestAllTypes{}.repeated_nested_message",
    "TestAllTypes{}.repeated_nested_message",
  ],
  "the type of a message is named": [".google.expr.proto3.test.TestAllTypes", "test.TestAllTypes", "x"],
  "a message may be null": ["x.single_nested_message != null"],
  "an enum of a message is named": ["TestAllTypes.NestedEnum.BAR != 99"],
  "a field is a group of proto2": ["type(testAllTypes.nestedgroup.nested_id) == int"],
  "a number of a message may be null": [
    "x.single_int64_wrapper == null",
    "x.single_bool_wrapper && x.single_bytes_wrapper == b'hi' && x.single_double_wrapper != 2.0 && x.single_float_wrapper == 1.0 && x.single_int32_wrapper != 2 && x.single_int64_wrapper == 1 && x.single_string_wrapper == 'hi' && x.single_uint32_wrapper == 1u && x.single_uint64_wrapper != 42u",
    "x.single_int64_wrapper + 1 != 23",
    "x.single_int64_wrapper + y != 23",
    "null_int == null || null == null_int || null_msg == null || null == null_msg",
  ],
};

t.test("the checker accepts and rejects what cel-go's own tests do, whatever they declare", async (t) => {
  const all = getCheckingSuite().tests;
  const beyond = Object.values(withMessages).flat();
  const runnable = all.filter((test) => !beyond.includes(describe(test)));
  t.equal(all.length - runnable.length, beyond.length, "every case that is left out is one of theirs");
  const accepted = runnable.filter(({ error }) => error === undefined);
  const rejected = runnable.filter(({ error }) => error !== undefined);
  for (const test of accepted) t.equal(found(test), test.type, describe(test));
  for (const test of rejected) t.match(found(test), /^error: ./, describe(test));
  t.same([accepted.length, rejected.length], [78, 39], "none may be lost");
});

/**
 * Two newer cases of cel-go with names that start with a dot, which means the root namespace. Signalbox has no
 * namespaces, so it refuses these names.
 */
const fromTheRoot = ["[0].exists(x, x != .x)", "[{'z': 0}].exists(y, .y.z == y.z)"];

t.test("a name with a leading dot is refused, with its place", async (t) => {
  for (const expr of fromTheRoot) {
    const parsed = parseExpression(expr);
    const at = /(?<=[ ,=])\.(?=[xy])/.exec(expr)?.index;
    t.match(parsed, { fault: { message: /does not parse/, span: { start: at } } }, expr);
  }
});

/**
 * Comparisons of numbers of different types. In cel-go's checking suite these comparisons are errors, because the
 * option that permits them is off by default.
 */
const mixedNumbers = ["<=", "<", ">", ">="].map((operator) =>
  ["1 <= 1.0", "1u <= 1.0", "1.0 <= 1", "1.0 <= 1u", "1 <= 1u", "1u <= 1"].join(" && ").replaceAll("<=", operator),
);

t.test("numbers of different types are compared where the language has that option of cel-go's on", async (t) => {
  const suite = getCheckingSuite().tests;
  for (const expr of mixedNumbers) {
    const [test, ...more] = suite.filter((each) => describe(each) === expr);
    if (test === undefined) return t.fail(`${expr} is not one of theirs`);
    for (const each of [test, ...more]) t.match(found(each), /^error: .* does not take /, `${expr} without it`);
    t.equal(found(test, language), "bool", expr);
  }
});

t.test("the variable of a loop hides what is declared under its name", async (t) => {
  const cases: readonly (readonly [string, string, types.Type, string])[] = [
    ["[{'z': 0}].exists(y, y.z == 0)", "cel.example.y", types.toMap(types.STRING, types.INT), "bool"],
    ["[{'y': 0}].exists(x, x.y == 0)", "x", types.toMap(types.STRING, types.INT), "bool"],
    ["[{'z': 'a'}].map(y, y.z)", "y.z", types.INT, "list(string)"],
    ["['a'].map(y, y)", "cel.y", types.INT, "list(string)"],
  ];
  for (const [expr, name, type, wanted] of cases) {
    const parsed = parseExpression(expr);
    if ("fault" in parsed) return t.fail(parsed.fault.message);
    const checked = checkExpression(parsed.tree, new Map([[name, type]]), { ...standard, container: "cel" });
    t.same([types.formatType(checked.type), checked.faults], [wanted, []], expr);
  }
});
