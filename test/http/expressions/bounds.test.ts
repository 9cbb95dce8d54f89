import { Environment } from "cel-js";
import t, { type Test } from "tap";
import { hookPositions, integrationPositions, type Position } from "../../../actors/expressions/positions.js";
import { expr, wholeIntegration } from "../../support/integration.js";
import { createUnder, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const MOST_BODY_BYTES = 4 * 1024 * 1024;
/**
 * `long` is a long expression. `tooMuch` is a text of such expressions; the text exceeds the maximum total length of a
 * definition's expressions.
 */
const long = expr(`"${"x".repeat(1_900)}"`);
const tooMuch = Array(14).fill(long).join(" ");
/** Expressions for a body that is nearly at its maximum number of values. */
const short = Array(15_000).fill(expr("a"));

/** Counts the expressions that the parser receives during the test. */
function countParsed(t: Test): { readonly expressions: () => number } {
  const { parse } = Environment.prototype;
  let expressions = 0;
  Environment.prototype.parse = function counting(...given) {
    expressions += 1;
    return parse.apply(this, given);
  };
  t.teardown(() => {
    Environment.prototype.parse = parse;
  });
  return { expressions: () => expressions };
}

async function openTeam(t: Test) {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { teamId } = await workspaceWithTeam(owner);
  let made = 0;
  const create = (plural: string, body: unknown) => {
    made += 1;
    return createUnder(owner, `/api/resources/teams/${teamId}/${plural}`, body, `key-${made}`);
  };
  return { owner, create };
}

/** Returns a definition that contains only `value`, at a position. */
function holding({ position }: Position, value: unknown): unknown {
  const [, ...parts] = position.split(/\.|(?=\[\*\])/);
  return parts.reduceRight<unknown>((inner, part) => (part === "[*]" ? [inner] : { [part]: inner }), value);
}

t.test("a definition with too many expressions is refused before any of it is parsed, on all routes", async (t) => {
  const { owner, create } = await openTeam(t);
  const parsed = countParsed(t);
  const everywhere = [
    ...hookPositions.map((position) => ({ position, plural: "hooks", path: "steps", many: 251 })),
    ...integrationPositions.map((position) => ({ position, plural: "integrations", path: "", many: 501 })),
  ];
  t.ok(everywhere.length > 50);
  for (const { position, plural, path, many } of everywhere) {
    const given = holding(position, tooMuch);
    const message = "must hold at most 25000 characters of expressions";
    t.match(toProblem(await create(plural, given)).errors, [{ path, message }], position.position);
    const count = toProblem(await create(plural, holding(position, expr("1").repeat(many)))).errors;
    t.match(count, [{ path, message: `must hold at most ${many - 1} expressions` }], position.position);
    const check = { position: position.position, expression: "1", definition: given };
    const checked = await owner.request("POST", "/api/expressions/check", check);
    t.match(toProblem(checked).errors, [{ path: "definition", message }], position.position);
  }
  t.equal(parsed.expressions(), 0);
  t.equal((await create("hooks", { key: "one", on: "task.moved", when: "true", steps: [] })).status, 422);
  t.ok(parsed.expressions() > 0, "what is within the bounds is parsed");
});

t.test("a body as long as may be, full of expressions, costs no parsing", async (t) => {
  const { create } = await openTeam(t);
  const parsed = countParsed(t);
  const fill = (text: string) => Array(Math.floor(MOST_BODY_BYTES / (JSON.stringify(text).length + 1)) - 2).fill(text);
  const request = { url: "https://api.example.com/", body: fill(long) };
  const refused = [
    await create("hooks", { key: "big", on: "task.moved", steps: [{ name: "tell", request }] }),
    await create("hooks", {
      key: "big",
      on: "task.moved",
      steps: [{ name: "tell", request: { ...request, body: short } }],
    }),
    await create("hooks", { key: "big", on: "task.moved", when: fill(long).join(" || "), steps: [] }),
    await create("integrations", { ...wholeIntegration(), actions: { send: { request } } }),
    await create("integrations", { ...wholeIntegration(), poll: { request: { capture: short } } }),
  ];
  for (const answer of refused) t.match(toProblem(answer).errors, [{ message: /^must hold at most \d+ / }]);
  t.equal(parsed.expressions(), 0);
});
