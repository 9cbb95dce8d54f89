import { format } from "@cdktn/hcl-tools";
import t from "tap";
import { EDITED_PATH, editIn, toStation, toTree, toWanted } from "../../../support/station-edit.js";

async function after(source: string, live: object, change: object): Promise<string> {
  const outcome = await editIn(toTree({ [EDITED_PATH]: source }), toWanted(toStation(live), change));
  return "refused" in outcome ? outcome.refused.message : (outcome.files[0]?.after ?? "");
}

/** Ways to write a station with these attributes. */
const forms: readonly ((attributes: readonly string[], newline: string) => string)[] = [
  (attributes, newline) =>
    [
      'resource "service_line" "web" {',
      'key="web"',
      "stations=[",
      "{",
      ...attributes,
      "},",
      '{ key = "do", name = "Do", kind = "work" }, # one',
      "]",
      "}",
      "",
    ].join(newline),
  (attributes, newline) =>
    ['resource "service_line" "web" {', 'key="web"', "stations {", ...attributes, "}", "}", ""].join(newline),
  (attributes, newline) =>
    [
      ...['resource "service_line" "web" {', 'key="web"', "stations=["],
      ...[`{ ${attributes.join(", ")} }, # one`, '{ key = "do", name = "Do", kind = "work" }, # two', "]", "}", ""],
    ].join(newline),
];
const head = ['key = "plan"', 'name = "Plan"', 'kind = "work"'];
const commented = ['key = "plan" # its key', 'name = "Plan"', "# why", 'kind = "work" # work'];

const changes: readonly (readonly [live: object, written: readonly string[], change: object])[] = [
  [{}, [], { timeoutMinutes: 45 }],
  [{}, [], { effort: "high", decisions: true, timeoutMinutes: 45 }],
  [{}, [], { prompt: "One.\nTwo.\n", model: "m" }],
  [{}, [], { judge: { rubric: "A", scale: "number", passScore: 4 } }],
  [{ model: "m" }, ['model = "m"'], { model: "a much longer name" }],
  [{ model: "a much longer name" }, ['model = "a much longer name"'], { model: null }],
  [{ skills: ["a"] }, ['skills = ["a"]'], { skills: ["a", "b", "c"], timeoutMinutes: 45 }],
  [
    { tools: [{ tool: "a.b", approval: false }] },
    ['tools = [{ tool = "a.b" }]'],
    { tools: [{ tool: "a.c", approval: true }] },
  ],
];

t.test("a block that is formatted before its edit is formatted after it", async (t) => {
  for (const [n, form] of forms.entries()) {
    for (const lead of n === 2 ? [head] : [head, commented]) {
      for (const newline of ["\n", "\r\n"]) {
        for (const [live, written, change] of changes) {
          const source = await format(form([...lead, ...written], newline));
          const edited = await after(source, live, change);
          t.match(edited, /^resource/, JSON.stringify(change));
          t.equal(await format(edited), edited, `${source} with ${JSON.stringify(change)}`);
        }
      }
    }
  }
});

t.test("only the station is formatted where the rest of its line was not, and nothing where it was not", async (t) => {
  const source = (station: readonly string[], rest: string) =>
    [
      'resource "service_line" "web" {',
      `  key${rest}= "web"`,
      "  stations = [",
      "    {",
      ...station.map((each) => `      ${each}`),
      "    },",
      "  ]",
      "}",
      "",
    ].join("\n");
  const plain = ['key  = "plan"', 'name = "Plan"', 'kind = "work"'];
  const wide = [
    'key             = "plan"',
    'name            = "Plan"',
    'kind            = "work"',
    "timeout_minutes = 45",
  ];
  const change = { timeoutMinutes: 45 };
  t.equal(await after(source(plain, "   "), {}, change), source(wide, "   "));
  const loose = ['key = "plan"', 'name = "Plan"', 'kind = "work"'];
  t.equal(await after(source(loose, "      "), {}, change), source([...loose, "timeout_minutes = 45"], "      "));
});
