import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";

/** Layouts in which a YAML file or a resource makes another tool run a root module. */
export function toolRunLayouts(): readonly Layout[] {
  return [...yamlLayouts(), ...resourceLayouts(), ...apartLayouts(), ...variableLayouts(), ...branchLayouts()];
}

interface Expected {
  readonly team?: string;
  readonly root?: string;
  readonly code?: string;
}

/**
 * Returns a layout with a root module in a folder. `place` matches the file and line that the refusal names; null if
 * the edit succeeds.
 */
function run(
  says: string,
  files: TreeFiles,
  place: RegExp | null,
  { team = '"team_1"', root = "lines", code = "ambiguous" }: Expected = {},
): Layout {
  const path = `${root}/main.tf`;
  const variable = { [`${root}/v.tf`]: 'variable "team_id" {\n  default = "team_1"\n}\n' };
  const whole = { [path]: line({ team }), ...(team === "var.team_id" ? variable : {}), ...files };
  return { says, path, change: "model", files: whole, refused: place === null ? null : { code, place } };
}

const given = { team: "var.team_id" };
const object = (kind: string, spec: string, version = "infra.example/v1") =>
  `apiVersion: ${version}\nkind: ${kind}\nmetadata:\n  name: lines\nspec:\n${spec.replace(/^(?=.)/gm, "  ")}`;

function yamlLayouts(): readonly Layout[] {
  const component = (body: string, name = "line") =>
    `components:\n  terraform:\n    ${name}:\n${body.replace(/^(?=.)/gm, "      ")}`;
  const root = "components/terraform/line";
  const atmos = (says: string, files: TreeFiles, place: RegExp | null, team = '"team_1"') =>
    run(`Atmos: ${says}`, files, place, { root, team });
  const kinds: readonly (readonly [string, string])[] = [
    ["Terraform", "path: ./lines\n"],
    ["Terraform", "path: lines/\nworkspace: x\n"],
    ["Workspace", "workingDirectory: lines\n"],
    [
      "Workspace",
      "forProvider:\n  source: Remote\n  module: git::https://git.example/acme/infra.git//lines?ref=main\n",
    ],
    ["Stack", "projectRoot: lines\n"],
    ["Configuration", "path: /lines\n"],
  ];
  const values = (value: string) =>
    object("Terraform", `path: ./lines\nvars:\n  - name: team_id\n    value: ${value}\n`);
  return [
    ...kinds.flatMap(([kind, spec]) => [
      run(
        `two of ${kind}: ${spec}`,
        { "k/a.yaml": object(kind, spec), "k/b.yaml": object(kind, spec) },
        /k\/a\.yaml:2 and k\/b\.yaml:2/,
      ),
      run(
        `two documents of ${kind}: ${spec}`,
        { "k/a.yaml": `${object(kind, spec)}---\n${object(kind, spec)}` },
        /k\/a\.yaml:2 and k\/a\.yaml:\d/,
      ),
      run(
        `one ${kind}: ${spec}`,
        { "k/a.yaml": object(kind, spec), "k/b.yaml": object(kind, spec.replaceAll("lines", "net")) },
        null,
      ),
      run(
        `objects of another kind: ${spec}`,
        { "k/a.yaml": object("Deployment", spec), "k/b.yaml": object("Deployment", spec) },
        null,
      ),
    ]),
    run("another team in an object", { "k/a.yaml": values("team_2") }, /k\/a\.yaml:\d/, given),
    run("the team in an object", { "k/a.yaml": values("team_1") }, null, given),
    run("the team of another module", { "k/a.yaml": values("team_2").replace("./lines", "./net") }, null, given),
    atmos(
      "two stacks",
      { "s/dev.yaml": component("vars: {}\n"), "s/prod.yaml": component("vars: {}\n") },
      /s\/dev\.yaml:3 and s\/prod\.yaml:3/,
    ),
    atmos(
      "two components",
      {
        "s/dev.yaml": `${component("metadata:\n  component: line\n", "a")}    b:\n      metadata:\n        component: line\n`,
      },
      /s\/dev\.yaml:3 and s\/dev\.yaml:6/,
    ),
    atmos(
      "two stacks that import a catalog",
      {
        "s/catalog/line.yaml": component("vars: {}\n"),
        "s/a.yaml": "import:\n  - catalog/line\n",
        "s/b.yaml": "import: [catalog/line]\n",
      },
      /s\/a\.yaml:1 and s\/b\.yaml:1/,
    ),
    atmos(
      "one stack that imports a catalog",
      {
        "s/catalog/line.yaml": component("vars: {}\n"),
        "s/a.yaml": `import:\n  - catalog/line\n${component("vars: {}\n")}`,
      },
      null,
    ),
    atmos(
      "one stack, and one of another component",
      { "s/a.yaml": component("vars: {}\n"), "s/b.yaml": component("vars: {}\n", "net") },
      null,
    ),
    atmos(
      "an abstract component",
      {
        "s/a.yaml": `${component("metadata:\n  type: abstract\n")}    other:\n      metadata:\n        component: line\n`,
      },
      null,
    ),
    atmos("another team", { "s/a.yaml": component("vars:\n  team_id: team_2\n") }, /s\/a\.yaml:\d/, "var.team_id"),
    atmos("the team", { "s/a.yaml": component("vars:\n  team_id: team_1\n") }, null, "var.team_id"),
    atmos(
      "two teams",
      { "s/a.yaml": component("vars:\n  team_id: team_1\n"), "s/b.yaml": component("vars:\n  team_id: team_2\n") },
      /s\/b\.yaml:5/,
      "var.team_id",
    ),
    run(
      "Terrateam with two workspaces",
      { ".terrateam/config.yml": "dirs:\n  lines:\n    workspaces:\n      core: {}\n      web: {}\n" },
      /config\.yml:4 and \.terrateam\/config\.yml:5/,
    ),
    run(
      "Terrateam with one workspace",
      {
        ".terrateam/config.yml":
          "dirs:\n  lines:\n    workspaces:\n      core: {}\n  net:\n    workspaces:\n      a: {}\n      b: {}\n",
      },
      null,
    ),
    run(
      "two blocks of Digger",
      {
        "digger.yml":
          "generate_projects:\n  blocks:\n    - include: lines\n      workspace: a\n    - include: lines/**\n      workspace: b\n",
      },
      /digger\.yml:3 and digger\.yml:5/,
    ),
    run(
      "a block of Digger for each folder",
      { "digger.yml": "generate_projects:\n  blocks:\n    - include: lines\n    - include: net\n" },
      null,
    ),
  ];
}

const block = (type: string, body: string, name = "a") =>
  `resource "${type}" "${name}" {\n${body.replace(/^(?=.)/gm, "  ")}}\n`;
const set = 'for_each = toset(["core", "web"])\n';
/** Functions that write a resource or a module call. Each of them makes a tool run the root module in `folder`. */
const runners: readonly ((more: string, folder?: string, name?: string) => string)[] = [
  (more, folder = "lines", name) =>
    block("env0_template", `${more}repository = "https://git.example/acme/infra"\npath = "${folder}"\n`, name),
  (more, folder = "lines", name) =>
    block("harness_platform_workspace", `${more}repository = "infra"\nrepository_path = "${folder}"\n`, name),
  (more, folder = "lines", name) =>
    block(
      "google_infra_manager_deployment",
      `${more}terraform_blueprint {\n  git_source {\n    repo = "https://git.example/acme/infra.git"\n    directory = "${folder}"\n  }\n}\n`,
      name,
    ),
  (more, folder = "lines", name) =>
    block(
      "aws_codebuild_project",
      `${more}source {\n  location = "https://git.example/acme/infra"\n  buildspec = "${folder}/buildspec.yml"\n}\n`,
      name,
    ),
  (more, folder = "lines", name) =>
    block(
      "kubernetes_manifest",
      `${more}manifest = {\n  kind = "Terraform"\n  spec = { path = "./${folder}" }\n}\n`,
      name,
    ),
  (more, folder = "lines", name) =>
    block(
      "scalr_workspace",
      `${more}working_directory = "${folder}"\nvcs_repo {\n  identifier = "acme/infra"\n}\n`,
      name,
    ),
  (more, folder = "lines", name = "a") =>
    `module "${name}" {\n  source = "acme/workspace/tfe"\n  ${more}  working_directory = "${folder}"\n}\n`,
];

function resourceLayouts(): readonly Layout[] {
  const ops = (text: string, place: RegExp | null) => run(text.replace(/\s+/g, " "), { "ops/s.tf": text }, place);
  const at = /in the workspaces at ops\/s\.tf:\d/;
  const environment = (more: string, name = "e") =>
    block("env0_environment", `${more}template_id = env0_template.a.id\n`, name);
  const template = runners[0]?.("") ?? "";
  return [
    ...runners.flatMap((runner) => [
      ops(runner(set), at),
      ops(runner("count = 2\n"), at),
      ops(runner("") + runner("", "lines", "b"), at),
      ops(runner(""), null),
      ops(runner("") + runner(set, "net", "b"), null),
    ]),
    ops(runners[0]?.(set).replace("acme/infra", "acme/other") ?? "", null),
    ops(runners[2]?.(set).replace("acme/infra", "acme/other") ?? "", null),
    ops(template + environment(set), at),
    ops(template + environment("") + environment("", "f"), at),
    ops(template + environment(""), null),
  ];
}

/** Layouts in which a `for_each` gives the folders of the workspaces. */
function apartLayouts(): readonly Layout[] {
  const tfe = (each: string, folder: string, more = "") =>
    `${block("tfe_workspace", `for_each = ${each}\nworking_directory = ${folder}\nvcs_repo {\n  identifier = "acme/infra"\n}\n`)}${more}`;
  const ops = (text: string, place: RegExp | null) => run(text.replace(/\s+/g, " "), { "ops/s.tf": text }, place);
  const dirs = (first: string, second: string) => `{ a = { dir = "${first}" }, b = { dir = "${second}" } }`;
  const local = (value: string) => `locals {\n  all = ${value}\n}\n`;
  const at = /in the workspaces at ops\/s\.tf:1/;
  return [
    ops(tfe(dirs("lines", "net"), "each.value.dir"), null),
    ops(tfe(dirs("lines", "net"), `"${OPEN}each.value.dir}"`), null),
    ops(tfe('{ a = "lines", b = "net" }', "each.value"), null),
    ops(tfe("{ lines = 1, net = 2 }", "each.key"), null),
    ops(tfe("local.all", "each.value.dir", local(dirs("lines", "net"))), null),
    ops(tfe("local.all", "each.value", local('{ a = "lines", b = "net" }')), null),
    ops(tfe(dirs("lines", "lines"), "each.value.dir"), at),
    ops(tfe(dirs("lines", "./lines"), "each.value.dir"), at),
    ops(tfe('{ a = "lines", b = "lines/" }', "each.value"), at),
    ops(tfe("local.all", "each.value.dir", local(dirs("lines", "lines"))), at),
    ops(tfe("local.all", "each.value.dir", local("merge(local.x, local.y)")), at),
    ops(tfe('{ a = { dir = "lines" }, b = { dir = var.b } }', "each.value.dir"), at),
    ops(tfe("var.all", "each.value.dir"), at),
  ];
}

/** Layouts with resources that may set the variable that contains the team's id. */
function variableLayouts(): readonly Layout[] {
  const workspace = (folder: string) =>
    block("tfe_workspace", `working_directory = "${folder}"\nvcs_repo {\n  identifier = "acme/infra"\n}\n`, folder);
  const tfe = (value: string, owner = "tfe_workspace.lines.id", key = "team_id") =>
    block("tfe_variable", `key = "${key}"\nvalue = ${value}\ncategory = "terraform"\nworkspace_id = ${owner}\n`);
  const ops = (text: string, place: RegExp | null) =>
    run(text.replace(/\s+/g, " "), { "ops/s.tf": workspace("lines") + workspace("net") + text }, place, given);
  const at = /ops\/s\.tf:\d/;
  const nested = (type: string, inner: string, name: string, value: string) =>
    block(type, `${inner} {\n  name = "${name}"\n  value = "${value}"\n}\n`);
  return [
    ops(tfe('"team_2"'), at),
    ops(tfe("each.value"), at),
    ops(tfe('"team_2"', "var.workspace"), at),
    ops(tfe('"team_2"', "tfe_workspace.lines.id", "TF_VAR_team_id"), at),
    ops(block("spacelift_environment_variable", 'name = "TF_VAR_team_id"\nvalue = "team_2"\n'), at),
    ops(block("env0_configuration_variable", 'name = "team_id"\nvalue = "team_2"\n'), at),
    ops(block("scalr_variable", 'key = "team_id"\nvalue = "team_2"\n'), at),
    ops(nested("env0_environment", "configuration", "team_id", "team_2"), at),
    ops(
      nested("aws_codebuild_project", "environment {\n  environment_variable", "TF_VAR_team_id", "team_2").replace(
        /}\n}\n$/,
        "}\n}\n}\n",
      ),
      at,
    ),
    ops(tfe('"team_1"'), null),
    ops(tfe('"team_2"', "tfe_workspace.net.id"), null),
    ops(tfe('"team_2"', "tfe_workspace.lines.id", "other"), null),
    ops(block("aws_ssm_parameter", 'name = "team_id"\nvalue = "team_2"\n'), null),
    ops(block("scalr_variable", 'key = "team_id"\nvalue = "team_1"\n'), null),
  ];
}

/** Layouts in which the run of the root module may use a branch other than the one that the edit is merged into. */
function branchLayouts(): readonly Layout[] {
  const tfe = (branch: string) =>
    block("tfe_workspace", `working_directory = "lines"\nvcs_repo {\n  identifier = "acme/infra"\n${branch}}\n`);
  const of = (text: string, isIdle: boolean) =>
    run(text.replace(/\s+/g, " "), { "ops/s.tf": text }, isIdle ? /production, at ops\/s\.tf:1/ : null, {
      code: "not-proven",
    });
  const at = (name: string) => [
    tfe(`branch = "${name}"\n`),
    block("spacelift_stack", `repository = "infra"\nbranch = "${name}"\nproject_root = "lines"\n`),
    ...runners
      .slice(0, 2)
      .map((runner) => runner(`${runner === runners[0] ? "revision" : "repository_branch"} = "${name}"\n`)),
    runners[2]?.("").replace("directory", `ref = "${name}"\n    directory`) ?? "",
    runners[5]?.("").replace("identifier", `branch = "${name}"\n  identifier`) ?? "",
  ];
  return [
    ...at("production").map((text) => of(text, true)),
    ...at("main").map((text) => of(text, false)),
    of(tfe(""), false),
    of(tfe("branch = var.branch\n"), false),
    of(tfe('branch = "production"\n').replace('"lines"', '"net"'), false),
  ];
}
