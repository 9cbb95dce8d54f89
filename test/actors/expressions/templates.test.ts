import t from "tap";
import * as types from "../../../actors/expressions/cel-types.js";
import { evaluateJson, evaluateText, readTemplate } from "../../../actors/expressions/templates.js";
import { toSentence, validateField } from "../../../actors/expressions/validate-expression.js";

const open = "$" + "{{";
const names = {
  task: new Map([["id", "task_1"]]),
  list: [1n, 2.5, "x"],
  count: 3n,
  nothing: null,
};

t.test("a text of only one expression keeps its type, within text it becomes text", async (t) => {
  t.same(evaluateText(`${open} list }}`, names), { value: [1, 2.5, "x"] });
  t.same(evaluateText(`  ${open} count }}  `, names), { value: 3 });
  t.same(evaluateText(`${open} task }}`, names), { value: { id: "task_1" } });
  t.same(evaluateText(`n=${open} count }}&l=${open}list}}&o=${open} nothing }}.`, names), {
    value: 'n=3&l=[1,2.5,"x"]&o=.',
  });
  t.same(evaluateText(`nothing to do: $ { {{ }} $`, names), { value: `nothing to do: $ { {{ }} $` });
});

t.test("braces in text, maps and comments do not end an expression", async (t) => {
  const sources = [
    `"}}"`,
    `'}}' + "{{"`,
    `r'\\' + "}}"`,
    `'''}}' '''`,
    `"\\"}}"`,
    `{"a": {"b": 1}}.a.b`,
    `{"a": {"b": {}}}`,
    `size("}") // }}\n`,
  ];
  for (const source of sources) {
    const read = readTemplate(`a ${open}${source}}} b`);
    t.match(read, { template: ["a ", { source, start: 5 }, " b"] }, source);
  }
});

t.test("an expression that is not closed is a fault with its place", async (t) => {
  const read = readTemplate(`abc ${open} "}}"`);
  t.match(read, { fault: { message: /is not closed/, span: { start: 4, end: 12 } } });
  t.match(evaluateText(`${open} 1`, names), { error: /is not closed/ });
});

t.test("every string of a JSON body is evaluated, at any depth, names of objects are not", async (t) => {
  const body = {
    [`${open} count }}`]: [{ deep: `${open} task.id }}`, n: 1, b: true, z: null }, `id ${open}task.id}}`],
  };
  t.same(evaluateJson(body, names), {
    value: { [`${open} count }}`]: [{ deep: "task_1", n: 1, b: true, z: null }, "id task_1"] },
  });
  t.match(evaluateJson({ a: [`${open} task.none }}`] }, names), { error: /none/ });
});

t.test("what is not there is named as the expression has it, not by its last name alone", async (t) => {
  const faults = {
    "task.none": "task.none",
    'task["no-ne"] + "x"': 'task["no-ne"]',
    "has(task.none) && task.none == 1 ? 1 : task.none": "task.none",
    "task.none + text.none": "none",
    "[task][0].none": "none",
  };
  for (const [source, named] of Object.entries(faults)) {
    t.same(evaluateText(`${open} ${source} }}`, names), { error: `field not found: ${named}` }, source);
  }
  t.same(evaluateText(`${open} target.id + task.id }}`, names), { error: "there is no target here" });
  const twoMissing = evaluateText(`${open} list.map(each, target.id + inputs.id) }}`, names);
  t.same(twoMissing, { error: "unresolved attribute" }, "which of several is not known");
});

t.test("a field is checked by its form, with spans in its own text and what may have been meant", async (t) => {
  const wanted = { names: new Map([["event", types.toObject({ at: types.STRING })]]), returns: null } as const;
  const verdict = validateField(`at ${open} event.att }} and ${open} evnt.at + 1 }}`, "text", wanted);
  t.same(
    verdict.faults.map(({ span, suggestion }) => [span, suggestion]),
    [
      [{ start: 13, end: 16 }, "at"],
      [{ start: 28, end: 32 }, "event"],
    ],
    "all of them",
  );
  t.equal(
    toSentence(verdict.faults[1] ?? { message: "", span: null, suggestion: null }, verdict),
    "does not check: there is no evnt here. Did you mean event?",
  );
  const only = validateField(`${open} event.at }} `, "expression", wanted);
  t.match(only, { type: types.STRING, faults: { length: 0 } });
  for (const text of ["event.at", `x ${open} event.at }}`, `${open} event.at }}${open} event.at }}`]) {
    t.match(validateField(text, "expression", wanted).faults, [
      { message: /^must be an expression written as \$\{\{ \.\.\. \}\}; a fixed text is/ },
    ]);
  }
  const condition = { ...wanted, returns: "bool" } as const;
  t.same(validateField("event.at == ''", "condition", condition).faults, []);
  t.same(validateField(`${open} has(event.at) }}`, "condition", condition).faults, []);
  t.match(validateField("event.at", "condition", condition).faults, [{ message: "must be bool, not string" }]);
  t.match(validateField("event.at ==", "condition", condition), {
    parses: false,
    faults: [{ message: /does not parse/ }],
  });
});

t.test("no expression may read a secret, nor even name one in text", async (t) => {
  const wanted = { names: new Map([["event", types.DYN]]), returns: null } as const;
  for (const source of [
    "secret.token",
    'secret["token"]',
    "'secret.token'",
    'event.x + "a secret[0]"',
    "event.secret.x",
  ]) {
    t.match(validateField(`${open} ${source} }}`, "text", wanted).faults, [
      { message: "no expression may read a secret" },
    ]);
  }
  t.same(validateField(`${open} 'a secret' + event.secrets }}`, "text", wanted).faults, []);
});
