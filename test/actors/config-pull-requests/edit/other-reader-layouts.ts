import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { beside } from "./text-layout.js";

/**
 * Layouts in which the source's text file has another reader that no plain path names. Others have similar code that
 * does not read the file.
 */
export function otherReaderLayouts(): readonly Layout[] {
  return [...givenLayouts()];
}

/** Layouts in which a variable is part of a path, and files other than HCL may replace its default. */
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
