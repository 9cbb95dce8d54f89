import { isDeepStrictEqual } from "node:util";
import type { EditOutcome } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import { editIn, stationOf, type TreeFiles, treeOf, wantedOf } from "../../../support/station-edit.js";
import type { Tally } from "./generated-edits.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";
const [WAS, IS] = ["Do it.\n", "Do it well.\n"];

/** A repository layout with the expected result of its edit. */
export interface Layout {
  readonly says: string;
  /** Path of the file that defines the line (`service_line`). */
  readonly path: string;
  readonly files: TreeFiles;
  /** The change: the station's `model` in the source, or its prompt in a file. */
  readonly change: "model" | "prompt";
  /** The expected refusal's code and the place that it names; null if the edit succeeds. */
  readonly refused: { readonly code: string; readonly place: RegExp } | null;
}

interface Written {
  readonly prompt?: string;
  readonly team?: string;
  readonly more?: string;
  readonly name?: string;
}

/** Returns the line `web` with the station `plan`. */
export function line({ prompt, team, more = "", name = "web" }: Written): string {
  const attributes = [
    ...['key    = "plan"', 'name   = "Plan"', 'kind   = "work"', 'model  = "m"'],
    ...(prompt === undefined ? [] : [`prompt = ${prompt}`]),
  ];
  return [
    `resource "service_line" "${name}" {`,
    ...(team === undefined ? [] : [`  team_id = ${team}`]),
    '  key = "web"',
    ...["  stations = [", "    {", ...attributes.map((each) => `      ${each}`), "    },", "  ]"],
    ...[more, "}", ""],
  ].join("\n");
}

/** Returns a repository with a text file of its source, and another line that uses `expression`. */
function readers(folder: string, other: string, expression: string, refused = true): Layout {
  const below = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const path = below("main.tf");
  return {
    says: `${other} reads ${expression}, the source is ${path}`,
    path,
    change: "prompt",
    files: {
      [path]: line({ prompt: `file("${OPEN}path.module}/prompts/w.md")` }),
      [below("prompts/w.md")]: WAS,
      [below("prompts/v.md")]: "another\n",
      [below("links/prompts")]: { leadsTo: below("prompts") },
      [below("links/alias.md")]: { leadsTo: below("prompts/w.md") },
      [below("links/other.md")]: { leadsTo: below("prompts/v.md") },
      [other]: `locals {\n  read = ${expression}\n}\n`,
    },
    refused: refused ? { code: "ambiguous", place: new RegExp(`at ${other.replace(/\./g, "\\.")}:2`) } : null,
  };
}

/** Returns a call of HCL's `file` function. All forms of a path are valid in its template. */
function file(path: string): string {
  return `file("${path}")`;
}

const [MODULE, ROOT, CWD] = ["module", "root", "cwd"].map((name) => `${OPEN}path.${name}}`);

/** Returns names of one file of the module in `folder`, in all their forms. */
function namesIn(folder: string): readonly string[] {
  const whole = folder === "" ? "prompts" : `${folder}/prompts`;
  const last = folder.split("/").at(-1) ?? "";
  const paths = [
    ...[`${MODULE}/prompts/w.md`, `${ROOT}/${whole}/w.md`, `${CWD}/${whole}/w.md`, `${OPEN}local.dir}/w.md`],
    ...[`${MODULE}/./prompts/w.md`, `${MODULE}//prompts///w.md`, `${MODULE}/x/../prompts/w.md`],
    ...[`./${whole}/w.md`, `${whole}/w.md`, `../../${whole}/w.md`, `${ROOT}/../${last || "infra"}/prompts/w.md`],
    ...[
      `${MODULE}/${OPEN}local.path}`,
      `${MODULE}/prompts/${OPEN}var.name}.md`,
      `${MODULE}/${OPEN}var.a}/${OPEN}var.b}`,
    ],
    ...[`${OPEN}var.path}`, `${OPEN}terraform.workspace == "x" ? var.a : var.b}`, `${MODULE}/prompts/${OPEN}"w"}.md`],
    ...[`${MODULE}/links/prompts/w.md`, `${MODULE}/links/alias.md`, `${MODULE}/links/../prompts/w.md`],
    ...[`${MODULE}/prompts/${OPEN}each.value}`, `${OPEN} path.module }/prompts/w.md`, `${MODULE}/p\\u0072ompts/w.md`],
  ];
  return [
    ...paths.map(file),
    ...["local.path", "var.path", "(local.path)", "each.value.file", 'join("/", [path.module, "prompts", "w.md"])'].map(
      (expression) => `file(${expression})`,
    ),
    `file(abspath("${MODULE}/prompts/w.md"))`,
    `file(format("%s/prompts/w.md", path.module))`,
    `templatefile("${MODULE}/prompts/w.md", {})`,
    `filebase64("${MODULE}/prompts/w.md")`,
    `filesha256("${MODULE}/prompts/w.md")`,
    `trimspace(file("${ROOT}/${whole}/w.md"))`,
    `provider::local::readfile("${MODULE}/prompts/w.md")`,
    `fileset("${MODULE}/prompts", "*.md")`,
    'fileset(path.module, "**")',
    `fileset("${ROOT}", "${whole}/{v,w}.md")`,
    `[for name in ["w"] : file("${MODULE}/prompts/${OPEN}name}.md")]`,
    `"${ROOT}/${whole}/w.md"`,
    `{ prompt_file = "${whole}/w.md" }`,
    'join("/", [path.module, "prompts", "w.md"])',
    'format("%s/%s/w.md", path.module, "prompts")',
    `"${MODULE}/prompts/${OPEN}var.name}"`,
    `file("/src/infra/${whole}/w.md")`,
    `file("~/infra/${whole}/w.md")`,
    `file("${MODULE}/prompts/%{ if var.on }w%{ else }v%{ endif }.md")`,
  ].filter((expression) => !/terraform\.workspace/.test(expression));
}

/** Returns names of other files, in forms that could be mistaken for the first file. */
function othersIn(folder: string): readonly string[] {
  const whole = folder === "" ? "prompts" : `${folder}/prompts`;
  return [
    ...[
      `${MODULE}/prompts/v.md`,
      `${MODULE}/other/w.md`,
      `${MODULE}/rubrics/${OPEN}var.name}.md`,
      `${ROOT}/${whole}/v.md`,
    ],
    ...[
      `${MODULE}/prompts/../w.md`,
      `${MODULE}/links/other.md`,
      `${MODULE}/prompts/w.md.bak`,
      `${MODULE}/prompts/xw.md`,
    ],
    ...[`${OPEN}var.dir}/${OPEN}var.name}.json`, `${OPEN}var.dir}/v.md`, `/etc/${OPEN}var.name}.conf`],
  ]
    .map(file)
    .concat([
      `fileset("${MODULE}/prompts", "*.json")`,
      '"w.md"',
      '"prompts"',
      'format("%s/prompts/v.md", path.module)',
      `file("/etc/${whole}.conf")`,
      `file(join("/", [path.module, "v.md"]))`,
    ]);
}

/** Returns layouts with files that are not HCL and read the source's file through functions in templates. */
function readerFiles(): readonly Layout[] {
  const json = `{"locals":{"a":"${OPEN}path.root}/lines/prompts/w.md"}}`;
  const files: readonly (readonly [string, string, boolean])[] = [
    ["lines/names.tf.json", json, true],
    ["lines/t.tftpl", `# by ${OPEN}file("${OPEN}dir}/prompts/w.md")}`, true],
    ["lines/t.tftpl", "# like file(prompts/w.md)", false],
    ["lines/t.tftpl", `# by ${OPEN}file("${OPEN}dir}/prompts/v.md")}`, false],
  ];
  return files.map(([other, text, isRefused]) => {
    const { files: own, ...layout } = readers("lines", "lines/b.tf", "1", false);
    const place = new RegExp(`at ${other.replace(/\./g, "\\.")}:1`);
    return {
      ...layout,
      says: `${other} holds ${text}`,
      files: { ...own, [other]: text },
      refused: isRefused ? { code: "ambiguous", place } : null,
    };
  });
}

/** Returns layouts that pass a folder with the source's file to something that reads files. */
function folderReaders(): readonly Layout[] {
  const values = [
    ...[
      `"${MODULE}/"`,
      `"${MODULE}"`,
      "path.module",
      `"${MODULE}/."`,
      `"${MODULE}/prompts/.."`,
      `"${MODULE}/prompts/"`,
    ],
    ...["path.root", `"${ROOT}/"`, "path.cwd", '"prompts/"', '"./prompts"', '"./prompts/"', "abspath(path.module)"],
  ];
  const forms: readonly ((value: string) => string)[] = [
    (value) => `data "archive_file" "x" { # x\n  source_dir = ${value}\n}\n`,
    (value) => `resource "x" "x" { # x\n  working_dir = ${value}\n}\n`,
    (value) => `module "x" { # x\n  dir = ${value}\n}\n`,
    (value) => `resource "x" "x" {\n  provisioner "file" { source = ${value} }\n}\n`,
    (value) => `locals {\n  a = { folder = ${value} }\n}\n`,
  ];
  return ["", "lines"].flatMap((folder) =>
    values.flatMap((value) =>
      forms.map((form): Layout => {
        const other = folder === "" ? "b.tf" : `${folder}/b.tf`;
        const { files, ...layout } = readers(folder, other, "1");
        return { ...layout, says: `${other} holds ${form(value)}`, files: { ...files, [other]: form(value) } };
      }),
    ),
  );
}

/**
 * Returns layouts with each form of a name, in the source's module and in another module, for sources at the root and
 * below.
 */
export function readerLayouts(): readonly Layout[] {
  const forms = ["", "lines", "infra/lines"].flatMap((folder) => {
    const own = folder === "" ? "b.tf" : `${folder}/b.tf`;
    return [
      ...namesIn(folder).map((expression) => readers(folder, own, expression)),
      ...othersIn(folder).map((expression) => readers(folder, own, expression, false)),
    ];
  });
  return [...forms, ...readerFiles(), ...folderReaders()];
}

const core = 'resource "service_team" "core" {\n  key = "core"\n}\nresource "service_team" "web" {\n  key = "web"\n}\n';
const call = (name: string, source: string, more = "") =>
  `module "${name}" {\n  source  = "${source}"\n  team_id = service_team.core.id\n${more}}\n`;
const MADE = "modules/line/main.tf";
const module = line({ team: "var.team_id" });

function made(says: string, files: TreeFiles, place: RegExp | null): Layout {
  const whole = { [MADE]: module, "teams.tf": core, ...files };
  return {
    says,
    path: MADE,
    change: "model",
    files: whole,
    refused: place === null ? null : { code: "ambiguous", place },
  };
}

/** Returns layouts that instantiate a module's block more than once, and layouts that instantiate it once. */
export function instanceLayouts(): readonly Layout[] {
  const one = call("core", "./modules/line");
  const twoCalls = (source: string) => `${one}${call("web", source).replace(".core.", ".web.")}`;
  const forms = [
    "./modules/line",
    "./modules/line/",
    "./modules/../modules/line",
    ".//modules//line",
    "./x/../modules/line",
  ];
  const fetched = [
    "git::https://code.example/acme/infra.git//modules/line?ref=v1",
    "github.com/acme/infra//modules/line",
  ];
  const many = [
    ...["count = 2", "count = var.count", "count = length(var.teams)"],
    ...['for_each = toset(["core", "web"])', "for_each = local.teams", "for_each = { core = 1, web = 2 }"],
  ];
  const once = [
    "count = 1",
    "count = var.on ? 1 : 0",
    'for_each = toset(["core"])',
    "depends_on = [service_team.core]",
  ];
  const nested = { "modules/team/main.tf": 'module "line" {\n  source = "../line"\n  team_id = var.team_id\n}\n' };
  const roots = (source: string) => ({ "prod/main.tf": call("a", source), "test/main.tf": call("a", source) });
  const unit = 'terraform {\n  source = "../../modules//line"\n}\n';
  return [
    ...[...forms, ...fetched].map((form) =>
      made(`two calls, one of ${form}`, { "main.tf": twoCalls(form) }, /main\.tf:1 and main\.tf:5/),
    ),
    ...many.map((more) => made(more, { "main.tf": call("core", "./modules/line", `  ${more}\n`) }, /main\.tf:1/)),
    made("two roots", roots("../modules/line"), /prod\/main\.tf:1 and test\/main\.tf:1/),
    made(
      "a call in JSON too",
      { "main.tf": one, "b.tf.json": '{"module":{"b":{"source":"./modules/line"}}}' },
      /b\.tf\.json:1/,
    ),
    made(
      "a caller that is called twice",
      { ...nested, "main.tf": twoCalls("./modules/line").replaceAll("/line", "/team") },
      /main\.tf:1 and main\.tf:5/,
    ),
    made(
      "a caller with for_each",
      { ...nested, "main.tf": call("a", "./modules/team", "  for_each = var.teams\n") },
      /main\.tf:1/,
    ),
    made(
      "a computed source",
      { "main.tf": `${one}module "b" {\n  source = "./modules/${OPEN}var.kind}"\n}\n` },
      /main\.tf:1 and main\.tf:5/,
    ),
    made("a folder that is a link", { "main.tf": twoCalls("./linked"), linked: { leadsTo: "modules/line" } }, /linked/),
    made("a file that is a link", { "main.tf": one, "web/main.tf": { leadsTo: MADE } }, /web\/main\.tf/),
    made(
      "units of Terragrunt",
      { "units/a/terragrunt.hcl": unit, "units/b/terragrunt.hcl": unit },
      /units\/a\/terragrunt\.hcl:1 and units\/b/,
    ),
    made(
      "a unit that is included",
      {
        "common/line.hcl": 'terraform {\n  source = "../modules//line"\n}\n',
        "a/terragrunt.hcl": 'include "l" {\n  path = "../common/line.hcl"\n}\n',
        "b/terragrunt.hcl": `include "l" {\n  path = "${OPEN}get_repo_root()}/common/line.hcl"\n}\n`,
      },
      /a\/terragrunt\.hcl:1 and b\/terragrunt\.hcl:1/,
    ),
    made(
      "a stack's components",
      { "s.tfcomponent.hcl": 'component "a" {\n  source = "./modules/line"\n  for_each = var.x\n}\n' },
      /s\.tfcomponent\.hcl:1/,
    ),
    made(
      "values for two runs",
      { "main.tf": one, "core.tfvars": 'team = "core"\n', "web.tfvars": 'team = "web"\n' },
      /core\.tfvars:1 and web\.tfvars:1/,
    ),
    made(
      "workspaces",
      { "main.tf": `terraform {\n  cloud {\n    workspaces {\n      tags = ["a"]\n    }\n  }\n}\n${one}` },
      /main\.tf:3/,
    ),
    made("the workspace's name", { "main.tf": `${one}locals {\n  w = terraform.workspace\n}\n` }, /main\.tf:6/),
    ...once.map((more) => made(`once: ${more}`, { "main.tf": call("core", "./modules/line", `  ${more}\n`) }, null)),
    made("once: not called", {}, null),
    made("once: nested", { ...nested, "main.tf": call("a", "./modules/team") }, null),
    made(
      "once: other modules",
      {
        "main.tf": `${one}${call("b", "./modules/other")}${call("c", "acme/line/service")}${call("d", "git::https://code.example/acme/other.git//modules/line")}`,
      },
      null,
    ),
    made(
      "once: tests and values of each run",
      {
        "main.tf": `${one}# terraform.workspace\n`,
        "terraform.tfvars": 'team = "core"\n',
        "more.auto.tfvars": 'name = "x"\n',
        "modules/line/line.tftest.hcl": 'run "a" {\n  module {\n    source = "./modules/line"\n  }\n}\n',
      },
      null,
    ),
    made("once: one unit", { "units/a/terragrunt.hcl": unit }, null),
    ...runLayouts(one, unit),
  ];
}

/**
 * Returns layouts that run a module more than once without showing it in its calls, each with a similar layout that
 * runs it once.
 */
function runLayouts(one: string, unit: string): readonly Layout[] {
  const backend = { "main.tf": `terraform {\n  backend "s3" {}\n}\n${one}` };
  const cloud = (attribute: string) => ({
    "main.tf": `terraform {\n  cloud {\n    workspaces {\n      ${attribute}\n    }\n  }\n}\n${one}`,
  });
  const stack = { "s.tfcomponent.hcl": 'component "a" {\n  source = "./modules/line"\n}\n' };
  const deployment = (name: string) => `deployment "${name}" {\n  inputs = {}\n}\n`;
  const units = (...names: readonly string[]) => ({
    "units/line/terragrunt.hcl": unit,
    "live/terragrunt.stack.hcl": names
      .map((name) => `unit "${name}" {\n  source = "../units/line"\n  path = "${name}"\n}\n`)
      .join(""),
  });
  const root = { "live/root.hcl": 'remote_state {\n  backend = "s3"\n}\n' };
  const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
  const team = (name: string) => `team = "${name}"\n`;
  const each = (value: string) => ({ "main.tf": call("a", "./modules/line", `  for_each = ${value}\n`) });
  return [
    made(
      "values in folders of two runs",
      { "main.tf": one, "env/a/terraform.tfvars": team("a"), "env/b/terraform.tfvars": team("b") },
      /env\/a\/terraform\.tfvars:1 and env\/b/,
    ),
    made("once: values in a folder", { "main.tf": one, "env/a/terraform.tfvars": team("a") }, null),
    made(
      "two backends",
      { ...backend, "a.s3.tfbackend": "", "b.s3.tfbackend": "" },
      /a\.s3\.tfbackend:1 and b\.s3\.tfbackend:1/,
    ),
    made(
      "two backends in HCL",
      { ...backend, "backends/a.hcl": 'key = "a"\n', "backends/b.hcl": 'key = "b"\n' },
      /backends\/a\.hcl:1 and backends\/b\.hcl:1/,
    ),
    ...[
      ["a.tfbackend", "b.tfbackend"],
      ["envs/a.backend.hcl", "envs/b.backend.hcl"],
      ["envs/a/backend.hcl", "envs/b/backend.hcl"],
      ["backends/a.conf", "backends/b.conf"],
      ["envs/a.tfbackend.json", "envs/b.tfbackend.json"],
    ].flatMap(([a = "", b = ""]) => [
      made(
        `the backends ${a} and ${b} without a backend block`,
        { "main.tf": one, [a]: 'key = "a"\n', [b]: 'key = "b"\n' },
        new RegExp(`${a}:1 and ${b}:1`),
      ),
      made(`once: the backend ${a}`, { "main.tf": one, [a]: 'key = "a"\n' }, null),
    ]),
    ...["envs/b", "live"].map((link) =>
      made(
        `a caller's folder that is linked at ${link}`,
        { "envs/a/main.tf": call("a", "../../modules/line"), [link]: { leadsTo: link === "live" ? "envs" : "envs/a" } },
        new RegExp(`envs/a/main\\.tf:1, which is also reached over the symlink ${link}`),
      ),
    ),
    made(
      "once: a link to another folder",
      { "envs/a/main.tf": call("a", "../../modules/line"), "docs/a.md": "x\n", "envs/docs": { leadsTo: "docs" } },
      null,
    ),
    made("once: one backend", { ...backend, "a.s3.tfbackend": "" }, null),
    made("workspaces of a project", cloud('project = "x"'), /main\.tf:3/),
    made("once: a workspace by name", cloud('name = "x"'), null),
    made(
      "once: a text about workspaces",
      { "main.tf": `${one}output "o" {\n  value = "terraform.workspace"\n}\n` },
      null,
    ),
    made(
      "two deployments of a stack",
      { ...stack, "d.tfdeploy.hcl": `${deployment("a")}${deployment("b")}` },
      /d\.tfdeploy\.hcl:1 and d\.tfdeploy\.hcl:4/,
    ),
    made("once: one deployment", { ...stack, "d.tfdeploy.hcl": deployment("a") }, null),
    made("a stack's units of one unit", units("a", "b"), /terragrunt\.stack\.hcl:1 and live/),
    made("once: a stack's unit", units("a"), null),
    made("once: a unit that includes what is above", { ...root, "live/a/terragrunt.hcl": `${include}${unit}` }, null),
    made(
      "units that include their source",
      {
        "live/root.hcl": `terraform {\n  source = "${OPEN}get_repo_root()}/modules//line"\n}\n`,
        "live/a/terragrunt.hcl": include,
        "live/b/terragrunt.hcl": include,
      },
      /live\/a\/terragrunt\.hcl:1 and live\/b/,
    ),
    made(
      "a lock file",
      { "main.tf": one, "modules/line/.terraform.lock.hcl": "" },
      /modules\/line\/\.terraform\.lock\.hcl:1/,
    ),
    made(
      "values of the module's own run",
      { "main.tf": one, "modules/line/terraform.tfvars": team("a") },
      /modules\/line\/terraform\.tfvars:1/,
    ),
    ...overrideLayouts(one),
    made("for_each of a written object", each("{ a = var.a, b = var.b }"), /main\.tf:1/),
    made("once: for_each of one member", each("{ a = { x = 1, y = 2 } }"), null),
  ];
}

/**
 * Returns layouts with override files of a caller, in each form of their names, and one with an override of another
 * call.
 */
function overrideLayouts(one: string): readonly Layout[] {
  const many = 'module "core" {\n  for_each = var.teams\n}\n';
  const forms: readonly (readonly [string, string])[] = [
    ...["override.tf", "main_override.tf", "override.tofu", "x_override.tofu"].map((name) => [name, many] as const),
    ["x_override.tf.json", '{"module":{"core":{"count":2}}}'],
    ["override.tofu.json", `{"module":[{"core":[{"for_each":"${OPEN}var.teams}"}]}]}`],
    ["source_override.tf", 'module "core" {\n  source = "./modules/other"\n}\n'],
    ["team_override.tf", 'module "core" {\n  team_id = service_team.web.id\n}\n'],
    ["lifecycle_override.tf", 'module "core" {\n  lifecycle {\n    enabled = false\n  }\n}\n'],
  ];
  const nested = {
    "modules/team/main.tf": 'module "line" {\n  source = "../line"\n  team_id = var.team_id\n}\n',
    "main.tf": call("a", "./modules/team"),
  };
  const place = (name: string) => new RegExp(`main\\.tf:1, which ${name.replaceAll(".", "\\.")}:1 may override`);
  return [
    ...forms.map(([name, text]) =>
      made(`an override of the call in ${name}`, { "main.tf": one, [name]: text }, place(name)),
    ),
    made(
      "an override of the caller's call",
      { ...nested, "override.tf": 'module "a" {\n  count = 2\n}\n' },
      place("override.tf"),
    ),
    made(
      "an override in the calling module",
      { ...nested, "modules/team/override.tf": 'module "line" {\n  count = 2\n}\n' },
      place("modules/team/override.tf"),
    ),
    made(
      "an override that calls the module",
      {
        "main.tf": call("core", "./modules/other"),
        "override.tf": 'module "core" {\n  source = "./modules/line"\n}\n',
      },
      /override\.tf:1/,
    ),
    made(
      "an override of the team that the caller gives",
      { "main.tf": one, "teams_override.tf": 'resource "service_team" "core" {\n  key = "web"\n}\n' },
      /At modules\/line\/main\.tf:2, team_id/,
    ),
    made("once: an override of another call", { "main.tf": one, "override.tf": many.replace("core", "other") }, null),
  ];
}

/** Returns layouts with override files next to the source, which may change the line's resource. */
export function ownOverrideLayouts(): readonly Layout[] {
  const own = 'resource "service_line" "web" {\n  count = 2\n}\n';
  const json = '{"resource":{"service_line":{"web":{"count":2}}}}';
  const refusedBy = (name: string, text: string): Layout => ({
    says: `${name} beside the source`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({}), [name]: text },
    refused: { code: "ambiguous", place: new RegExp(`${name.replaceAll(".", "\\.")}:1 may override`) },
  });
  return [
    ...["override.tf", "main_override.tf", "override.tofu", "x_override.tofu"].map((name) => refusedBy(name, own)),
    ...["override.tf.json", "x_override.tf.json", "override.tofu.json"].map((name) => refusedBy(name, json)),
    ...["overrides.tf", "myoverride.tf", "below/override.tf", "override.tf.bak"].map(
      (name): Layout => ({ ...refusedBy(name, "locals {\n  a = 1\n}\n"), refused: null }),
    ),
  ];
}

/** Returns references to a team that the edit follows, with the expressions on the way. */
function teamReferences(): readonly (readonly [string, string])[] {
  const locals = (body: string) => `locals {\n${body}}\n`;
  const ids = "core = service_team.core.id, web = service_team.web.id";
  const each = (forEach: string, key: string) =>
    `resource "service_team" "all" {\n  for_each = ${forEach}\n  key = ${key}\n}\n`;
  return [
    ["local.teams.TEAM", locals(`  teams = { ${ids} }\n`)],
    ['local.teams["TEAM"]', locals(`  teams = { ${ids} }\n`)],
    ['lookup(local.teams, "TEAM", null)', locals(`  teams = { ${ids} }\n`)],
    ["local.all.TEAM.id", locals("  all = { core = service_team.core, web = { id = service_team.web.id } }\n")],
    [
      "local.TEAM",
      locals("  core = local.c\n  web = local.w\n  c = service_team.core.id\n  w = service_team.web.id\n"),
    ],
    ["local.TEAM.id", locals("  core = service_team.core\n  web = service_team.web\n")],
    ['try(service_team.TEAM.id, "")', ""],
    ["coalesce(service_team.TEAM.id, null)", ""],
    ["one([service_team.TEAM.id])", ""],
    ['service_team.TEAM["id"]', ""],
    ['service_team.all["TEAM"].id', each('toset(["core", "web"])', "each.value")],
    ['service_team.all["TEAM"].id', each('{ core = { k = "core" }, web = { k = "web" } }', "each.value.k")],
    ['service_team.all["TEAM"].id', each("var.teams", `"${OPEN}each.key}"`)],
    ["var.TEAM", 'variable "core" {\n  default = "team_1"\n}\nvariable "web" {\n  default = "team_2"\n}\n'],
  ];
}

const teamModule: TreeFiles = {
  "lines/t.tf": 'module "teams" {\n  source = "./teams"\n}\n',
  "lines/teams/main.tf": `${core}output "ids" {\n  value = { core = service_team.core.id, web = service_team.web.id }\n}\n`,
};

const oneTeam: TreeFiles = {
  "team/main.tf":
    'variable "key" {}\nresource "service_team" "this" {\n  key = var.key\n}\noutput "id" {\n  value = service_team.this.id\n}\n',
};

/** Returns layouts with lines that may not belong to the team, while another team is named. */
export function mixedTeamLayouts(): readonly Layout[] {
  const values = 'team = "team_2"\n';
  const variable = 'variable "team" {\n  default = "team_1"\n}\n';
  const of = (team: string, more: TreeFiles, code: string | null, place = /^At main\.tf:2, team_id/): Layout => ({
    says: `team_id = ${team} beside ${Object.keys(more)}`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ team }), "teams.tf": core, ...more },
    refused: code === null ? null : { code, place },
  });
  return [
    of("var.on ? service_team.core.id : service_team.web.id", {}, "ambiguous"),
    of("trimspace(service_team.web.id)", {}, "ambiguous"),
    of("trimspace(service_team.core.id)", {}, null),
    of("[for t in [service_team.web] : t.id][0]", {}, "ambiguous"),
    of("var.team", { "v.tf": variable }, null),
    of("var.team", { "v.tf": variable, "terraform.tfvars": values }, "not-found", /At main\.tf:1/),
    of("var.team", { "v.tf": variable, "prod.tfvars": values }, "not-found", /At main\.tf:1/),
    of("var.team", { "v.tf": variable, "a.auto.tfvars": 'team = "team_1"\n', "prod.tfvars": values }, "ambiguous"),
    of("local.a", { "l.tf": "locals {\n  a = local.b\n  b = local.a\n}\n" }, null),
  ];
}

/** Returns layouts with references that mention only other teams, in forms whose value is not fully known. */
export function otherTeamLayouts(): readonly Layout[] {
  const more = `${core}variable "k" {}
resource "service_team" "all" {
  for_each = toset(["web"])
  key      = each.key
}
locals {
  teams = { web = service_team.web.id }
  list  = [service_team.web.id]
  ids   = { web = "team_2" }
}
module "t" {
  source = "./t"
}
`;
  const child = `${core}output "id" {\n  value = service_team.web.id\n}\n`;
  const forms = [
    ...["local.teams[var.k]", "local.list[var.k]", "local.ids[var.k]", "service_team.all[var.k].id", "local.teams.*"],
    ...[
      "one(service_team.web[*].id)",
      "one(service_team.all[*].id)",
      "element(local.list, 0)",
      "values(local.teams)[0]",
    ],
    ...["values(service_team.all)[0].id", 'merge(local.teams, {})["web"]', "lookup(local.teams, var.k)"],
    ...["lookup(local.ids, var.k)", "try(local.none, service_team.web.id)", "coalesce(var.k, service_team.web.id)"],
    ...['join("", [service_team.web.id])', 'format("%s", local.teams.web)', `"x${OPEN}service_team.web.id}"`],
    ...["service_team.web.parent", "{ for k, v in local.teams : k => v }[var.k]", "[for t in local.list : t][0]"],
    ...["values(module.t)[0]", "module.t[*].id", "trimspace(module.t.id)"],
  ];
  const known = ["service_team.web[0].id", "module.t[0].id", "module.t.id", "local.list[0]", 'local.ids["web"]'];
  const of = (team: string, code: string, place: RegExp): Layout => ({
    says: `team_id = ${team}`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ team }), "teams.tf": more, "t/main.tf": child },
    refused: { code, place },
  });
  return [
    ...forms.map((team) => of(team, "ambiguous", /^At main\.tf:2, team_id/)),
    ...known.map((team) => of(team, "not-found", /^At main\.tf:1: /)),
  ];
}

/** Returns layouts with lines of two teams, whose teams are defined anywhere in the module. */
export function teamLayouts(): readonly Layout[] {
  const refused = { code: "not-found", place: /main\.tf:1: / };
  const of = (says: string, main: string, teams: TreeFiles, isRefused: boolean): Layout => ({
    says,
    path: "lines/main.tf",
    change: "model",
    files: { "lines/main.tf": main, ...teams },
    refused: isRefused ? refused : null,
  });
  const both = (own: string, other: string) =>
    `${line({ team: other, name: "other" }).replace('"m"', '"theirs"')}\n${line({ team: own })}`;
  const json = '{"resource":{"service_team":{"core":{"key":"core"},"web":{"key":"web"}}}}';
  const data = core.replaceAll("resource", "data");
  const each = 'resource "service_team" "all" {\n  for_each = var.teams\n  key = each.key\n}\n';
  const local = `${core}locals {\n  core_id = service_team.core.id\n  web_id = service_team.web.id\n}\n`;
  const ways: readonly (readonly [string, TreeFiles, string])[] = [
    ["service_team.TEAM.id", { "lines/teams.tf": core }, "another file"],
    [`"${OPEN}service_team.TEAM.id}"`, { "lines/teams.tofu": core }, "a template"],
    ["service_team.TEAM.id", { "lines/teams.tf.json": json }, "JSON"],
    ["data.service_team.TEAM.id", { "lines/data.tf": data }, "data"],
    ['service_team.all["TEAM"].id', { "lines/teams.tf": each }, "for_each"],
    ["local.TEAM_id", { "lines/teams.tf": local }, "locals"],
    [
      "(service_team.TEAM.id)",
      {
        "lines/a.tf": core.split("resource").slice(0, 2).join("resource"),
        "lines/b.tf": `resource${core.split("resource")[2]}`,
      },
      "two files",
    ],
  ];
  const more: readonly (readonly [string, TreeFiles, string])[] = [
    ...teamReferences().map(([written, text]) => [written, { "lines/teams.tf": `${core}${text}` }, written] as const),
    ['module.teams.ids["TEAM"]', teamModule, "an output of a module"],
    [
      "module.TEAM.id",
      {
        "lines/t.tf": ["core", "web"]
          .map((key) => `module "${key}" {\n  source = "../team"\n  key = "${key}"\n}\n`)
          .join(""),
        ...oneTeam,
      },
      "modules of a team each",
    ],
  ];
  const [own, other] = ["core", "web"];
  return [
    ...[...ways, ...more].flatMap(([written, files, says]) => {
      const by = (team: string) => written.replaceAll("TEAM", team);
      return [
        of(`the team stands in ${says}`, line({ team: by(own) }), files, false),
        of(`another team stands in ${says}`, line({ team: by(other) }), files, true),
        of(`both stand in ${says}`, both(by(own), by(other)), files, false),
      ];
    }),
    of(
      "another team by its call",
      line({ team: "var.team" }),
      { "main.tf": `module "l" {\n  source = "./lines"\n  team = service_team.web.id\n}\n`, "teams.tf": core },
      true,
    ),
    of(
      "the team by its call",
      line({ team: "var.team" }),
      { "main.tf": `module "l" {\n  source = "./lines"\n  team = service_team.core.id\n}\n`, "teams.tf": core },
      false,
    ),
  ];
}

/**
 * Returns layouts with each attribute of `lifecycle`, including values that make a change of the station's model
 * ineffective.
 */
export function lifecycleLayouts(): readonly Layout[] {
  const ignoring = [
    ...[
      "all",
      "[stations]",
      '["stations"]',
      "[stations[0]]",
      "[stations[0].model]",
      "[ name, stations ]",
      "[stations[*].model]",
    ],
    ...['["stations.0.model"]', "[stations[0].model, team_id]", '[stations[0]["model"]]', "(all)", "[all]", '["*"]'],
    "[ # why\n      stations, # all of it\n    ]",
  ].map((value) => `ignore_changes = ${value}`);
  const harmless = [
    ...["create_before_destroy = true", "prevent_destroy = true", "ignore_changes = []", "ignore_changes = [name]"],
    ...[
      "ignore_changes = [stations[0].prompt]",
      "ignore_changes = [stations[1]]",
      "ignore_changes = [stations[1].model]",
      'ignore_changes = [stations[0]["prompt"]]',
      "ignore_changes = [ /* stations */ name ]",
    ],
    ...["replace_triggered_by = [service_team.core]", "enabled = true", "destroy = false"],
    ...[
      'precondition {\n      condition = true\n      error_message = "x"\n    }',
      'postcondition {\n      condition = self.key != ""\n      error_message = "x"\n    }',
    ],
    ...["action_trigger {\n      events = [after_update]\n      actions = [action.x.y]\n    }"],
  ];
  const of = (body: string, isRefused: boolean): Layout => ({
    says: `lifecycle { ${body} }`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ more: `  lifecycle {\n    ${body}\n  }` }) },
    refused: isRefused ? { code: "not-proven", place: /At main\.tf:1[23], lifecycle/ } : null,
  });
  return [
    ...[...ignoring, "enabled = false", "enabled = var.on"].map((body) => of(body, true)),
    ...harmless.map((body) => of(body, false)),
  ];
}

/** Edits a layout; describes what is wrong with the outcome, or returns null. */
export async function editLayout({ path, files, change, refused }: Layout, tally: Tally): Promise<string | null> {
  const [live, now] =
    change === "model" ? [{ model: "m" }, { model: "n" }] : [{ model: "m", prompt: WAS }, { prompt: IS }];
  const wanted = { ...wantedOf(stationOf(live), now, path), repository: "acme/infra" };
  const outcome = await editIn(treeOf(files), wanted);
  if ("refused" in outcome) {
    const { code, message, attribute } = outcome.refused;
    tally.refused.set(code, (tally.refused.get(code) ?? 0) + 1);
    if (refused === null) return `refused: ${code} ${message}`;
    if (code !== refused.code || !refused.place.test(message)) return `${code} ${message}`;
    const set = change === "model" ? "n" : IS;
    return outcome.refused.wanted === set && attribute === change ? null : `it wants ${outcome.refused.wanted}`;
  }
  tally.edited += 1;
  return refused === null ? faultOf(outcome, files, { path, change }) : "it should be refused";
}

/** Describes what is wrong with an edit that should change one value and no other byte. */
function faultOf(
  outcome: Extract<EditOutcome, { readonly files: unknown }>,
  files: TreeFiles,
  { path, change }: Pick<Layout, "path" | "change">,
): string | null {
  const edited = change === "model" ? path : path.replace("main.tf", "prompts/w.md");
  const text = files[edited];
  const after = change === "model" ? String(text).replace('model  = "m"', 'model  = "n"') : IS;
  const right = [{ path: edited, before: text, after }];
  return isDeepStrictEqual(outcome.files, right) ? null : `it is ${JSON.stringify(outcome.files)}`;
}

/** Edits all layouts; records faults in the tally. */
export async function editLayouts(layouts: readonly Layout[], tally: Tally): Promise<void> {
  for (const layout of layouts) {
    const wrong = await editLayout(layout, tally);
    if (wrong !== null) tally.wrong.push(`${layout.says}: ${wrong}`);
  }
}
