import t from "tap";
import { condition, expression, jsonTemplate, template } from "../../../actors/expressions/schemas.js";
import { expr } from "../../support/integration.js";

const open = ["$", "{{"].join("");

t.test("a field of one expression may contain nothing else, and no expression may read a secret", async (t) => {
  const fault = (text: string) => expression.safeParse(text).error?.issues[0]?.message ?? null;
  t.equal(fault(`  ${expr("a.b")} `), null);
  const other = `a fixed text is ${open} "…" }}, and texts are joined with +`;
  for (const text of ["", "a", `x ${expr("a")}`, `${expr("a")}${expr("b")}`, `${open} a`]) {
    t.equal(fault(text), `must be an expression written as ${open} ... }}; ${other}`, text);
  }
  t.match(fault(expr("secret.token")), /secret/);
  t.match(fault(expr('x + secret["token"]')), /secret/);
  t.equal(fault(expr("secretary.name")), null);
  t.match(fault(expr("")), /empty/);
  t.match(fault(expr("a".repeat(2_001))), /longer than 2000/);
  t.equal(fault(expr("a".repeat(1_998))), null);
  t.match(fault(expr("a +")), /does not parse/);
  t.equal(fault(expr("no.name + that == 'is seen'")), null, "what it means is not looked at");
});

t.test("text holds any number of expressions, also deep within JSON", async (t) => {
  t.ok(template.safeParse(`a ${expr("b")} c ${expr("d")}`).success);
  t.notOk(template.safeParse(`a ${open} b`).success);
  t.same(jsonTemplate.safeParse({ list: [1, `x ${open}`] }).error?.issues[0]?.path, ["list", 1]);
  t.ok(jsonTemplate.safeParse({ list: [1, null, true, expr("b")] }).success);
});

t.test("a condition is bare or an expression, but not half of each", async (t) => {
  for (const text of ["a == b", ` ${expr("a == b")} `]) t.ok(condition.safeParse(text).success, text);
  for (const text of ["a ==", "", `a == ${expr("b")}`]) t.notOk(condition.safeParse(text).success, text);
});
