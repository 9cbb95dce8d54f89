import t from "tap";
import { readText } from "../../../../actors/outbound/http/answer-text.js";

const text = '{"refuse":"não é"}';
const utf16 = (said: string) => Buffer.from(said, "utf16le");
const bigEndian = (said: string) => Buffer.from(utf16(said)).swap16();
const utf32 = (said: string) => Buffer.concat([...said].map((one) => Buffer.from([one.charCodeAt(0), 0, 0, 0])));
const json = (charset: string) => `application/json; charset=${charset}`;

t.test("bytes are read in the charset of their mark, of their zeros or of their content type", (t) => {
  const bodies: readonly [string, Uint8Array, string?][] = [
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-8 with a mark and another label", Buffer.from(`\ufeff${text}`), json("utf-16")],
    ["UTF-16 with a mark", utf16(`\ufeff${text}`)],
    ["UTF-16 with a mark, labelled UTF-8", utf16(`\ufeff${text}`), json("utf-8")],
    ["UTF-16, big endian, with a mark", bigEndian(`\ufeff${text}`), "application/json"],
    ["UTF-16 by its label", utf16(text), json("utf-16")],
    ["UTF-16 by its zeros", utf16(text)],
    ["UTF-16, big endian, by its zeros", bigEndian(text), json("UTF-16")],
    ["Latin-1 by its label", Buffer.from(text, "latin1"), json("iso-8859-1")],
    ["a quoted label", Buffer.from(text, "latin1"), json('"ISO-8859-1"')],
    ["a label in apostrophes", Buffer.from(text, "latin1"), json("'latin1'")],
    ["two content types", Buffer.from(text), "application/json, text/plain"],
    ["a content type that is none", Buffer.from(text), "json"],
    ["nothing of the buffer that it lies in", Buffer.from(`xx${text}xx`).subarray(2, -2)],
  ];
  const wrong = bodies.filter(([, bytes, type]) => {
    const read = readText(bytes, type);
    return read.text !== text || read.doubt !== null;
  });
  t.same(
    wrong.map(([name]) => name),
    [],
  );
  t.same(readText(Buffer.from("")), { text: "", doubt: null });
  t.same(readText(Buffer.from("\ufeff\ufeffa")), { text: "\ufeffa", doubt: null }, "one mark is dropped");
  t.end();
});

t.test("what may have been read wrong says so", (t) => {
  t.same(readText(Buffer.from("né", "latin1")), { text: "n\ufffd", doubt: "it is not valid UTF-8" });
  t.same(readText(Buffer.from("né"), json("x-none")), { text: "né", doubt: "the charset x-none is not supported" });
  t.match(readText(utf32(text)), { doubt: "the charset utf-32 is not supported" });
  t.same(readText(Buffer.from("ok"), json("utf-16")), {
    text: "ok",
    doubt: "it declares charset utf-16, but is UTF-8",
  });
  t.match(readText(utf16("ab").subarray(0, 3)), { doubt: "it is not valid UTF-16LE" });
  t.match(readText(Buffer.from("a"), json("a".repeat(1_000))), {
    doubt: `the charset ${"a".repeat(40)} is not supported`,
  });
  t.end();
});
