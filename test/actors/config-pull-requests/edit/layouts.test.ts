import t from "tap";
import { EDITED_PATH, editIn, toStation, toTree, toWanted } from "../../../support/station-edit.js";

/** Returns the source after an edit, or the refusal's message. */
async function after(source: string, live: object, change: object): Promise<string> {
  const outcome = await editIn(toTree({ [EDITED_PATH]: source }), toWanted(toStation(live), change));
  if ("refused" in outcome) return outcome.refused.message;
  return outcome.files.find(({ path }) => path === EDITED_PATH)?.after ?? "";
}

/** Returns the resource of a line. `lines` are the rows of text in its list of stations. */
function line(...lines: readonly string[]): string {
  return ['resource "service_line" "web" {', '  key = "web"', "  stations = [", ...lines, "  ]", "}", ""].join("\n");
}

function object(...lines: readonly string[]): string {
  return line("    {", ...lines.map((each) => `      ${each}`), "    },");
}

const head = ['key  = "plan"', 'name = "Plan"', 'kind = "work"'];

t.test("a missing attribute stands where the order of the others has it, aligned as they are", async (t) => {
  const change = { effort: "high", decisions: true };
  t.equal(
    await after(object(...head, "check = null"), {}, change),
    object(...head, 'effort = "high"', "check = null", "decisions = true"),
  );
  const aligned = ['key    = "plan"', 'name   = "Plan" # its name', 'kind   = "work"'];
  t.equal(
    await after(object(...aligned, "check = null"), {}, change),
    object(...aligned, 'effort = "high"', "check = null", "decisions = true"),
    "a longer name moves no other line of a block that is not formatted",
  );
  t.equal(
    await after(object('key="plan",', 'kind="work",', 'name="Plan",'), {}, change),
    object("decisions=true,", 'effort="high",', 'key="plan",', 'kind="work",', 'name="Plan",'),
    "in alphabetical order, with commas",
  );
});

t.test("a missing attribute stands where another station has it", async (t) => {
  const other = [
    "    {",
    '      kind = "work"',
    '      effort = "low"',
    '      key = "do"',
    '      name = "Do"',
    "    },",
  ];
  const own = ["    {", '      kind = "work"', '      key = "plan"', '      name = "Plan"', "    },"];
  const edited = [
    "    {",
    '      kind = "work"',
    '      effort = "high"',
    '      key = "plan"',
    '      name = "Plan"',
    "    },",
  ];
  t.equal(await after(line(...other, ...own), {}, { effort: "high" }), line(...other, ...edited));
});

t.test("an object on one line stays on one", async (t) => {
  const source = line('    { key = "plan", name = "Plan", kind = "work" }, # one');
  t.equal(
    await after(source, {}, { effort: "high", skills: ["a"], prompt: "A\nB\n" }),
    line(
      '    { key = "plan", name = "Plan", kind = "work", effort = "high", prompt = "A\\nB\\n", skills = ["a"] }, # one',
    ),
  );
});

t.test("of a list the elements that stay are not touched, nor are comments", async (t) => {
  const list = (...lines: readonly string[]) => object(...head, "skills = [", ...lines.map((each) => `  ${each}`), "]");
  const live = { skills: ["a", "b", "c"] };
  const source = list('"a", # first', '"b",', '"c" # last');
  t.equal(await after(source, live, { skills: ["a", "c"] }), list('"a", # first', '"c"  # last'));
  t.equal(
    await after(source, live, { skills: ["a", "b", "c", "d"] }),
    list('"a", # first', '"b",', '"c", # last', '"d"'),
  );
  t.equal(
    await after(source, live, { skills: ["z", "a", "b", "c"] }),
    list('"z",', '"a", # first', '"b",', '"c" # last'),
  );
  t.equal(await after(source, live, { skills: ["a", "x", "c"] }), list('"a", # first', '"x",', '"c" # last'));
  const inline = (skills: string) => object(...head, `skills = [${skills}] # all`);
  t.equal(await after(inline('"a", "b", "c"'), live, { skills: ["b", "c"] }), inline('"b", "c"'));
  t.equal(await after(inline('"a", "b", "c"'), live, { skills: ["a", "b"] }), inline('"a", "b"'));
  t.equal(await after(inline('"a", "b", "c"'), live, { skills: ["a", "b", "c", "d"] }), inline('"a", "b", "c", "d"'));
});

t.test("an element is added before the comment that ends its line", async (t) => {
  const list = (...lines: readonly string[]) => object(...head, `skills = [${lines.join("\n      ")}`);
  const cases: readonly (readonly [readonly string[], readonly string[], readonly string[]])[] = [
    [
      ["a", "b"],
      ['"a", "b", # both', "]"],
      ['"a", "b", "c", # both', "]"],
    ],
    [
      ["a", "b"],
      ['"a", "b" # both', "]"],
      ['"a", "b", "c" # both', "]"],
    ],
    [
      ["a", "b"],
      ['"a", "b", // both', "", "]"],
      ['"a", "b", "c", // both', "", "]"],
    ],
    [
      ["a", "b"],
      ['"a", "b" /* b */, /* both */', "]"],
      ['"a", "b" /* b */, "c", /* both */', "]"],
    ],
    [
      ["a", "b"],
      ["", '  "a", "b", # both', "]"],
      ["", '  "a", "b", "c", # both', "]"],
    ],
    [
      ["a", "b"],
      ["", '  "a", # a', '  "b" # b', "]"],
      ["", '  "a", # a', '  "b", # b', '  "c"', "]"],
    ],
    [
      ["a", "b"],
      ["", '  "a",', '  "b", # b', "  # the end", "]"],
      ["", '  "a",', '  "b", # b', '  "c",', "  # the end", "]"],
    ],
    [["a"], ['"a", # a', "# more", "]"], ['"a", "b", "c", # a', "# more", "]"]],
    [[], [" # none yet", "]"], [" # none yet", '  "a",', '  "b",', '  "c",', "]"]],
    [[], ["", "  # none yet", "]"], ["", "  # none yet", '  "a",', '  "b",', '  "c",', "]"]],
    [[], ["/* none yet */]"], ['/* none yet */ "a", "b", "c"]']],
    [
      ["a", "b"],
      ['"a", "b", /* both', "of them */", "]"],
      ['"a", "b", "c", /* both', "of them */", "]"],
    ],
  ];
  for (const [skills, before, now] of cases) {
    const change = { skills: ["a", "b", "c"] };
    t.equal(await after(list(...before), { skills }, change), list(...now), before.join("\n"));
  }
  const tools = (written: string) => object(...head, `tools = [${written}`);
  t.equal(
    await after(
      tools('{ tool = "a.b" }, # one\n      ]'),
      { tools: [{ tool: "a.b", approval: false }] },
      {
        tools: [
          { tool: "a.b", approval: false },
          { tool: "c.d", approval: true },
        ],
      },
    ),
    tools('{ tool = "a.b" }, { tool = "c.d", approval = true }, # one\n      ]'),
  );
});

t.test("of objects and blocks within a station, the members that change", async (t) => {
  const live = { judge: { rubric: "A", scale: "number" }, tools: [{ tool: "gh.issue", approval: false }] };
  const change = {
    judge: { rubric: "B", scale: "number", passScore: 4 },
    tools: [{ tool: "gh.issue", approval: true }],
  };
  const written = (rubric: string, more: string, approval: string) =>
    [
      ...['resource "service_line" "web" {', '  key = "web"', "  stations {", '    key = "plan"', '    name = "Plan"'],
      ...[
        '    kind = "work"',
        "    tools {",
        '      tool = "gh.issue"',
        `      approval = ${approval} # asked`,
        "    }",
      ],
      ...["    judge {", `      rubric = "${rubric}" # good`, '      scale = "number"', ...(more === "" ? [] : [more])],
      ...["    }", "  }", "}", ""],
    ].join("\n");
  t.equal(await after(written("A", "", "false"), live, change), written("B", "      pass_score = 4", "true"));
});

t.test("what is written in other words is the same", async (t) => {
  const live = { tools: [{ tool: "gh.issue", approval: false }], timeoutMinutes: 30 };
  const source = object(...head, 'tools = ["gh.issue"]', 'timeout_minutes = "30"');
  const change = { tools: [...live.tools, { tool: "gh.comment", approval: true }], timeoutMinutes: 45 };
  t.equal(
    await after(source, live, change),
    object(...head, 'tools = ["gh.issue", { tool = "gh.comment", approval = true }]', "timeout_minutes = 45"),
  );
});
