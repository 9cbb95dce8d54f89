import fc from "fast-check";
import t from "tap";
import { expression, jsonTemplate, piecesOf, template } from "../../../actors/expressions/written.js";
import { expr } from "../../support/integration.js";

const open = ["$", "{{"].join("");

t.test("a text is read as what stands in it: text and expressions in turn", async (t) => {
  t.same(piecesOf("plain } }} text"), [{ kind: "text", text: "plain } }} text" }]);
  t.same(piecesOf(""), []);
  t.same(piecesOf(`a ${expr("x")}${expr("y.z")} b`), [
    { kind: "text", text: "a " },
    { kind: "expression", text: "x" },
    { kind: "expression", text: "y.z" },
    { kind: "text", text: " b" },
  ]);
});

t.test("an expression ends at the braces outside of its texts, comments and maps", async (t) => {
  for (const cel of [
    '{"a": {"b": 1}}',
    "'}}'",
    "\"}}\" + '}}'",
    '"\\"}}"',
    "r'\\' + '}}'",
    '"""}} "quoted" }}"""',
    "1 // }} is no end\n",
    '"https://example.com"',
    '{"a": "}"}["a"]',
  ]) {
    t.same(piecesOf(expr(cel)), [{ kind: "expression", text: cel.trim() }], cel);
  }
});

t.test("what is not closed is no text of expressions", async (t) => {
  for (const text of [
    `${open} x`,
    `${open} x }`,
    `${open} "}}`,
    `${open} {"a": 1}}`,
    `${open} 'a\n' }}`,
    `${open} // }}`,
  ]) {
    t.equal(piecesOf(text), null, text);
  }
});

t.test("texts without the opening are one piece, and pieces put together are the text again", async () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(expr("a"), expr("{}"), "$", "{", "}}"))), (parts) => {
      const pieces = piecesOf(parts.join(""));
      if (pieces === null) return parts.join("").includes(open);
      const again = pieces.map(({ kind, text }) => (kind === "text" ? text : expr(text))).join("");
      return again.replace(/\s/g, "") === parts.join("").replace(/\s/g, "");
    }),
  );
});

t.test("a field of one expression holds nothing else, and no expression may read a secret", async (t) => {
  const fault = (text: string) => expression.safeParse(text).error?.issues[0]?.message ?? null;
  t.equal(fault(`  ${expr("a.b")} `), null);
  for (const text of ["", "a", `x ${expr("a")}`, `${expr("a")}${expr("b")}`, `${open} a`]) {
    t.equal(fault(text), `must be an expression written as ${open} ... }}`, text);
  }
  t.match(fault(expr("secret.token")), /secret/);
  t.match(fault(expr('x + secret["token"]')), /secret/);
  t.equal(fault(expr("secretary.name")), null);
  t.match(fault(expr("")), /empty/);
  t.match(fault(expr(`a${"a".repeat(2_000)}`)), /at most 2000/);
  t.equal(fault(expr("a".repeat(2_000))), null);
});

t.test("text holds any number of expressions, also deep within JSON", async (t) => {
  t.ok(template.safeParse(`a ${expr("b")} c ${expr("d")}`).success);
  t.notOk(template.safeParse(`a ${open} b`).success);
  t.same(jsonTemplate.safeParse({ list: [1, `x ${open}`] }).error?.issues[0]?.path, ["list", 1]);
  t.ok(jsonTemplate.safeParse({ list: [1, null, true, expr("b")] }).success);
});
