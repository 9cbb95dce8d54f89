import fc from "fast-check";
import t from "tap";
import { writeJson } from "../../../actors/exact-json.js";
import * as types from "../../../actors/expressions/cel-types.js";
import { compile } from "../../../actors/expressions/evaluate.js";
import { parseExpression } from "../../../actors/expressions/parse.js";
import { CLOSE, evaluateJson, OPEN } from "../../../actors/expressions/templates.js";
import { checkExpression } from "../../../actors/expressions/type-check.js";
import { toValue } from "../../../actors/expressions/values.js";

const names = new Map([
  ["big", types.toList(types.DOUBLE)],
  ["text", types.STRING],
  ["flag", types.BOOL],
  ["count", types.INT],
  ["any", types.DYN],
  ["map", types.toMap(types.STRING, types.STRING)],
]);
const values = {
  big: toValue(
    Array.from({ length: 10_000 }, (_, index) => index),
    types.DYN,
  ),
  text: "a".repeat(100_000),
  flag: true,
  count: 3n,
  any: toValue({ a: [1, "x", null], b: { c: true } }, types.DYN),
  map: toValue({ a: "b" }, types.DYN),
};

/** Concatenates this many parts; `part` gets the index. */
function repeated(times: number, part: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => part(index)).join("");
}

function lookUpFault(source: string): string | null {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return parsed.fault.message;
  return checkExpression(parsed.tree, names).faults[0]?.message ?? null;
}

t.test("deep nesting is refused by the parser, without a stack overflow", async (t) => {
  const deep = {
    brackets: "[".repeat(500) + "]".repeat(500),
    parentheses: `${"(".repeat(900)}1${")".repeat(900)}`,
    "fields of fields": `any${".b".repeat(900)}`,
    negations: `${"!".repeat(1_900)}flag`,
    "a long chain": `flag${"||flag".repeat(320)}${"||flag".repeat(5)}`,
    "a long sum": `1${"+1".repeat(990)}`,
    conditions: `${"flag?1:".repeat(280)}1`,
  };
  for (const [name, source] of Object.entries(deep)) {
    const wanted = name === "a long chain" ? null : /^(is too large|nests more than)/;
    if (wanted === null) t.equal(lookUpFault(source), null, name);
    else t.match(lookUpFault(source), wanted, name);
    t.ok(
      ["error", "value"].some((key) => key in compile(source).evaluate(values)),
      `${name} ends`,
    );
  }
  t.match(lookUpFault("1".repeat(2_001)), /longer than 2000 characters/);
});

t.test("an expensive evaluation is ended, even if the expression catches errors", async (t) => {
  const endless = {
    loops: "big.all(a, big.all(b, big.all(c, true)))",
    "loops that only begin": `${repeated(45, () => "big.map(v, ")}1${repeated(45, () => ")")}`,
    "loops that only begin, and end at once": `[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, big.exists(d, true))))`,
    "loops that find nothing": "big.exists(a, big.exists(b, a + b == -1.0))",
    "errors that are swallowed": "big.exists(a, big.exists(b, 1 / 0 > 1)) || true",
    "errors that are swallowed by all": "big.all(a, big.all(b, 1 / 0 > 1)) && false",
    "a list of lists": "big.map(a, big.map(b, [a, b]))",
    "text that doubles": `['xxxxxxxx']${repeated(80, () => ".map(a,a+a)")}.size()`,
    "lists that double": `[[1,2]]${repeated(80, () => ".map(a,a+a)")}[0].all(x,x>0)`,
    "a result that doubles": `[[1]]${repeated(70, () => ".map(a,[a,a])")}`,
    "a pattern that backtracks": "text.matches('(a+)+$')",
    "patterns that repeat": "big.all(x, text.matches('(.*a){20}b') || true)",
    "looking for each in all": "big.all(x, x in big)",
    "comparing all with all": "big.all(x, big == big)",
    "time zones": "big.all(x, timestamp('2020-01-01T00:00:00Z').getHours('America/New_York') >= 0)",
    "sizes of long text": "big.all(x, text.size() > 0)",
    "patterns that are made": "big.all(x, !'a'.matches('[a-z]{1,200}' + string(x)))",
  };
  for (const [name, source] of Object.entries(endless)) {
    t.equal(lookUpFault(source), null, `${name} is well typed`);
    t.match(compile(source).evaluate(values), { error: /it takes too long|its result is too large/ }, name);
    t.equal(compile(source).holds(values), false, `${name} is no condition that holds`);
  }
});

t.test("patterns that are expensive to compile are errors; others match in linear time", async (t) => {
  for (const pattern of ["(a{1000}){1000}", "\\pL{500}", "(?i)(\\pL\\pN\\pP){100}", "x".repeat(501), "("]) {
    t.match(compile(`"a".matches(r'''${pattern}''')`).evaluate(values), { error: /./ }, pattern.slice(0, 30));
  }
  t.same(compile("'feature/ABC-12'.matches('^feature/[A-Z]+-[0-9]+$')").evaluate(values), { value: true });
});

t.test("compiling a pattern has the same cost each time, once for each evaluation", async (t) => {
  const spent = (source: string) => {
    const work = { units: 30_000 };
    compile(source).holds(values, work);
    return 30_000 - work.units;
  };
  const [one, other] = ["'ab'.matches('[a-c]{1,99}')", "'ab'.matches('[a-d]{1,99}')"];
  const made = spent(one);
  t.ok(made > 1_000, `${made} units`);
  t.equal(spent(one), made, "that it is kept from before changes nothing");
  t.ok(spent(`${one} && ${one}`) < made * 1.2);
  t.ok(spent(`${one} && ${other}`) > made * 1.8);
});

t.test("a type that doubles at every step is checked quickly", async (t) => {
  t.equal(lookUpFault(`[1]${repeated(60, () => ".map(a,{a:a})")}.size() > 0`), null);
  t.equal(lookUpFault(`[[1]]${repeated(60, () => ".map(a,[a,a])")}.size() > 0`), null);
  const chained = `${repeated(25, (index) => `[[][0]].all(a${index}, `)}true${repeated(25, (index) => ` && a${index} == {a${Math.max(0, index - 1)}: a${Math.max(0, index - 1)}})`)}`;
  t.equal(typeof lookUpFault(chained), "string");
});

t.test("a cheap evaluation is not ended, also over a thousand changed paths", async (t) => {
  const changed = Array.from({ length: 1_000 }, (_, index) => `src/module-${index}/file.ts`);
  const found = compile("event.changed.exists(path, path.startsWith('src/module-999/') && path.endsWith('.ts'))");
  t.equal(found.holds({ event: toValue({ changed }, types.DYN) }), true);
});

const words = fc.constantFrom(
  ...["big", "text", "flag", "count", "any", "map", "x", "has", ".all(", ".exists(", ".map(", ".filter(", "size(", "("],
  ...[
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    ".",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    "&&",
    "||",
    "!",
    " in ",
  ],
  ...[
    "1",
    "2u",
    "0.5",
    ".5",
    "1e400",
    "true",
    "null",
    "'a'",
    '"\\u00e9"',
    "b'\\xff'",
    "r'\\'",
    "`a-b`",
    "//",
    "\n",
    "'",
    "type(",
  ],
  ...[
    "timestamp('2024-01-01T00:00:00Z')",
    "duration('1h')",
    "int(",
    "string(",
    "9223372036854775808",
    "x, ",
    "💥",
    "\u0000",
  ],
);
const source = fc.oneof(
  fc.array(words, { maxLength: 40 }).map((each) => each.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
);

t.test("no text makes the parser, the checker or an evaluation throw", async (t) => {
  fc.assert(
    fc.property(source, (text) => {
      const parsed = parseExpression(text);
      const faults = "fault" in parsed ? [parsed.fault] : checkExpression(parsed.tree, names).faults;
      for (const { span, message } of faults) {
        if (message === "") return false;
        if (span !== null && !(0 <= span.start && span.start <= span.end && span.end <= text.length)) return false;
      }
      const outcome = compile(text).evaluate(values);
      return "error" in outcome ? outcome.error !== "" : writeJson(outcome.value) !== undefined;
    }),
    { numRuns: 20_000 },
  );
  t.pass();
});

/** Generates expressions composed by their types; most are valid. */
const { bool } = fc.letrec<{ bool: string; int: string; string: string; list: string }>((tie) => ({
  bool: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("true", "flag", "false"),
    fc
      .tuple(tie("int"), fc.constantFrom("<", ">", "==", "!=", "<="), tie("int"))
      .map((parts) => `(${parts.join(" ")})`),
    fc.tuple(tie("bool"), fc.constantFrom("&&", "||", "=="), tie("bool")).map((parts) => `(${parts.join(" ")})`),
    fc
      .tuple(tie("string"), fc.constantFrom("startsWith", "contains", "matches"), tie("string"))
      .map(([a, f, b]) => `${a}.${f}(${b})`),
    fc
      .tuple(tie("list"), fc.constantFrom("all", "exists", "exists_one"), tie("bool"))
      .map(([a, f, b]) => `${a}.${f}(x, ${b})`),
    fc.tuple(tie("int"), tie("list")).map(([a, b]) => `(${a} in ${b})`),
  ),
  int: fc.oneof(
    { maxDepth: 4 },
    fc.integer({ min: -9, max: 9 }).map(String),
    fc.constant("count"),
    fc.tuple(tie("int"), fc.constantFrom("+", "-", "*", "/", "%"), tie("int")).map((parts) => `(${parts.join(" ")})`),
    tie("string").map((text) => `size(${text})`),
    fc.tuple(tie("bool"), tie("int"), tie("int")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
  string: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("'a'", "''", "map.a", "string(count)"),
    fc.tuple(tie("string"), tie("string")).map((parts) => `(${parts.join(" + ")})`),
  ),
  list: fc.oneof(
    { maxDepth: 4 },
    fc.array(tie("int"), { maxLength: 3 }).map((each) => `[${each.join(", ")}]`),
    fc.tuple(tie("list"), tie("list")).map((parts) => `(${parts.join(" + ")})`),
    fc.tuple(tie("list"), tie("int")).map(([a, b]) => `${a}.map(x, ${b} + x)`),
  ),
}));

t.test("an expression that checks without dyn has no type error when it is evaluated", async (t) => {
  const types_ = new Map([...names].filter(([name]) => name !== "any"));
  let checked = 0;
  fc.assert(
    fc.property(bool, (text) => {
      const parsed = parseExpression(text);
      if ("fault" in parsed) return /too large|nests|longer/.test(parsed.fault.message);
      if (checkExpression(parsed.tree, types_).faults.length > 0) return true;
      checked += 1;
      const outcome = compile(text).evaluate(values);
      return !("error" in outcome && /no matching overload|type mismatch|unbound/.test(outcome.error));
    }),
    { numRuns: 3_000 },
  );
  t.ok(checked > 1_000, `${checked} were well typed`);
});

t.test("the expressions of one body share a budget of cost and of output", async (t) => {
  const expr = (source: string) => `${OPEN} ${source} ${CLOSE}`;
  const dear = `big.filter(x, x < 1.0).size() + big.filter(x, x > 1.0 && x < 3.0).size()`;
  const one = evaluateJson([expr(dear)], values);
  t.match(one, { error: /takes too long/ }, "it is past what one may cost");
  const half = "big.exists(x, x == 2500.0)";
  t.same(evaluateJson([expr(half)], values), { value: [true] });
  t.match(evaluateJson(Array(1_000).fill(expr(half)), values), { error: /takes too long/ });
  t.same(evaluateJson(Array(9).fill(expr("text.size()")), values), { value: Array(9).fill(100_000) });
  t.match(evaluateJson(Array(11).fill(expr("text")), values), { error: /too large/ });
  t.match(evaluateJson([`${expr("text")} `.repeat(11)], values), { error: /too large/ });
  t.match(evaluateJson(Array(2_000).fill(expr("count")), values), { error: /takes too long/ }, "beginning costs too");
});
