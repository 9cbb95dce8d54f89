import fc from "fast-check";
import t from "tap";
import { writeJson } from "../../../actors/exact-json.js";
import { parseJson } from "../../../http/transport/request-body.js";
import { toOutline } from "../../../http/wire/json-text.js";
import { toProblem } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { json } from "../malformed-requests.js";

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}

const bytes = (text: string) => new TextEncoder().encode(text);

t.test("the values of a body are counted before it is parsed, however it is laid out", async (t) => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, 4), (value, space) => {
      const text = writeJson(value, space);
      return toOutline(text).values === valuesIn(JSON.parse(text));
    }),
  );
  t.same(parseJson(bytes('[{"a": "[1, 2]"}, [ ], {\n}]'), 5), { json: [{ a: "[1, 2]" }, [], {}] });
  t.match(parseJson(bytes('[{"a": "[1, 2]"}, [ ], {\n}]'), 4), {
    refused: "bad-request",
    detail: /more than 4 values/,
  });
});

t.test("a body of more values than anything here has a use for is refused", async (t) => {
  const service = await startTestService(t);
  const person = await service.signIn("someone@example.com");
  const post = (names: number) =>
    person.request("POST", "/api/sign-in", Object.fromEntries(Array.from({ length: names }, (_, at) => [`n${at}`, 0])));
  t.match(await post(20_000), { status: 400, body: { detail: "The body has more than 20000 values." } });
  const read = await post(19_999);
  t.equal(read.status, 422);
  t.equal(toProblem(read).errors?.length, 200, "of many faults the first are told");
});

t.test("a body that is not JSON is said to end early only where it does", async (t) => {
  for (const text of ['{"key": a}', "[1,,2]", "x"]) {
    t.match(parseJson(bytes(text)), { refused: "bad-request", detail: /unexpected character/ }, text);
  }
  for (const text of ["", "[1", '{"a":"x', '{"a":tr']) {
    t.match(parseJson(bytes(text)), { refused: "bad-request" }, text);
  }
  for (const text of ["", '{"a":"x', '{"a":']) t.match(parseJson(bytes(text)), { detail: /ends too early/ }, text);
});
