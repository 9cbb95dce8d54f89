import t from "tap";
import { editIn, type TreeFiles, toStation, toTree, toWanted } from "../../../support/station-edit.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";

function line(...attributes: readonly string[]): string {
  return [
    ...['resource "service_line" "web" {', '  key = "web"', "  stations = [", "    {"],
    ...['key = "plan"', 'name = "Plan"', 'kind = "work"', ...attributes].map((each) => `      ${each}`),
    ...["    },", "  ]", "}", ""],
  ].join("\n");
}

function skill(name: string, more = ""): string {
  return `resource "service_skill" "core_${name}" {\n  key  = "${name}"\n  name = "x"${more}\n}\n`;
}

/** Returns the source after an edit, or the refusal's code and attribute. */
async function after(files: TreeFiles, live: object, change: object): Promise<string> {
  const outcome = await editIn(toTree(files), toWanted(toStation(live), change, "main.tf"));
  return "refused" in outcome
    ? `${outcome.refused.code}: ${outcome.refused.attribute}`
    : (outcome.files[0]?.after ?? "");
}

const live = { skills: ["greet", "lint"], prompt: "Do it." };
const skills = "skills = [service_skill.core_greet.key, service_skill.core_lint.key] # both";

t.test("references to resources of the module whose keys are literals are known, in any of its files", async (t) => {
  const source = line('prompt = "Do it."', skills);
  const modules: readonly TreeFiles[] = [
    { "main.tf": `${skill("greet")}${skill("lint")}${source}` },
    { "main.tf": source, "skills.tf": skill("greet"), "more.tofu": skill("lint") },
    {
      "main.tf": source,
      "a.tf.json": '{"resource":{"service_skill":{"core_greet":{"key":"greet"},"core_lint":{"key":"lint"}}}}',
    },
  ];
  for (const files of modules) {
    const edited = String(files["main.tf"])
      .replace("core_lint.key]", 'core_lint.key, "ship"]')
      .replace("Do it.", "Do it well.");
    t.equal(await after(files, live, { skills: ["greet", "lint", "ship"], prompt: "Do it well." }), edited);
    t.equal(
      await after(files, live, { skills: ["lint"] }),
      String(files["main.tf"]).replace("service_skill.core_greet.key, ", ""),
      "what stays is not touched",
    );
  }
});

t.test("parentheses, spaces and index steps do not make a reference or a text unknown", async (t) => {
  const [lint, greet] = ["service_skill.core_lint.key", "service_skill.core_greet.key"];
  const others = `${skill("greet")}${skill("lint")}`;
  for (const [first = "", second = ""] of [
    ['service_skill.core_greet["key"]', lint],
    ['(service_skill.core_greet["key"])', `( ${lint} )`],
    ["service_skill . core_greet . key", `((${lint}))`],
    [greet, '("lint")'],
    ['(("greet"))', `"${OPEN}service_skill.core_lint["key"]}"`],
    [`"${OPEN}(${greet})}"`, `"${OPEN} ${lint} }"`],
  ]) {
    const source = line(`skills = [${first}, ${second}]`);
    const files = { "main.tf": source, "skills.tf": others };
    const edited = source.replace(`${second}]`, `${second}, "ship"]`);
    t.equal(await after(files, { skills: live.skills }, { skills: ["greet", "lint", "ship"] }), edited, first);
  }
  for (const key of ['("lint")', '( "lint" )', '(("lint"))']) {
    const files = { "main.tf": line(skills), "skills.tf": others.replace('"lint"\n  name', `${key}\n  name`) };
    const edited = line(skills).replace("core_lint.key]", 'core_lint.key, "ship"]');
    t.equal(await after(files, { skills: live.skills }, { skills: ["greet", "lint", "ship"] }), edited, key);
  }
  for (const unknown of [
    '("li" + "nt")',
    '("lint"',
    'service_skill.core_lint["name"]',
    '(service_skill.core_lint)["key"]',
    "(local.lint)",
  ]) {
    const files = { "main.tf": line(`skills = [${greet}, ${unknown}]`), "skills.tf": others };
    t.match(await after(files, { skills: live.skills }, { skills: ["ship"] }), /computed|changed|not-hcl/, unknown);
  }
});

t.test("a reference is replaced by a literal, also within a template and an object", async (t) => {
  const others =
    'resource "service_harness_profile" "core_fast" {\n  key = "fast"\n}\nresource "service_integration" "core_gh" {\n  key = "gh"\n}\n' +
    'resource "service_runner_pool" "linux" {\n  key = "linux"\n}\n';
  const written = (profile: string, tool: string, pool: string) =>
    line(
      `profile = ${profile}`,
      `tools = [{ tool = ${tool}, approval = false }]`,
      `runners = { pool = ${pool}, labels = [] }`,
    );
  const references = [
    "service_harness_profile.core_fast.key",
    `"${OPEN}service_integration.core_gh.key}.issue"`,
    "service_runner_pool.linux.key",
  ] as const;
  const had = {
    profile: "fast",
    tools: [{ tool: "gh.issue", approval: false }],
    runners: { pool: "linux", labels: [] },
  };
  const source = (now: string) => ({ "main.tf": now, "other.tf": others });
  t.equal(
    await after(source(written(...references)), had, { profile: "slow" }),
    written('"slow"', references[1], references[2]),
  );
  t.equal(
    await after(source(written(...references)), had, { tools: [{ tool: "gh.issue", approval: true }] }),
    written(...references).replace("approval = false", "approval = true"),
  );
  t.equal(
    await after(source(written(...references)), had, { runners: { pool: "mac", labels: [] } }),
    written(references[0], references[1], '"mac"'),
  );
});

t.test(
  "what is not known stays computed: no such resource, more than one, count, another value than a literal",
  async (t) => {
    const known = skill("lint");
    const others = [
      ...[
        "",
        `${skill("greet")}${skill("greet")}`,
        skill("greet", "\n  count = 1"),
        skill("greet", "\n  for_each = var.x"),
      ],
      ...[skill("greet").replace('"greet"\n', "var.key\n").replace('key  = "greet"', "key  = var.key")],
      ...[skill("greet").replace('key  = "greet"', `key  = "${OPEN}var.key}"`)],
    ];
    for (const other of others) {
      const files = { "main.tf": line(skills), "skills.tf": `${known}${other}` };
      t.equal(await after(files, live, { skills: ["lint"] }), "computed: skills", other);
    }
    const files = { "main.tf": line(skills), "elsewhere/skills.tf": `${known}${skill("greet")}` };
    t.equal(await after(files, live, { skills: ["lint"] }), "computed: skills", "of another module");
    const another = {
      "main.tf": line(skills),
      "skills.tf": `${known}${skill("greet").replace('"greet"\n', '"other"\n')}`,
    };
    t.equal(await after(another, live, { skills: ["lint"] }), "changed-meanwhile: skills", "known to be another");
  },
);
