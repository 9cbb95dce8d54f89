import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { call, core, MADE, made } from "./module-layout.js";
import { overrideLayouts } from "./override-layouts.js";

/** Layouts in which the line's module has several instances, and similar layouts in which it has one instance. */
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
    "git@code.example:Acme/Infra//modules/line",
    "https://code.example/mirror/acme/infra.tar.gz//modules/line",
    "app.terraform.io/acme/infra/service//modules/line",
  ];
  const otherNames = ["acme/infra-modules.git", "acme/infrastructure.git", "big-acme/infra", "acme/infra.wiki"];
  const many = [
    ...["count = 2", "count = var.count", "count = length(var.teams)"],
    ...["count = var.many ? 5 : var.on ? 1 : 0", "count = var.on ? var.n : var.off ? 1 : 0"],
    ...['for_each = toset(["core", "web"])', "for_each = local.teams", "for_each = { core = 1, web = 2 }"],
    ...['for_each = toset(concat(var.teams, ["web"]))', "for_each = toset(flatten([var.teams]))"],
    ...['for_each = toset(flatten([["core", "web"]]))', 'for_each = toset(var.on ? var.teams : ["core"])'],
    ...['for_each = toset(setproduct(var.x, ["a"]))', `for_each = toset([for each in var.x : "a-${OPEN}each}"])`],
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
    ...otherNames.map((name) =>
      made(
        `once: a call of the repository ${name}`,
        { "main.tf": `${one}${call("b", `git::https://code.example/${name}//modules/line?ref=v1`)}` },
        null,
      ),
    ),
    made(
      "once: calls of other modules of a repository with a longer name",
      { "main.tf": `${one}${call("b", "git@code.example:acme/infra2//modules/line")}` },
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
    ...[
      `${OPEN}include.env.locals.base_source_url}?ref=v0.8.0`,
      `${OPEN}local.base}?ref=v1`,
      `${OPEN}local.repo}//modules/line?ref=v1`,
      `git::${OPEN}local.repo}//modules/line?ref=v1`,
      `git::https://${OPEN}local.host}/acme/infra.git//modules/line?ref=v1`,
    ].map((source) => {
      const fetched = `terraform {\n  source = "${source}"\n}\n`;
      return made(
        `two units of ${source}`,
        { "units/a/terragrunt.hcl": fetched, "units/b/terragrunt.hcl": fetched },
        /units\/a\/terragrunt\.hcl:1 and units\/b\/terragrunt\.hcl:1/,
      );
    }),
    ...[
      `${OPEN}local.repo}//modules/network?ref=v1`,
      "git::https://code.example/acme/other.git//modules/line?ref=v1",
    ].map((source) =>
      made(
        `once: a unit, and one of ${source}`,
        { "units/a/terragrunt.hcl": unit, "units/b/terragrunt.hcl": `terraform {\n  source = "${source}"\n}\n` },
        null,
      ),
    ),
    made("once: one unit", { "units/a/terragrunt.hcl": unit }, null),
    ...runLayouts(one, unit),
  ];
}

/**
 * Layouts that run a module several times for a reason other than its calls, for example several deployments of a
 * stack. Most of these layouts have a counterpart that runs the module once.
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
        new RegExp(`envs/a/main\\.tf:1, which is also reached through the symlink ${link}`),
      ),
    ),
    made(
      "once: a link to another folder",
      {
        "envs/a/main.tf": call("a", "../../modules/line"),
        "envs/a/teams.tf": core,
        "docs/a.md": "x\n",
        "envs/docs": { leadsTo: "docs" },
      },
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
    ...stackFiles(stack),
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
 * Layouts with stacks, units and tests in JSON, with unusable JSON files, and with units whose inputs give the team.
 */
function stackFiles(stack: TreeFiles): readonly Layout[] {
  const component = (more: string) => `{"component":{"a":{"source":"./modules/line"${more}}}}`;
  const deployments = (...names: readonly string[]) =>
    `{"deployment":{${names.map((name) => `"${name}":{"inputs":{}}`).join(",")}}}`;
  const named = (name: string) => new RegExp(name.replaceAll(".", "\\."));
  const unit = (source: string) => `{"terraform":{"source":"${source}"}}`;
  return [
    made("two deployments in JSON", { ...stack, "d.tfdeploy.json": deployments("a", "b") }, /d\.tfdeploy\.json:1/),
    made(
      "a deployment in JSON and one in HCL",
      { ...stack, "d.tfdeploy.json": deployments("a"), "e.tfdeploy.hcl": 'deployment "b" {\n  inputs = {}\n}\n' },
      /d\.tfdeploy\.json:1 and e\.tfdeploy\.hcl:1/,
    ),
    made("once: one deployment in JSON", { ...stack, "d.tfdeploy.json": deployments("a") }, null),
    ...["s.tfcomponent.json", "s.tfstack.json"].flatMap((name) => [
      made(`a component in ${name}`, { [name]: component(',"for_each":"var.x"') }, named(`${name}:1`)),
      made(`once: a component in ${name}`, { [name]: component("") }, null),
      made(`a component in ${name} beside one in HCL`, { ...stack, [name]: component("") }, named(`${name}:1`)),
    ]),
    made(
      "units in JSON",
      {
        "a/terragrunt.hcl.json": unit("../modules//line"),
        "b/terragrunt.hcl.json": unit("../modules//line"),
      },
      /a\/terragrunt\.hcl\.json:1 and b\/terragrunt\.hcl\.json:1/,
    ),
    ...["tftest", "tofutest", "tfquery", "tfmock"].map((kind) =>
      made(
        `once: a file of ${kind} in JSON`,
        { [`x.${kind}.json`]: '{"module":{"x":{"source":"./modules/line"}}}' },
        null,
      ),
    ),
    ...["x.tf.json", "x.tofu.json", "x.tfdeploy.json", "x.tfvars.json", "x.tftest.json", "x.tfquery.json"].flatMap(
      (name) =>
        ["{", "[]", '{"module":{},"module":{}}'].map((text) =>
          made(
            `${name} that is ${text}`,
            { "main.tf": call("core", "./modules/line"), [name]: text },
            named(`${name}:1`),
          ),
        ),
    ),
    made(
      "once: a unit whose inputs give the team",
      { "a/terragrunt.hcl": `terraform {\n  source = "../modules//line"\n}\ninputs = {\n  team_id = "team_1"\n}\n` },
      null,
    ),
    ...['"team_2"', "dependency.teams.outputs.core"].map((id): Layout => {
      const text = `terraform {\n  source = "../modules//line"\n}\ninputs = {\n  team_id = ${id}\n}\n`;
      const layout = made(
        `a unit whose inputs give ${id}`,
        { "a/terragrunt.hcl": text },
        /modules\/line\/main\.tf:2, team_id/,
      );
      const other = { code: "not-found", place: /modules\/line\/main\.tf:1/ };
      return id === '"team_2"' ? { ...layout, refused: other } : layout;
    }),
  ];
}
