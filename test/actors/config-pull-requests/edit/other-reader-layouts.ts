import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { beside } from "./text-layout.js";

/**
 * Layouts in which code outside the source reads the source's text file, but does not spell out the file's path. Also
 * layouts with similar code that does not read the file.
 */
export function otherReaderLayouts(): readonly Layout[] {
  return [...givenLayouts(), ...templateLayouts(), ...commandLayouts(), ...valueLayouts(), ...folderLayouts()];
}

/** Layouts in which a variable is part of a path. Files other than HCL may replace the variable's default. */
function givenLayouts(): readonly Layout[] {
  const reader = `variable "dir" {\n  default = "templates"\n}\nlocals {\n  a = file("${OPEN}path.module}/${OPEN}var.dir}/w.md")\n}\n`;
  const given = (says: string, files: TreeFiles, isRefused = true) =>
    beside(
      `var.dir: ${says}`,
      { "other/main.tf": reader, "values.yaml": "dir: ../lines/prompts\n", ...files },
      isRefused ? /at other\/main\.tf:5/ : null,
    );
  const source = (folder: string, more = "") => `terraform {\n  source = "${folder}"\n${more}}\n`;
  const unit = (text: string) => ({ "live/a/terragrunt.hcl": `${source("../../other")}${text}` });
  const argument = (body: string) => ({
    "live/a/terragrunt.hcl": source(
      "../../other",
      `  extra_arguments "x" {\n    commands = ["apply"]\n    ${body}\n  }\n`,
    ),
  });
  const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
  const computed = [
    'yamldecode(file("../../values.yaml"))',
    "dependency.x.outputs",
    "values",
    "merge(local.common, {})",
    "local.common",
    "include.root.locals.x",
    '{ for k, v in yamldecode(file("x.yaml")) : k => v }',
    '{ (local.name) = "x" }',
  ];
  const setting = [
    'arguments = ["-var-file=x.json"]',
    'arguments = ["-var-file", "x.json"]',
    "arguments = local.arguments",
    'required_var_files = ["x.vars"]',
    'optional_var_files = [find_in_parent_folders("x.vars")]',
    "env_vars = local.env",
  ];
  const component = (name: string) => ({
    [name]: 'component "a" {\n  source = "./other"\n  inputs = yamldecode(file("values.yaml"))\n}\n',
  });
  return [
    ...computed.map((inputs) => given(`inputs = ${inputs}`, unit(`inputs = ${inputs}\n`))),
    ...setting.map((body) => given(body, argument(body))),
    ...["s.tfcomponent.hcl", "s.tfstack.hcl"].map((name) => given(name, component(name))),
    given("a component in JSON", {
      "s.tfcomponent.json": `{"component":{"a":{"source":"./other","inputs":"${OPEN}local.x}"}}}`,
    }),
    given("a unit in the module's folder", { "other/terragrunt.hcl": 'inputs = yamldecode(file("../values.yaml"))\n' }),
    given("an include's inputs", { ...unit(include), "live/root.hcl": "inputs = local.x\n" }),
    given("the inputs of the second unit that includes the source", {
      "_env/other.hcl": source("../../other"),
      "live/a/terragrunt.hcl": 'include "e" {\n  path = "../../_env/other.hcl"\n}\n',
      "live/b/terragrunt.hcl": 'include "e" {\n  path = "../../_env/other.hcl"\n}\ninputs = local.x\n',
    }),
    given("an include that is not in the repository", unit(include)),
    given("a script of Terramate", {
      "s.tm.hcl":
        'script "deploy" {\n  job {\n    commands = [["terraform", "apply", "-var-file=values.json"]]\n  }\n}\n',
    }),
    given("literal inputs of other variables", unit('inputs = {\n  name = "x"\n}\n'), false),
    given("arguments that set nothing", argument('arguments = ["-lock-timeout=20m"]'), false),
    given(
      "computed inputs of another module",
      { "live/a/terragrunt.hcl": `${source("../../third")}inputs = local.x\n` },
      false,
    ),
  ];
}

/** Layouts in which a template reads the file. */
function templateLayouts(): readonly Layout[] {
  const reading = `# ${OPEN}file("${OPEN}dir}/prompts/w.md")}\n`;
  const other = `# ${OPEN}file("${OPEN}dir}/prompts/v.md")} ${OPEN}dir}\n`;
  const local = (value: string) => `locals {\n  a = ${value}\n}\n`;
  const named = (name: string, code: string, text = reading) =>
    beside(
      `${name} with ${text.trim()} is read by ${code}`,
      { "lines/b.tf": code, [`lines/${name}`]: text },
      text === reading ? new RegExp(`at lines/${name.replaceAll(".", "\\.")}:1`) : null,
    );
  const call = (name: string) => local(`templatefile("${OPEN}path.module}/${name}", { x = 1 })`);
  const endings = ["sh", "yaml", "json", "j2", "md", "txt", "html", "cfg", "tf"].map((ending) => `conf.${ending}`);
  const escaped = `$${reading.slice(2).trim()}`.replaceAll('"', '\\"').replace(`${OPEN}dir}`, "lines");
  const text = (code: string, isRefused = true) =>
    beside(`lines/b.tf holds ${code}`, { "lines/b.tf": code }, isRefused ? /at lines\/b\.tf:\d/ : null);
  return [
    ...endings.map((name) => named(name, call(name))),
    ...endings.slice(0, 6).map((name) => named(name, call(name), other)),
    ...[
      call(`${OPEN}var.name}.yaml`),
      call(`conf.${OPEN}each.key}`),
      local('templatefile("lines/conf.yaml", {})'),
      local(`templatestring(file("${OPEN}path.module}/conf.yaml"), {})`),
      local(`[for f in fileset("lines", "*.yaml") : templatefile("lines/${OPEN}f}", {})]`),
      `locals {\n  t = file("lines/conf.yaml")\n  a = templatestring(local.t, {})\n}\n`,
      `data "template_file" "x" {\n  template = file("${OPEN}path.module}/conf.yaml")\n}\n`,
      `data "template_file" "x" {\n  template = "${OPEN}file("${OPEN}path.module}/conf.yaml")}"\n}\n`,
      `locals {\n  t = file("lines/conf.yaml")\n}\ndata "template_file" "x" {\n  template = local.t\n}\n`,
      'module "x" {\n  source = "acme/x/y"\n  template = file("lines/conf.yaml")\n}\n',
    ].map((code) => named("conf.yaml", code)),
    beside(
      "JSON names a template",
      {
        "lines/b.tf.json": `{"locals":{"a":"${OPEN}templatefile(\\"${OPEN}path.module}/conf.yaml\\", {})}"}}`,
        "lines/conf.yaml": reading,
      },
      /at lines\/conf\.yaml:1/,
    ),
    beside(
      "a template names a template",
      { "lines/a.tftpl": `${OPEN}templatefile("lines/conf.yaml", {})}\n`, "lines/conf.yaml": reading },
      /at lines\/conf\.yaml:1/,
    ),
    text(`locals {\n  t = "${escaped}"\n  a = templatestring(local.t, {})\n}\n`),
    text(`variable "t" {\n  default = "${escaped}"\n}\nlocals {\n  a = templatestring(var.t, {})\n}\n`),
    text(`locals {\n  t = <<-EOT\n    $${reading.slice(2)}  EOT\n  a = templatestring(local.t, {})\n}\n`),
    text(`data "template_file" "x" {\n  template = "${escaped}"\n}\n`),
    text(`locals {\n  t = { a = ["${escaped}"] }\n  a = templatestring(local.t.a[0], {})\n}\n`),
    beside(
      "a text of another module",
      {
        "main.tf": `module "x" {\n  source = "./x"\n  text = "${escaped}"\n}\n`,
        "x/main.tf": local("templatestring(var.text, {})"),
      },
      /at main\.tf:3/,
    ),
    beside(
      "a text of another module in JSON",
      {
        "main.tf.json": `{"module":{"x":{"source":"./x","text":"${escaped}"}}}`,
        "x/main.tf": local("templatestring(var.text, {})"),
      },
      /at main\.tf\.json:1/,
    ),
    text(`locals {\n  t = "${escaped}"\n}\n`, false),
    text(`locals {\n  t = "${escaped.replace("w.md", "v.md")}"\n  a = templatestring(local.t, {})\n}\n`, false),
    beside("a file that is no template", {
      "lines/b.tf": local('file("lines/conf.yaml")'),
      "lines/conf.yaml": reading,
    }),
  ];
}

/** Layouts in which a command outside of a resource reads the file. */
function commandLayouts(): readonly Layout[] {
  const path = "../lines/prompts/w.md";
  const hook = (kind: string, execute: string) =>
    `terraform {\n  ${kind} "x" {\n    commands = ["apply"]\n    execute = ${execute}\n  }\n}\n`;
  const plan = (text: string, isRefused = true, file = "live/terragrunt.hcl") =>
    beside(
      `${file} holds ${text}`,
      { [file]: text },
      isRefused ? new RegExp(`at ${file.replaceAll(".", "\\.")}:\\d`) : null,
    );
  const inputs = (value: string) => `inputs = {\n  p = ${value}\n}\n`;
  const script = (body: string) => `script "deploy" {\n  job {\n    ${body}\n  }\n}\n`;
  return [
    ...["before_hook", "after_hook", "error_hook"].flatMap((kind) => [
      plan(hook(kind, `["sh", "-c", "cat ${path} | tee x"]`)),
      plan(hook(kind, `["cp", "${path}", "x"]`)),
      plan(hook(kind, `["bash", "-c", "sha256sum ${OPEN}get_repo_root()}/lines/prompts/w.md"]`)),
      plan(hook(kind, '["sh", "-c", "cat ./prompts/*.md"]')),
      plan(hook(kind, '["sh", "-c", "cat ../lines/prompts/v.md"]'), false),
      plan(hook(kind, '["tflint", "--init"]'), false),
    ]),
    plan(
      `{"terraform":{"before_hook":{"x":{"commands":["apply"],"execute":["sh","-c","cat ${path}"]}}}}`,
      true,
      "live/terragrunt.hcl.json",
    ),
    ...[
      `run_cmd("sh", "-c", "cat ${path}")`,
      `run_cmd("cat", "${path}")`,
      `run_cmd("--terragrunt-quiet", "bash", "-c", "cat $(git rev-parse --show-toplevel)/lines/prompts/w.md")`,
      `trimspace(run_cmd("sh", "-c", "cd lines/prompts; cat w.md"))`,
      `run_cmd("sh", "-c", "cat ${OPEN}local.x}/prompts/w.md")`,
      `run_cmd("python3", "-c", "print(open('lines/prompts/w.md').read())")`,
    ].map((value) => plan(inputs(value))),
    plan(`locals {\n  p = run_cmd("sh", "-c", "cat ${path}")\n}\n`),
    ...['run_cmd("aws", "sts", "get-caller-identity")', 'run_cmd("echo", get_env("X"))'].map((value) =>
      plan(inputs(value), false),
    ),
    ...[
      'commands = [["bash", "-c", "cat lines/prompts/w.md"]]',
      'commands = [["cp", "lines/prompts/w.md", "x"]]',
      `commands = [["sh", "-c", "cat ${OPEN}terramate.root.path.fs.absolute}/lines/prompts/w.md"]]`,
      'commands = [\n      ["make"],\n      ["sh", "-c", "cd lines/prompts && cat *"],\n    ]',
    ].map((body) => plan(script(body), true, "s.tm.hcl")),
    plan(script('commands = [["terraform", "plan", "-out", "x.plan"]]'), false, "s.tm.hcl"),
    plan(
      'terraform {\n  extra_arguments "x" {\n    commands = get_terraform_commands_that_need_vars()\n  }\n}\n',
      false,
    ),
  ];
}

/** Layouts in which a local or another value is a command that reads the file. */
function valueLayouts(): readonly Layout[] {
  const at = /at (lines\/b\.tf(\.json)?|live\/terragrunt\.hcl):\d/;
  const read = (name: string, text: string, isRefused = true) =>
    beside(`a value: ${name} holds ${text}`, { [name]: text }, isRefused ? at : null);
  const own = (text: string, isRefused = true) => read("lines/b.tf", text, isRefused);
  const local = (value: string) => `locals {\n  c = ${value}\n}\n`;
  const used = 'resource "x_y" "x" {\n  startup_script = local.c\n}\n';
  const passed = 'module "x" {\n  source = "acme/x/y"\n  c = local.c\n}\n';
  return [
    ...[used, passed].flatMap((use) => [
      own(local('"cat lines/prompts/w.md > x"') + use),
      own(local(`"cat ${OPEN}path.module}/prompts/w.md"`) + use),
      own(local("<<-EOT\n    set -e\n    cat prompts/w.md\n  EOT") + use),
      own(local('var.on ? "cat prompts/w.md" : ""') + use),
      own(local('["sh", "-c", "cat prompts/w.md"]') + use),
      own(local('{ a = { b = "cat prompts/w.md" } }') + use),
    ]),
    own('variable "c" {\n  default = "cat lines/prompts/w.md"\n}\n'),
    own('variable "c" {\n  default = <<-EOT\n    cat prompts/w.md\n  EOT\n}\n'),
    read("lines/b.tf.json", '{"locals":{"c":"cat prompts/w.md"}}'),
    read("lines/b.tf.json", '{"variable":{"c":{"default":"cat prompts/w.md"}}}'),
    read("live/terragrunt.hcl", 'inputs = {\n  c = "cat ../lines/prompts/w.md"\n}\n'),
    read("live/terragrunt.hcl", 'locals {\n  c = "cat ../lines/prompts/w.md"\n}\n'),
    own(local('"cat lines/prompts/v.md > x"') + used, false),
    own(local('"the prompts of w.md"') + used, false),
    own('variable "c" {\n  description = "See lines/prompts/w.md for more."\n}\n', false),
    own('output "c" {\n  description = "See lines/prompts/w.md for more."\n  value = 1\n}\n', false),
  ];
}

/** Layouts in which a tool or a provider reads the file's folder. */
function folderLayouts(): readonly Layout[] {
  const bake = (body: string, isRefused = true, file = "docker-bake.hcl") =>
    beside(
      `${file} with ${body}`,
      { [file]: `group "default" {\n  targets = ["x"]\n}\ntarget "x" {\n  ${body}\n}\n` },
      isRefused ? /at docker-bake\.hcl:5|at ci\/docker-bake\.hcl:5/ : null,
    );
  const resource = (body: string, isRefused = true) =>
    beside(`x_y with ${body}`, { "b.tf": `resource "x_y" "x" {\n  ${body}\n}\n` }, isRefused ? /at b\.tf:2/ : null);
  return [
    ...[
      'context = "lines"',
      'context = "./lines"',
      'context = "."',
      'context = "lines/prompts"',
      'contexts = { prompts = "./lines/prompts" }',
      'contexts = { a = "docker-image://alpine", b = "lines" }',
      `context = "${OPEN}DIR}/lines"`,
      'secret = ["id=x,src=lines/prompts/w.md"]',
    ].map((body) => bake(body)),
    bake('context = "../lines"', true, "ci/docker-bake.hcl"),
    ...[
      'context = "web"',
      'contexts = { base = "target:base" }',
      'context = "https://code.example/acme/app.git"',
      'context = "lines/images"',
    ].map((body) => bake(body, false)),
    ...[
      'chart = "./lines"',
      'chart = "lines"',
      'chart = "./lines/prompts"',
      `chart = "${OPEN}path.module}/lines"`,
      'manifest = "./lines/prompts/"',
      'x = "../infra/../lines"',
      'x { y = ["./lines/prompts"] }',
      'x = "./lines/prompts/w.md"',
    ].map((body) => resource(body)),
    ...[
      'chart = "nginx"',
      'chart = "./charts/web"',
      "chart = var.chart",
      'repository = "oci://x/lines"',
      'x = "./lines/images"',
      'x = "./main.sh"',
    ].map((body) => resource(body, false)),
  ];
}
