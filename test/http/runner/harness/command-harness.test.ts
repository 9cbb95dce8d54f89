import { Readable } from "node:stream";
import t from "tap";
import { MAX_STEP_CHARACTERS } from "../../../../actors/runners/protocol.js";
import { listCredentials } from "../../../../http/runner/checkout/mirrors.js";
import { cut, parseAgentLine } from "../../../../http/runner/harness/agent-lines.js";
import { listLines } from "../../../../http/runner/harness/command-harness.js";
import { maskedStep, toMask } from "../../../../http/runner/harness/mask.js";

async function linesFrom(chunks: readonly Buffer[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of listLines(Readable.from(chunks, { objectMode: false }))) lines.push(line);
  return lines;
}

t.test("lines come whole, however they are cut on the way", async (t) => {
  const text = 'one\r\ntwö €\n\n\n{"a":"𝄞"}\nlast';
  const bytes = Buffer.from(text);
  const wanted = ["one", "twö €", "", "", '{"a":"𝄞"}', "last"];
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    t.same(await linesFrom(chunks), wanted, `in pieces of ${size} bytes`);
  }
  t.same(await linesFrom([]), []);
});

t.test("the rest of a line that is far too long is passed over, and the next one is whole", async (t) => {
  const long = Array.from({ length: 40 }, () => Buffer.alloc(64 * 1024, "x"));
  const lines = await linesFrom([...long, Buffer.from("\nnext\n")]);
  t.same(
    lines.map(({ length }) => length),
    [256 * 1024, 4],
  );
});

t.test("a text is cut to what a step holds, never within a character", async (t) => {
  t.equal(cut("short"), "short");
  t.equal(cut("x".repeat(MAX_STEP_CHARACTERS)).length, MAX_STEP_CHARACTERS);
  t.equal(cut("x".repeat(MAX_STEP_CHARACTERS + 1)), `${"x".repeat(MAX_STEP_CHARACTERS - 1)}…`);
  const pairs = cut("𝄞".repeat(MAX_STEP_CHARACTERS));
  t.equal(pairs, `${"𝄞".repeat(MAX_STEP_CHARACTERS / 2 - 1)}…`);
});

t.test("a line is a message, a message gone wrong, or none", async (t) => {
  t.same(parseAgentLine('{"type":"step","text":"a"}'), { type: "step", kind: "message", text: "a", tool: null });
  t.same(parseAgentLine('{"type":"handover","to":"review"}'), { type: "handover", to: "review", note: "" });
  const called = '{"type":"step","kind":"tool","text":"a","call":{"tool":"find"},"skill":"greet"}';
  const call = { server: null, tool: "find", failed: false, refusedBy: null };
  t.match(parseAgentLine(called), { type: "step", kind: "tool", tool: null, call, skill: "greet" });
  for (const none of ["", "plain", "{", "{}", "[]", "null", '{"type":"other"}', ' {"type":"ask","question":"?"}']) {
    t.equal(parseAgentLine(none), null, none);
  }
  const wrong = [
    ['{"type":"ask","question":""}', "ask", "question"],
    ['{"type":"cost","amount":1e999,"currency":"USD"}', "cost", "amount"],
    ['{"type":"cost","amount":1,"currency":"usd"}', "cost", "currency"],
    [`{"type":"cost","amount":1,"currency":"USD","model":"${"x".repeat(201)}"}`, "cost", "model"],
    ['{"type":"step","kind":"shout","text":"a"}', "step", "kind"],
    ['{"type":"step","text":"a","call":{"server":"a"}}', "step", "call.tool"],
    ['{"type":"step","text":"a","call":{"server":"","tool":"b"}}', "step", "call.server"],
    ['{"type":"step","text":"a","call":{"tool":"b","failed":"no"}}', "step", "call.failed"],
    ['{"type":"step","text":"a","call":{"tool":"b","refusedBy":"usr_1"}}', "step", "call.refusedBy"],
    ['{"type":"step","text":"a","call":"b"}', "step", "call"],
    [`{"type":"step","text":"a","skill":"${"x".repeat(201)}"}`, "step", "skill"],
    ['{"type":"permission","id":"1","tool":""}', "permission", "tool"],
    ['{"type":"permission","id":"1","tool":"a","inputs":[]}', "permission", "inputs"],
    [
      `{"type":"permission","id":"1","tool":"a","inputs":{"a":${"[".repeat(40)}${"]".repeat(40)}}}`,
      "permission",
      "inputs",
    ],
    [`{"type":"handover","to":"a","note":"${"x".repeat(20_001)}"}`, "handover", "note"],
  ] as const;
  for (const [text, wanted, field] of wrong) {
    t.match(parseAgentLine(text), { type: "wrong", wanted, problem: new RegExp(`^${field}: `) }, text.slice(0, 60));
  }
});

t.test("of a wrong line it is said which member is wrong, and what was wanted there", async (t) => {
  const cases = [
    [
      '{"type":"step","kind":"shout","text":"a"}',
      'kind: must be "message" or "tool" or "output" or "thought" or "error"',
    ],
    ['{"type":"step","text":7}', "text: must be text"],
    ['{"type":"step"}', "text: is required"],
    ['{"type":"step","text":"a","tool":"a\\u001bb"}', "tool: must hold no control characters"],
    ['{"type":"step","text":"a","skill":""}', "skill: must be text without control characters, not empty"],
    [
      '{"type":"cost","amount":-1,"currency":"usd"}',
      "amount: must be at least 0; currency: must be three capital letters, as in ISO 4217",
    ],
    ['{"type":"cost","amount":1e308,"currency":"USD"}', "amount: must be at most 1000000000"],
    ['{"type":"cost","amount":1e999,"currency":"USD"}', "amount: must be a number"],
    ['{"type":"cost","amount":1,"currency":"USD","model":"a\\nb"}', "model: must hold no control characters"],
    ['{"type":"handover","to":""}', "to: must not be empty"],
    [
      '{"type":"permission","id":"1","tool":"a\\u0000","inputs":[]}',
      "tool: must hold no control characters; inputs: must be an object",
    ],
  ] as const;
  for (const [text, problem] of cases) t.match(parseAgentLine(text), { type: "wrong", problem }, text);
});

t.test("a mask takes out values and each of their lines, longest first, and leaves short ones", async (t) => {
  const mask = toMask(["abcdef", "abcdefgh", "first of two\n  second of two\n", "a", ""]);
  t.equal(mask("abcdefgh abcdef a"), "*** *** a");
  t.equal(mask("> first of two\n> second of two"), "> ***\n> ***");
  t.equal(toMask([])("as it is"), "as it is");
});

t.test("a mask takes secrets out of the names in a step too", async (t) => {
  const mask = toMask(["s3cr3t-value"]);
  const call = { server: "s3cr3t-value", tool: "find s3cr3t-value", failed: true, refusedBy: null };
  const step = { text: "s3cr3t-value", tool: "s3cr3t-value", call, skill: "a s3cr3t-value" };
  const masked = { text: "***", tool: "***", call: { ...call, server: "***", tool: "find ***" }, skill: "a ***" };
  t.same(maskedStep(step, mask), masked);
  t.same(maskedStep({ text: "a", tool: null }, mask), { text: "a", tool: null });
});

t.test("of an address it is known what of it is a secret", async (t) => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["https://host/{name}.git", []],
    ["/folder/a@b/{name}", []],
    ["ssh://git@host/{name}.git", []],
    ["git@host:{name}.git", []],
    ["https://a-token@host/{name}", ["a-token", "a-token", "a-token"]],
    ["https://user:pass%40word@host/{name}", ["user:pass%40word", "pass%40word", "pass@word"]],
    ["https://user:p@ss%@host/{name}", ["user:p@ss%", "p@ss%", "p@ss%"]],
  ];
  for (const [url, wanted] of cases) t.same(listCredentials(url), wanted, url);
});
