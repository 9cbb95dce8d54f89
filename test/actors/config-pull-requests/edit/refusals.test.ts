import t from "tap";
import { z } from "zod";
import type { EditRefusal } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import { EDITED_PATH, editIn, type TreeFiles, toStation, toTree, toWanted } from "../../../support/station-edit.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";
const module = (path: string) => `file("${OPEN}path.module}/${path}")`;

/** Returns the line `web`. `attributes` are the attributes of its station `plan` after the key, name and kind. */
function line(attributes: string, { head = "", tail = "", type = "service_line" } = {}): string {
  return `resource "${type}" "web" {
  key = "web"
${head}  stations = [
    {
      key    = "plan"
      name   = "Plan"
      kind   = "work"
      ${attributes}
    },
    { key = "check", name = "Check", kind = "review" },
${tail}  ]
}
`;
}

interface Refused {
  readonly says: string;
  readonly files: TreeFiles;
  readonly code: EditRefusal["code"];
  /** A pattern that the refusal's message must match. */
  readonly message: RegExp;
  readonly attribute?: string;
  readonly expression?: string;
  readonly wanted?: string;
  readonly change?: object;
  readonly live?: object;
}

const main = (content: string): TreeFiles => ({ [EDITED_PATH]: content });
const prompted = (content: string, more: TreeFiles = {}): TreeFiles => ({
  [EDITED_PATH]: line(content),
  "lines/prompts/plan.md": "Do it.\n",
  ...more,
});
/** A change of the prompt. */
const prompt = { live: { prompt: "Do it.\n" }, change: { prompt: "Do it well.\n" } };
const read = module("prompts/plan.md");

const table: readonly Refused[] = [
  {
    says: "no file",
    files: { "README.md": "" },
    code: "not-found",
    message: /lines\/main\.tf:1: there is no such file/,
  },
  { says: "a broken file", files: main('resource "x" {'), code: "not-hcl", message: /lines\/main\.tf:1,/ },
  { says: "another line", files: main(line("").replace('"web"\n', '"api"\n')), code: "not-found", message: /key web/ },
  {
    says: "no station",
    files: main(line("").replace('"plan"', '"do"')),
    code: "not-found",
    message: /main\.tf:1 has no/,
  },
  {
    says: "the line of another team",
    files: main(line('model = "m"', { head: '  team_id = "team_2"\n' })),
    code: "not-found",
    message: /key web/,
  },
  {
    says: "a line twice",
    files: main(`${line('model = "m"')}\n${line('model = "m"').replace('"web" {', '"b" {')}`),
    code: "ambiguous",
    message: /at lines\/main\.tf:1 and lines\/main\.tf:14/,
  },
  {
    says: "a station twice",
    files: main(line('model = "m"', { tail: '    { key = "plan", model = "m" },\n' })),
    code: "ambiguous",
    message: /more than once.*main\.tf:4 and lines\/main\.tf:11/,
  },
  {
    says: "a computed key of the line",
    files: main(line("").replace('key = "web"', "key = var.key")),
    code: "computed",
    message: /main\.tf:2/,
    attribute: "key",
    expression: "var.key",
  },
  {
    says: "count",
    files: main(line('model = "m"', { head: "  count = 2\n" })),
    code: "computed",
    message: /main\.tf:3/,
    attribute: "count",
    expression: "2",
  },
  {
    says: "for_each",
    files: main(line('model = "m"', { head: "  for_each = toset([])\n" })),
    code: "computed",
    message: /main\.tf:3/,
    attribute: "for_each",
    expression: "toset([])",
  },
  {
    says: "dynamic stations",
    files: main(
      'resource "service_line" "web" {\n  key = "web"\n  dynamic "stations" {\n    for_each = []\n    content {}\n  }\n}\n',
    ),
    code: "computed",
    message: /main\.tf:3/,
    attribute: "stations",
  },
  {
    says: "stations of a function",
    files: main(line('model = "m"').replace("stations = [", "stations = concat([").replace("\n  ]\n", "\n  ], [])\n")),
    code: "computed",
    message: /main\.tf:3/,
    attribute: "stations",
  },
  {
    says: "a station of a variable",
    files: main(line("", { tail: "    local.plan,\n" }).replace('"plan"', '"do"')),
    code: "computed",
    message: /main\.tf:11/,
    attribute: "stations",
    expression: "local.plan",
  },
  ...["var.m", "local.m", 'lower("m")', "[for m in [] : m]", `"${OPEN}var.m}"`, `"a-${OPEN}local.m}"`].map(
    (expression): Refused => ({
      says: `the expression ${expression}`,
      files: main(line(`model = ${expression}`)),
      code: "computed",
      message: /main\.tf:8/,
      attribute: "model",
      expression,
      wanted: "other",
    }),
  ),
  {
    says: "a heredoc with an expression",
    files: main(line(`prompt = <<-EOT\n        ${OPEN}var.team}\n      EOT`)),
    code: "computed",
    message: /main\.tf:8/,
    attribute: "prompt",
    wanted: "Do it well.\n",
    ...prompt,
  },
  {
    says: "a list with a reference",
    files: main(line("skills = [service_skill.a.key]")),
    code: "computed",
    message: /:8/,
    attribute: "skills",
    expression: "[service_skill.a.key]",
    wanted: '["b"]',
    live: { skills: ["a"] },
    change: { skills: ["b"] },
  },
  {
    says: "a judge of a variable",
    files: main(line("judge = local.judge")),
    code: "computed",
    message: /:8/,
    attribute: "judge.rubric",
    expression: "local.judge",
    wanted: "B",
    live: { judge: { rubric: "A" } },
    change: { judge: { rubric: "B" } },
  },
  {
    says: "a file within a function",
    files: prompted(`prompt = trimspace(${read})`),
    code: "computed",
    message: /:8/,
    attribute: "prompt",
    expression: `trimspace(${read})`,
    ...prompt,
  },
  {
    says: "a file of the folder that the program runs in",
    files: prompted(`prompt = file("${OPEN}path.cwd}/prompts/plan.md")`),
    code: "computed",
    message: /:8/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file that is not there",
    files: prompted(`prompt = ${module("prompts/other.md")}`),
    code: "not-found",
    message: /:8.*lines\/prompts\/other\.md.*does not exist/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file outside the module",
    files: prompted(`prompt = ${module("../shared/plan.md")}`, { "shared/plan.md": "Do it.\n" }),
    code: "ambiguous",
    message: /shared\/plan\.md.*outside/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file outside the repository",
    files: prompted(`prompt = ${module("../../plan.md")}`),
    code: "ambiguous",
    message: /outside/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a symlink",
    files: prompted(`prompt = ${module("prompts/link.md")}`, {
      "lines/prompts/link.md": { leadsTo: "lines/prompts/plan.md" },
    }),
    code: "ambiguous",
    message: /symlink lines\/prompts\/link\.md/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file behind a symlink",
    files: prompted(`prompt = ${module("p/plan.md")}`, { "lines/p": { leadsTo: "lines/prompts" } }),
    code: "ambiguous",
    message: /symlink lines\/p/,
    attribute: "prompt",
    ...prompt,
  },
  ...[
    ["in the same file", EDITED_PATH, `${line(`prompt = ${read}`)}\nlocals {\n  p = ${read}\n}\n`],
    ["in another file", "lines/b.tf", `locals {\n  p = ${read}\n}\n`],
    ["in another module", "other/b.tf", `locals {\n  p = ${module("../lines/prompts/plan.md")}\n}\n`],
    ["as a template", "lines/b.tf", `locals {\n  p = templatefile("${OPEN}path.module}/prompts/plan.md", {})\n}\n`],
    ["by a name that is computed", "lines/b.tf", `locals {\n  p = ${module(`prompts/${OPEN}var.name}.md`)}\n}\n`],
    ["in a folder that is read", "lines/b.tf", `locals {\n  p = fileset(path.module, "prompts/*.md")\n}\n`],
    ["by a path in a text", "root.tf", 'module "a" {\n  source = "./m"\n  prompt = "lines/prompts/plan.md"\n}\n'],
    ["in JSON", "lines/c.tf.json", `{"locals":{"p":"${OPEN}file(\\"${OPEN}path.module}/prompts/plan.md\\")}"}}`],
    ["with its folder", "lines/b.tf", `data "archive_file" "a" {\n  source_dir = "${OPEN}path.module}/prompts"\n}\n`],
    ["over a symlink", "lines/b.tf", `locals {\n  p = ${module("link/plan.md")}\n}\n`],
    ["by any name", "lines/b.tf", "locals {\n  p = file(var.path)\n}\n"],
    ["by a name with escapes", "lines/b.tf", `locals {\n  p = ${module("prompts/pl\\u0061n.md")}\n}\n`],
  ].map(
    ([where = "", path = "", content = ""]): Refused => ({
      says: `a file that is read elsewhere, ${where}`,
      files: prompted(`prompt = ${read}`, { [path]: content, "lines/link": { leadsTo: "lines/prompts" } }),
      code: "ambiguous",
      message: new RegExp(`elsewhere too: at ${path}`),
      attribute: "prompt",
      ...prompt,
    }),
  ),
  {
    says: "a file whose name HCL reads in another form than it is written in",
    files: { [EDITED_PATH]: line(`prompt = ${module("e\u0301.md")}`), "lines/e\u0301.md": "Do it.\n" },
    code: "computed",
    message: /main\.tf:8/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file that has changed",
    files: prompted(`prompt = ${read}`, { "lines/prompts/plan.md": "Do that.\n" }),
    code: "changed-meanwhile",
    message: /does not contain/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "a file as wanted",
    files: prompted(`prompt = ${read}`, { "lines/prompts/plan.md": "Do it well.\n" }),
    code: "changed-meanwhile",
    message: /already has the wanted content/,
    attribute: "prompt",
    ...prompt,
  },
  {
    says: "another value",
    files: main(line('model = "n"')),
    code: "changed-meanwhile",
    message: /main\.tf:8.*live/,
    attribute: "model",
    wanted: "other",
  },
  {
    says: "the wanted value",
    files: main(line('model = "other"')),
    code: "changed-meanwhile",
    message: /as wanted already/,
    attribute: "model",
  },
  {
    says: "a value that is not written",
    files: main(line("")),
    code: "changed-meanwhile",
    message: /main\.tf:4.*not written/,
    attribute: "model",
  },
  {
    says: "a key twice in an object",
    files: main(line('model = "m"\n      "model" = "m"')),
    code: "ambiguous",
    message: /main\.tf:9.*second/,
    attribute: "model",
  },
  ...['("model") = "x"', '"mod\\u0065l" = "x"', `"${OPEN}"model"}" = "x"`, "(var.name) = 1"].map(
    (member): Refused => ({
      says: `a key that may be any: ${member}`,
      files: main(line(`model = "m"\n      ${member}`)),
      code: "ambiguous",
      message: /main\.tf:9.*a name is computed/,
      expression: member.split(" = ")[0] ?? "",
    }),
  ),
  {
    says: "a comment that would be lost",
    files: main(line('skills = [\n        # why\n        "a",\n      ]')),
    code: "ambiguous",
    message: /main\.tf:9.*comment/,
    attribute: "skills",
    live: { skills: ["a"] },
    change: { skills: [] },
  },
  ...["override.tf", "line_override.tf", "override.tf.json", "x_override.tofu"].map(
    (name): Refused => ({
      says: `the override file ${name}`,
      files: { ...main(line('model = "m"')), [`lines/${name}`]: "" },
      code: "ambiguous",
      message: new RegExp(`lines/${name}`.replaceAll(".", "\\.")),
    }),
  ),
  {
    says: "a file that is read in its place",
    files: { ...main(line('model = "m"')), "lines/main.tofu": "" },
    code: "ambiguous",
    message: /lines\/main\.tofu/,
  },
  {
    says: "a source that is a symlink",
    files: { [EDITED_PATH]: { leadsTo: "main.tf" }, "main.tf": line('model = "m"') },
    code: "ambiguous",
    message: /symlink/,
  },
  {
    says: "a place where nothing can be put",
    files: main('resource "service_line" "web" {\n  key = "web"\n  stations { key = "plan" }\n}\n'),
    code: "not-proven",
    message: /not be valid HCL/,
    live: { model: null },
  },
];

t.test("what cannot be edited is refused with its code, place and value", async (t) => {
  for (const { says, files, code, message, live = { model: "m" }, change = { model: "other" }, ...about } of table) {
    const outcome = await editIn(toTree(files), toWanted(toStation(live), change));
    t.match(outcome, { refused: { code, message, ...about } }, says);
    const { refused } = z.object({ refused: z.object({ message: z.string(), wanted: z.string() }) }).parse(outcome);
    // Every message names a file and a line number, even if the file is missing or is a symlink.
    t.match(refused.message, /[\w.]+:\d+/, says);
  }
});

t.test("a refusal names the value to set: of its attribute, of the only one, or all with their names", async (t) => {
  const change = { model: "other", skills: ["a"], prompt: "One.\nTwo.\n" };
  const wantedFor = async (files: TreeFiles, to: object, live: object = { model: "m" }) => {
    const outcome = await editIn(toTree(files), toWanted(toStation(live), to));
    return "refused" in outcome ? [outcome.refused.attribute, outcome.refused.wanted] : outcome;
  };
  const twice = main(line('model = "m"\n      model = "m"'));
  t.same(await wantedFor(twice, { model: "other" }), ["model", "other"], "it is written twice");
  const elsewhere = main(line('model = "m"\n      effort = "low"\n      effort = "low"'));
  t.same(await wantedFor(elsewhere, { model: "other" }, { model: "m", effort: "low" }), ["effort", 'model = "other"']);
  t.same(await wantedFor({}, { model: "other" }), ["model", "other"], "there is no file");
  const all = 'model = "other"\nprompt = "One.\\nTwo.\\n"\nskills = ["a"]';
  t.same(await wantedFor({}, change), [null, all]);
  t.same(await wantedFor(main(line('model = "m"', { head: "  count = 2\n" })), change), ["count", all]);
  const missing = prompted(`prompt = ${module("prompts/other.md")}`);
  t.same(await wantedFor(missing, prompt.change, prompt.live), ["prompt", "Do it well.\n"], "the text file is missing");
  const outside = prompted(`prompt = ${module("../x.md")}`, { "x.md": "Do it.\n" });
  t.same(await wantedFor(outside, prompt.change, prompt.live), ["prompt", "Do it well.\n"], "it is outside the module");
  const linked = prompted(`prompt = ${module("p/plan.md")}`, { "lines/p": { leadsTo: "lines/prompts" } });
  t.same(await wantedFor(linked, prompt.change, prompt.live), ["prompt", "Do it well.\n"], "it is behind a link");
});

t.test("what reads other files does not stop the edit of one", async (t) => {
  const other = (path: string) => `locals {\n  p = ${path}\n}\n`;
  const files = prompted(`prompt = ${read}`, {
    "lines/b.tf": other(module("prompts/check.md")) + other(module("more/plan.md")).replace("p =", "q ="),
    "lines/c.tf": other(module(`rubrics/${OPEN}var.name}.md`)),
    "lines/d.tf": other('fileset(path.module, "*.json")'),
    "lines/e.tf": `${other('"plan.md"')}module "m" {\n  source = "../other"\n  folder = "${OPEN}path.module}/rubrics"\n}\n`,
    "other/plan.md": "Do it.\n",
    "other/a.tf": other(module("plan.md")),
    "other/b.tf": other(`file("${OPEN}var.folder}/${OPEN}var.name}.json")`),
    "other/c.tf.json": '{"locals":{"p":"text"}}',
    "other/d.tf": other(`${module(`${OPEN}var.name}.md`)} # file(var.path)`),
    "README.md": "lines/prompts/plan.md",
  });
  t.match(await editIn(toTree(files), toWanted(toStation(prompt.live), prompt.change)), {
    files: [{ path: "lines/prompts/plan.md", before: "Do it.\n", after: "Do it well.\n" }],
  });
});

t.test("a file of a repository that cannot be looked through whole may be read elsewhere", async (t) => {
  const wanted = toWanted(toStation(prompt.live), prompt.change);
  const tree = toTree(prompted(`prompt = ${read}`), false);
  t.match(await editIn(tree, wanted), { refused: { code: "ambiguous", message: /too large/ } });
});

t.test("a source of JSON is no HCL", async (t) => {
  const wanted = toWanted(toStation({ model: "m" }), { model: "other" }, "lines/main.tf.json");
  t.match(await editIn(toTree({ "lines/main.tf.json": "{}" }), wanted), { refused: { code: "not-hcl" } });
});
