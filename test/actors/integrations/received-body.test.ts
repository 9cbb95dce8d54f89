import t from "tap";
import { createJsonBudget, parseBounded } from "../../../actors/integrations/bounded-json.js";
import { readReceivedBody } from "../../../actors/integrations/received-body.js";

const FORM = "application/x-www-form-urlencoded";
const read = (text: string, type?: string) => readReceivedBody(Buffer.from(text), type).body;

t.test("a body of too many values is not read, as JSON or in the fields of a form", async (t) => {
  const few = `[${Array(50_000).fill("[]").join(",")}]`;
  const many = `[${Array(150_000).fill("[]").join(",")}]`;
  t.equal((read(few) as unknown[]).length, 50_000);
  t.equal(read(many), null);
  t.equal(readReceivedBody(Buffer.from(many), undefined).raw, many, "its text is there");
  const fields = read(`a=${few}&b=${few}&c=x`, FORM) as Map<string, unknown>;
  t.equal((fields.get("a") as unknown[]).length, 50_000);
  t.equal(fields.get("b"), few, "all fields have room together");
  t.equal(fields.get("c"), "x");
});

t.test("what counts are values, whatever stands in texts", async (t) => {
  const room = { values: 4 };
  const text = JSON.stringify({ a: '[[[[[[,,,,,,"', b: "\\" });
  t.same(parseBounded(text, room, 1), { a: '[[[[[[,,,,,,"', b: "\\" });
  t.equal(room.values, 1);
  t.equal(parseBounded("[1,2]", room, 1), undefined, "no room is left");
  t.equal(parseBounded("[[1]]", createJsonBudget(), 1), undefined, "too deep");
  t.same(parseBounded("[[1]]", createJsonBudget(), 2), [[1]]);
  for (const wrong of ["", "{", '"', "]]]", '{"a":}'])
    t.equal(parseBounded(wrong, createJsonBudget(), 9), undefined, wrong);
});

t.test("a byte order mark is dropped from JSON and forms, and stays in the text as it came", async (t) => {
  const json = new Map([["a", "é"]]);
  t.same(read('\ufeff{"a":"é"}', "application/json"), json);
  t.equal(readReceivedBody(Buffer.from('\ufeff{"a":1}'), undefined).raw, '\ufeff{"a":1}');
  t.same(read("\ufeffa=%C3%A9", FORM), json);
  const charsets: readonly [Buffer, string?][] = [
    [Buffer.from('\ufeff{"a":"é"}', "utf16le")],
    [Buffer.from('{"a":"é"}', "utf16le"), "application/json; charset=utf-16"],
    [Buffer.from('{"a":"é"}', "latin1"), "application/json; charset=iso-8859-1"],
  ];
  for (const [bytes, type] of charsets) t.same(readReceivedBody(bytes, type).body, json, String(type));
});
