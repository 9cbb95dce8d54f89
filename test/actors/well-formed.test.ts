import t from "tap";
import { cutText, parseWellFormed, toWellFormedJson } from "../../actors/well-formed.js";

t.test("each half of a pair becomes one U+FFFD, in texts and names, and whole pairs stay", async (t) => {
  const read = (text: string) => parseWellFormed(text);
  t.same(read('{"a\\ud83d":["\\udc00x\\ud83d\\ude00\\ud83d",{"b":null}],"c":1}'), {
    "a\ufffd": ["\ufffdx\u{1f600}\ufffd", { b: null }],
    c: 1,
  });
  t.equal(read('"\\uD83D\\uD83D"'), "\ufffd\ufffd", "one for each");
  t.equal(read('"\\\\ud83d"'), "\\ud83d", "an escaped backslash begins no escape");
  t.equal(read('"\\ufffe\\u0000\\uffff"'), "\ufffe\u0000\uffff", "what UTF-8 has stays");
  t.throws(() => read("{"), SyntaxError);
});

t.test("a value that is well-formed is given back itself", async (t) => {
  const value = { a: ["x", { b: [1, null, true] }] };
  t.equal(toWellFormedJson(value), value);
  const halved = { a: "\ud83d", b: value };
  const formed = toWellFormedJson(halved) as typeof halved;
  t.same(formed, { a: "\ufffd", b: value });
  t.equal(formed.b, value, "and so is each part");
  t.same(toWellFormedJson(JSON.parse('{"__proto__":"\\ud83d"}')), JSON.parse('{"__proto__":"\\ufffd"}'));
});

t.test("a text is cut between characters", async (t) => {
  t.equal(cutText("ab\u{1f600}", 3), "ab");
  t.equal(cutText("ab\u{1f600}", 4), "ab\u{1f600}");
  t.equal(cutText("a\ud83db", 9), "a\ufffdb");
});
