import t from "tap";
import { STRING, toObject } from "../../../actors/expressions/cel-types.js";
import { hookPositions, type Language } from "../../../actors/expressions/positions.js";
import { type DefinitionKind, validateAtPosition } from "../../../actors/expressions/validate-at-position.js";
import { isRefusal } from "../../../actors/refusal.js";
import { expr } from "../../support/integration.js";

const names = new Map([["task", toObject({ id: STRING, title: STRING })]]);
const language: Language = { name: "hook", positions: hookPositions, maxExpressions: 250, namesAt: () => names };
const hooks: DefinitionKind = {
  language,
  parse: (given) =>
    typeof given === "object" && given !== null && !("key" in given)
      ? { errors: [{ path: "key", message: "is required" }] }
      : { definition: { ...(given as object) } },
};

const definition = { key: "h", when: "task.title == ''", steps: [{ with: { one: expr("task.titel") } }] };

t.test("an expression is checked with the names at its position, and the others as they are", async (t) => {
  const attempt = { position: "hook.when", expression: "task.id == 'x'", definition };
  const result = validateAtPosition([hooks], attempt);
  if (isRefusal(result)) return t.fail(JSON.stringify(result));
  t.match(result, {
    type: { kind: "bool" },
    faults: [],
    warnings: [{ position: "hook.steps[0].with.one", message: /titel/ }],
  });

  const faulty = validateAtPosition([hooks], { ...attempt, expression: "task.nothing" });
  if (isRefusal(faulty)) return t.fail(JSON.stringify(faulty));
  t.equal(faulty.type, null);
  t.equal(faulty.faults.length, 1);
});

t.test("what is no position, or no definition, is refused at its path", async (t) => {
  const refusals = [
    [{ position: "task.title", definition }, "position"],
    [{ position: "hook.steps[1].with.one", definition }, "position"],
    [{ position: "hook.when", definition: {} }, "definition.key"],
    [{ position: "hook.when", definition: { key: "h", when: `"${"x".repeat(30_000)}"` } }, "definition"],
  ] as const;
  for (const [{ position, definition: given }, path] of refusals) {
    const refused = validateAtPosition([hooks], { position, expression: "true", definition: given });
    t.match(refused, { refused: "invalid", errors: [{ path }] }, path);
  }
});
