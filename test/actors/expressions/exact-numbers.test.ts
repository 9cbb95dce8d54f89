import t from "tap";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import { DYN } from "../../../actors/expressions/cel-types.js";
import { compile } from "../../../actors/expressions/evaluate.js";
import { toValue } from "../../../actors/expressions/values.js";

const body = toValue(
  readJson(
    '{"id":9007199254740993,"less":-9007199254740993,"unsigned":9223372036854775808,"big":18446744073709551617,' +
      '"bigLess":-18446744073709551617,"one":1,"half":0.5,"double":1182376459023450171.0}',
  ),
  DYN,
);

/** Returns the JSON text of a value, or the error. */
function evaluate(expression: string): string {
  const outcome = compile(expression).evaluate({ body });
  return "error" in outcome ? outcome.error : writeJson(outcome.value);
}

const table: Readonly<Record<string, string>> = {
  "body.id": "9007199254740993",
  "body.less": "-9007199254740993",
  "string(body.id)": '"9007199254740993"',
  "string(body.less)": '"-9007199254740993"',
  "body.unsigned": "9223372036854775808",
  "string(body.unsigned)": '"9223372036854775808"',
  "body.big": '"18446744073709551617"',
  "string(body.big)": '"18446744073709551617"',
  "body.bigLess": '"-18446744073709551617"',
  "body.id + 1": "9007199254740994",
  "body.id - 1": "9007199254740992",
  "body.id * 2": "18014398509481986",
  "body.id / 3": "3002399751580331",
  "body.id % 10": "3",
  "-body.id": "-9007199254740993",
  "body.id + body.one": "9007199254740994",
  "body.one + body.id": "9007199254740994",
  "body.id - body.less": "18014398509481986",
  "body.unsigned - body.id": "9214364837600034815",
  "body.unsigned + 1": "9223372036854775809",
  "body.id / body.half": "18014398509481984",
  "body.id / 2.0": "4503599627370496",
  "body.one + 1": "2",
  "body.one / 2": "0.5",
  "body.one + body.one": "2",
  "body.id == 9007199254740993": "true",
  "body.id == 9007199254740992": "false",
  "body.id > body.one && body.id < body.unsigned": "true",
  "body.id in [9007199254740993]": "true",
  "{'ids': [body.id]}": '{"ids":[9007199254740993]}',
  "[body.id].map(id, id + 1)": "[9007199254740994]",
  "type(body.id) == int && type(body.one) == double": "true",
  "body.double": "1182376459023450000",
  "9007199254740993": "9007199254740993",
  "body.id * body.id": "int overflow during _*_",
  "body.unsigned * 4": "the result does not fit in 64 bits",
  "body.one / 0": "division by 0",
  "body.half % 2": "% requires whole numbers",
};

t.test("whole numbers of JSON beyond 2^53 are exact in expressions, alone and with doubles", async (t) => {
  for (const [expression, text] of Object.entries(table)) t.equal(evaluate(expression), text, expression);
});
