import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN, WAS } from "./layout.js";
import { call, made } from "./module-layout.js";

const unit = 'terraform {\n  source = "../../modules//line"\n}\n';

/** A `generate` block of Terragrunt, with its contents on the lines from 4 on. */
function generate(code: string, path = '"m.tf"'): string {
  return `generate "m" {\n  path     = ${path}\n  contents = <<EOF\n${code}EOF\n}\n`;
}

/** A `generate_hcl` block of Terramate, with its contents on the lines from 3 on. */
function generateHcl(code: string, name = "m.tf"): string {
  return `generate_hcl "${name}" {\n  content {\n${code}  }\n}\n`;
}

/** Layouts in which Terragrunt or Terramate generates code, and similar layouts in which the code changes nothing. */
export function generatedCodeLayouts(): readonly Layout[] {
  return [...callLayouts(), ...changeLayouts(), ...sharedLayouts(), ...generatedReaders()];
}

/** Layouts with generated calls of the module or of other modules. */
function callLayouts(): readonly Layout[] {
  const one = { "main.tf": call("core", "./modules/line") };
  const code = (source: string) => `module "x" {\n  source = "${source}"\n  team_id = "t"\n}\n`;
  const own = code("../../modules/line");
  const sources = [
    ...["../../modules/line", "../modules//line", `${OPEN}local.base}/line`, `${OPEN}get_repo_root()}/modules/line`],
    ...["git::https://code.example/acme/infra.git//modules/line?ref=v1", `${OPEN}local.repo}//modules/line`],
  ];
  const other = code("acme/line/service") + code("../../modules/other");
  const dynamic = (source: string) => `tm_dynamic "module" {\n  labels = ["x"]\n  content {\n    ${source}\n  }\n}\n`;
  const escaped = JSON.stringify(own);
  const json = (contents: string) => JSON.stringify({ generate: { m: { path: "m.tf", contents } } });
  return [
    ...sources.flatMap((source) => [
      made(
        `Terragrunt generates a call of ${source}`,
        { "a/terragrunt.hcl": generate(code(source)) },
        /a\/terragrunt\.hcl:4/,
      ),
      made(
        `Terramate generates a call of ${source} beside another call`,
        { ...one, "a/m.tm.hcl": generateHcl(code(source)) },
        /a\/m\.tm\.hcl:3/,
      ),
    ]),
    made("once: generated calls of other modules", { ...one, "a/terragrunt.hcl": generate(other) }, null),
    made("once: Terramate generates calls of other modules", { ...one, "a/m.tm.hcl": generateHcl(other) }, null),
    made("a call in a .tm file", { ...one, "a/m.tm": generateHcl(own) }, /a\/m\.tm:3/),
    made(
      "a call in the text of generate_file",
      { ...one, "m.tm.hcl": `generate_file "m.tf" {\n  content = <<EOF\n${own}EOF\n}\n` },
      /m\.tm\.hcl:3/,
    ),
    made(
      "a call in a string",
      { ...one, "a/terragrunt.hcl": `generate "m" {\n  path = "m.tf"\n  contents = ${escaped}\n}\n` },
      /a\/terragrunt\.hcl:3/,
    ),
    made(
      "a call in a local",
      {
        ...one,
        "a/terragrunt.hcl": `locals {\n  m = <<EOF\n${own}EOF\n}\ngenerate "m" {\n  path = "m.tf"\n  contents = local.m\n}\n`,
      },
      /a\/terragrunt\.hcl:3/,
    ),
    made(
      "a call in generate as an attribute",
      {
        ...one,
        "a/terragrunt.hcl": `generate = {\n  m = {\n    path = "m.tf"\n    contents = <<EOF\n${own}EOF\n  }\n}\n`,
      },
      /a\/terragrunt\.hcl:5/,
    ),
    made(
      "a call in a flush heredoc",
      { ...one, "a/terragrunt.hcl": generate(own).replace("<<EOF", "<<-EOF") },
      /a\/terragrunt\.hcl:4/,
    ),
    made("a call in JSON", { ...one, "a/terragrunt.hcl.json": json(own) }, /a\/terragrunt\.hcl\.json:1/),
    made("once: another call in JSON", { ...one, "a/terragrunt.hcl.json": json(other) }, null),
    made("a call in a file that is included", { ...one, "root.hcl": generate(own) }, /root\.hcl:4/),
    made(
      "calls in a loop of a template",
      { ...one, "a/terragrunt.hcl": generate(`%{ for t in local.teams ~}\n${own}%{ endfor ~}\n`) },
      /a\/terragrunt\.hcl:/,
    ),
    made(
      "a call that tm_dynamic makes",
      { ...one, "m.tm.hcl": generateHcl(dynamic('source = "./modules/line"')) },
      /m\.tm\.hcl:/,
    ),
    made(
      "a call in the attributes of tm_dynamic",
      { ...one, "m.tm.hcl": generateHcl(dynamic("x = 1")) },
      /m\.tm\.hcl:3/,
    ),
    ...["templatefile", "file"].map((name) =>
      made(
        `a call in a text that ${name} reads`,
        {
          ...one,
          "a/m.tf.tpl": `# x\n${own}`,
          "a/terragrunt.hcl": `generate "m" {\n  path = "m.tf"\n  contents = ${name}("m.tf.tpl"${name === "file" ? "" : ", {}"})\n}\n`,
        },
        /a\/m\.tf\.tpl:2/,
      ),
    ),
    made(
      "once: a template without calls",
      {
        ...one,
        "a/p.tpl": 'provider "x" {}\n',
        "a/q.tpl": own,
        "a/terragrunt.hcl": 'generate "m" {\n  path = "m.tf"\n  contents = file("p.tpl")\n}\n',
      },
      null,
    ),
    made(
      "once: a heredoc in a repository that generates nothing",
      { ...one, "a/terragrunt.hcl": `inputs = {\n  code = <<EOF\n${own}EOF\n}\n` },
      null,
    ),
  ];
}

/**
 * Layouts with generated code that may change the module: lines, teams, variables and values. Also layouts with similar
 * code that does not change the module.
 */
function changeLayouts(): readonly Layout[] {
  const lines = line({ team: '"team_2"' });
  const team = 'resource "service_team" "core" {\n  key = "web"\n}\n';
  const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
  const provider = 'terraform {\n  backend "s3" {}\n}\nprovider "service" {}\n';
  const variable = 'variable "team_id" {\n  default = "team_2"\n}\n';
  const own = { "live/a/terragrunt.hcl": `${include}${unit}` };
  const below = (code: string, path?: string): TreeFiles => ({ ...own, "live/root.hcl": generate(code, path) });
  const locals = 'locals {\n  a = "x"\n}\n';
  const encoded = (text: string) => `generate "m" {\n  path = "m.tf.json"\n  contents = jsonencode(${text})\n}\n`;
  const values = (contents: string) => `${unit}generate "m" {\n  path = "a.auto.tfvars"\n  contents = ${contents}\n}\n`;
  return [
    made(
      "encoded calls",
      { "a/terragrunt.hcl": encoded('{ module = { x = { source = "../modules/line" } } }') },
      /a\/terragrunt\.hcl:3/,
    ),
    made(
      "calls that Terramate encodes",
      {
        "m.tm.hcl": encoded("{ module = { x = local.x } }")
          .replace("generate ", "generate_file ")
          .replace("contents", "content"),
      },
      /m\.tm\.hcl:3/,
    ),
    made(
      "encoded values",
      { "live/a/terragrunt.hcl": unit + encoded('{ team_id = "team_2" }') },
      /live\/a\/terragrunt\.hcl:6/,
    ),
    made("values in a string", { "live/a/terragrunt.hcl": values('"team_id = 1"') }, /live\/a\/terragrunt\.hcl:6/),
    made(
      "values in JSON",
      {
        "live/a/terragrunt.hcl.json":
          '{"terraform":{"source":"../../modules//line"},"generate":{"m":{"path":"a.auto.tfvars","contents":"team_id = 1"}}}',
      },
      /live\/a\/terragrunt\.hcl\.json:1/,
    ),
    made(
      "generated values that a stack imports",
      {
        "x/m.tm.hcl": generateHcl("    a = 1\n", "a.auto.tfvars"),
        "stack.tm.hcl": 'import {\n  source = "/x/m.tm.hcl"\n}\n',
      },
      /x\/m\.tm\.hcl:3/,
    ),
    made(
      "once: generated values that nothing imports",
      { "x/m.tm.hcl": generateHcl("    a = 1\n", "a.auto.tfvars") },
      null,
    ),
    ...["x_override.tf", "v.tf"].map((name) =>
      made(
        `${name} in the unit's folder`,
        { "live/a/terragrunt.hcl": unit, [`live/a/${name}`]: locals },
        new RegExp(`live/a/${name}:1`),
      ),
    ),
    made("generated lines", { "a/terragrunt.hcl": generate(lines) }, /a\/terragrunt\.hcl:4/),
    made("lines that Terramate generates", { "a/m.tm.hcl": generateHcl(lines) }, /a\/m\.tm\.hcl:3/),
    made(
      "lines in a template",
      { "a/l.tpl": lines, "a/terragrunt.hcl": 'generate "m" {\n  path = "m.tf"\n  contents = file("l.tpl")\n}\n' },
      /a\/l\.tpl:1/,
    ),
    made("a generated team", below(team, '"t_override.tf"'), /live\/root\.hcl:4/),
    made("an included file generates a variable", below(variable), /live\/root\.hcl:4/),
    made("an included file generates values", below('team_id = "team_2"\n', '"a.auto.tfvars"'), /live\/root\.hcl:4/),
    made("an included file generates an override file", below(locals, '"x_override.tf"'), /live\/root\.hcl:4/),
    made("an included file generates a file of an unknown name", below(locals, "local.path"), /live\/root\.hcl:4/),
    made(
      "Terramate generates values",
      { "modules/m.tm.hcl": generateHcl('    team_id = "team_2"\n', "a.auto.tfvars") },
      /modules\/m\.tm\.hcl:3/,
    ),
    made("Terramate generates a variable", { "m.tm.hcl": generateHcl(variable) }, /m\.tm\.hcl:3/),
    made("once: an included file generates a provider", below(provider), null),
    made("once: an override of the provider", below(provider, '"p_override.tf"'), null),
    made("once: Terramate generates a provider and locals", { "m.tm.hcl": generateHcl(provider + locals) }, null),
    made("once: another stack's variables", { "stacks/m.tm.hcl": generateHcl(variable) }, null),
    made(
      "once: another unit's variables",
      { ...own, "live/root.hcl": "", "live/b/terragrunt.hcl": generate(variable) },
      null,
    ),
  ];
}

/** Layouts in which a tool may generate or copy the source's own code into other modules. */
function sharedLayouts(): readonly Layout[] {
  const path = "shared/main.tf";
  const shared = (says: string, files: TreeFiles, place: RegExp | null): Layout => ({
    says,
    path,
    change: "model",
    files: { [path]: line({ team: '"team_1"' }), "shared/p.tf": 'provider "x" {}\n', ...files },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const file = (name = "main.tf") => `file("${OPEN}get_repo_root()}/shared/${name}")`;
  const of = (contents: string, locals = "", more: TreeFiles = {}) => ({
    "live/root.hcl": `${locals}generate "l" {\n  path = "l.tf"\n  contents = ${contents}\n}\n`,
    ...more,
  });
  const locals = (body: string, type = "locals") => `${type} {\n  ${body}\n}\n`;
  const config = locals('c = read_terragrunt_config("code.hcl")');
  const code = (name?: string) => ({ "live/code.hcl": locals(`code = ${file(name)}`) });
  const global = (name: string) =>
    `${locals(`code = tm_file("${OPEN}terramate.root.path.fs.absolute}/shared/${name}")`, "globals")}generate_file "l.tf" {\n  content = global.code\n}\n`;
  const hook = (execute: string) => ({
    "live/root.hcl": `terraform {\n  before_hook "c" {\n    commands = ["init"]\n    execute = ${execute}\n  }\n}\n`,
  });
  const root = `${OPEN}get_repo_root()}`;
  const at = /shared\/main\.tf:1/;
  return [
    shared("a local that reads the source", of("local.code", locals(`code = ${file()}`)), at),
    shared("a member of a local", of('local.files["main"]', locals(`files = { main = ${file()} }`)), at),
    shared("two locals", of("local.b", locals(`a = ${file()}\n  b = local.a`)), at),
    shared("a local in a text", of(`"${OPEN}local.code}"`, locals(`code = ${file()}`)), at),
    shared("a local of another file", of("local.c.locals.code", config, code()), at),
    shared("a global", { "s.tm.hcl": global("main.tf") }, at),
    shared("a local that reads any file", of("local.code", locals("code = file(local.name)")), /live\/root\.hcl:1/),
    shared("once: a local that reads another file", of("local.code", locals(`code = ${file("p.tf")}`)), null),
    shared(
      "once: a local of another file that reads another one",
      of("local.c.locals.code", config, code("p.tf")),
      null,
    ),
    shared("once: a global that reads another file", { "s.tm.hcl": global("p.tf") }, null),
    shared("once: a literal local", of("local.code", locals('code = "locals {}"')), null),
    shared("once: an unknown local in a text", of(`"# ${OPEN}local.c.locals.region}"`, config), null),
    ...[
      `["cp", "${root}/shared/main.tf", "."]`,
      `["bash", "-c", "cp ${root}/shared/main.tf ."]`,
      `["bash", "-c", "cp ${root}/shared/*.tf ."]`,
      `["cp", "-r", "${root}/shared", "."]`,
    ].map((execute) => shared(`a hook with ${execute}`, hook(execute), /hook at live\/root\.hcl:4/)),
    ...[
      `["cp", "${root}/shared/p.tf", "."]`,
      '["echo", get_env("X")]',
      '["tofu", "fmt", "."]',
      `["cp", "${root}/other/main.tf", "."]`,
    ].map((execute) => shared(`once: a hook with ${execute}`, hook(execute), null)),
  ];
}

/** Layouts with generated code that reads the source's text file or other files. */
function generatedReaders(): readonly Layout[] {
  const path = "lines/main.tf";
  const module = `$${OPEN}path.module}`;
  const file = (name: string) => `locals {\n  p = file("${name}")\n}\n`;
  const read = (says: string, files: TreeFiles, place: RegExp | null): Layout => ({
    says,
    path,
    change: "prompt",
    files: {
      [path]: line({ prompt: `file("${OPEN}path.module}/prompts/w.md")` }),
      "lines/prompts/w.md": WAS,
      ...files,
    },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const names = [
    `${module}/prompts/w.md`,
    `${module}/../lines/prompts/w.md`,
    "../lines/prompts/w.md",
    `${OPEN}local.p}/w.md`,
  ];
  return [
    ...names.flatMap((name) => [
      read(
        `Terragrunt generates file(${name})`,
        { "a/terragrunt.hcl": generate(file(name)) },
        /at a\/terragrunt\.hcl:5/,
      ),
      read(`Terramate generates file(${name})`, { "a/m.tm.hcl": generateHcl(file(name)) }, /at a\/m\.tm\.hcl:4/),
      read(
        `a template of generated code has file(${name})`,
        {
          "a/t.txt": file(name),
          "a/terragrunt.hcl": 'generate "m" {\n  path = "m.tf"\n  contents = file("t.txt")\n}\n',
        },
        /at a\/t\.txt:2/,
      ),
    ]),
    read("once: other files", { "a/terragrunt.hcl": generate(file(`${module}/prompts/v.md`)) }, null),
    read("once: Terramate and other files", { "a/m.tm.hcl": generateHcl(file(`${module}/prompts/v.md`)) }, null),
  ];
}
