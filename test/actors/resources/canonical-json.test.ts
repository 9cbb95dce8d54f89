import t from "tap";
import { canonicalJson } from "../../../actors/resources/canonical-json.js";

t.test("equal values have the same text, whatever the order of their members", async (t) => {
  const value = { b: [1, { d: null, c: 'é"' }], a: undefined, B: true, "2": 1.5, "10": {}, "": [] };
  const text = '{"":[],"10":{},"2":1.5,"B":true,"b":[1,{"c":"é\\"","d":null}]}';
  t.equal(canonicalJson(value), text);
  t.equal(canonicalJson(JSON.parse(text)), text);
  const own = JSON.parse('{"__proto__":{"x":1},"a":2}');
  t.equal(canonicalJson(own), '{"__proto__":{"x":1},"a":2}');
  t.same([undefined, null, "x", [undefined]].map(canonicalJson), ["null", "null", '"x"', "[null]"]);
});
