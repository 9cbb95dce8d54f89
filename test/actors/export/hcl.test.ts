import { format } from "@cdktn/hcl-tools";
import { parse } from "@cdktn/hcl2json";
import fc from "fast-check";
import t from "tap";
import { type HclValue, type ObjectValue, writeBlocks } from "../../../actors/export/hcl.js";

function block(value: HclValue): string {
  return writeBlocks([{ type: "resource", labels: ["service_line", "a"], attributes: [["value", value]] }]);
}

async function readBack(value: HclValue): Promise<unknown> {
  const parsed = await parse("main.tf", block(value));
  return parsed.resource.service_line.a[0].value;
}

/** Returns the text as the HCL reader returns it: NFC-normalized, and escaped where HCL would read a template. */
function asTemplate(text: string): string {
  return text.normalize("NFC").replace(/([$%])\{/g, "$1$1{");
}

function isObject(value: HclValue): value is ObjectValue {
  return value !== null && typeof value === "object" && !Array.isArray(value) && "entries" in value;
}

/** Returns the value as the HCL reader returns it. */
function asRead(value: HclValue): unknown {
  if (typeof value === "string") return asTemplate(value);
  if (Array.isArray(value)) return value.map(asRead);
  if (isObject(value)) {
    return Object.fromEntries(value.entries.map(([name, each]) => [asTemplate(name), asRead(each)]));
  }
  return value;
}

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({
    unit: fc.constantFrom("$", "{", "%", "}", '"', "\\", "\n", "é", "<<EOT", "EOT\n", " ", "\u0000", "\u{1f600}"),
  }),
);
const { value: anyValue } = fc.letrec<{ value: HclValue; object: ObjectValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
      .map((each) => (Object.is(each, -0) ? 0 : each)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc
    .dictionary(
      text.filter((name) => name !== ""),
      tie("value"),
      { maxKeys: 4, noNullPrototype: true },
    )
    .map((each) => ({ entries: Object.entries(each) })),
}));

t.test("HCL's own parser reads back what is written", async (t) => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => {
      const found = await readBack(value);
      t.same(found, asRead(value), "", { diagnostic: false });
      return JSON.stringify(found) !== undefined;
    }),
    { numRuns: 200 },
  );
});

t.test("the output is canonical: formatting does not change it", async (t) => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => {
      const written = block({
        entries: [
          ["first", 1],
          ["longer-name", value],
          ["x", "y"],
          ["yy", []],
        ],
      });
      return (await format(written)) === written;
    }),
    { numRuns: 200 },
  );
  t.pass();
});

t.test("text with quotes and template markers stays text", async (t) => {
  const hostile = [
    "$" + "{var.secret}",
    "%{ if true }",
    "$$" + "{x}",
    "%%{",
    '"',
    "a\nEOT\n",
    "<<-EOT\nx\nEOT\n",
    "\\$" + "{",
    "\u2028",
    "💥",
  ];
  for (const [index, each] of hostile.entries()) t.equal(await readBack(each), asTemplate(each), `text ${index}`);
});
