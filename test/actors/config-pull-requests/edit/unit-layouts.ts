import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";
import { call, made } from "./module-layout.js";

const source = 'terraform {\n  source = "../../modules//line"\n}\n';
const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
const inputs = (id: string) => `inputs = {\n  team_id = ${id}\n}\n`;

/**
 * Returns a layout in which a unit passes the team to the line. The edit cannot determine which team this is, so it is
 * refused as ambiguous.
 */
function refusedTeam(says: string, files: TreeFiles): Layout {
  return made(says, files, /At modules\/line\/main\.tf:2, team_id/);
}

/** Returns a layout in which a unit passes the team `team_2` to the line. */
function otherTeam(says: string, files: TreeFiles): Layout {
  return { ...made(says, files, null), refused: { code: "not-found", place: /modules\/line\/main\.tf:1/ } };
}

/** Layouts with Terragrunt units that give the module's team, in every way that Terragrunt supports. */
export function unitInputLayouts(): readonly Layout[] {
  const unit = (text: string, more: TreeFiles = {}) => ({ "live/a/terragrunt.hcl": `${source}${text}`, ...more });
  const root = (text: string, own = "") => unit(`${include}${own}`, { "live/root.hcl": text });
  const arguments_ = (body: string) =>
    `terraform {\n  source = "../../modules//line"\n  extra_arguments "x" {\n    commands = ["apply"]\n    ${body}\n  }\n}\n`;
  const merges = [
    'merge(local.common, { team_id = "team_1" })',
    'merge({ team_id = "team_1" }, { team_id = "team_2" })',
    "local.common",
    'read_terragrunt_config("x.hcl").inputs',
    'jsondecode(file("x.json"))',
    "dependency.x.outputs",
    'var.on ? { team_id = "team_1" } : {}',
    "{ for k, v in local.x : k => v }",
    '{ (local.name) = "team_1" }',
    '{ team_id = "team_1", team_id = "team_2" }',
  ];
  const values = [
    "local.vars.locals.team",
    "dependency.team.outputs.id",
    "include.root.inputs.team_id",
    'get_env("TEAM")',
    "values.team",
    'run_cmd("x")',
  ];
  const setting = [
    'env_vars = {\n      TF_VAR_team_id = "team_2"\n    }',
    "env_vars = local.env",
    'arguments = ["-var", "team_id=team_2"]',
    'arguments = ["-var=team_id=team_2"]',
    'arguments = ["-var-file=x.tfvars"]',
    "arguments = local.arguments",
    'arguments = concat(["-lock=true"], local.more)',
    'required_var_files = ["x.tfvars"]',
    'optional_var_files = [find_in_parent_folders("x.tfvars")]',
    'env_vars = {\n      TF_CLI_ARGS_apply = "-x"\n    }',
  ];
  const plain = [
    'arguments = ["-lock-timeout=20m"]',
    'arguments = ["-parallelism=3", "-compact-warnings"]',
    'env_vars = {\n      AWS_REGION = "x"\n    }',
  ];
  const team2 = inputs('"team_2"');
  const team1 = inputs('"team_1"');
  return [
    ...merges.map((each) => refusedTeam(`inputs = ${each}`, unit(`inputs = ${each}\n`))),
    ...values.map((each) => refusedTeam(`the unit gives ${each}`, unit(inputs(each)))),
    ...setting.flatMap((body) => [
      refusedTeam(`arguments with ${body}`, { "live/a/terragrunt.hcl": arguments_(body) + team1 }),
      refusedTeam(`an include's arguments with ${body}`, root(arguments_(body).replace(/ {2}source.*\n/, ""), team1)),
    ]),
    ...plain.map((body) =>
      made(`once: arguments with ${body}`, { "live/a/terragrunt.hcl": arguments_(body) + team1 }, null),
    ),
    otherTeam("an include's inputs", root(team2)),
    ...['merge_strategy = "deep"', 'merge_strategy = "no_merge"', "expose = true"].map((attribute) =>
      otherTeam(`an include with ${attribute}`, {
        ...root(team2),
        "live/a/terragrunt.hcl": `${source}${include.replace("}\n", `  ${attribute}\n}\n`)}`,
      }),
    ),
    refusedTeam("an include's computed inputs", root("inputs = merge(local.a, local.b)\n")),
    refusedTeam("an include that is not in the repository", unit(include)),
    refusedTeam(
      "an include with an unknown path",
      unit('include "x" {\n  path = local.path\n}\n', { "x/y.hcl": "inputs = local.x\n" }),
    ),
    refusedTeam(
      "includes with different inputs",
      unit(`${include}include "b" {\n  path = "../b.hcl"\n}\n`, { "live/root.hcl": team1, "live/b.hcl": team2 }),
    ),
    made("once: an include with the same team", root(team1), null),
    made("once: an include without inputs", root('remote_state {\n  backend = "s3"\n}\n'), null),
    made("once: an include with other inputs", root('inputs = {\n  region = "x"\n}\n'), null),
    made("once: the unit's own value replaces that of its include", root(team2, team1), null),
    made("once: an include of an include has no inputs", root(include.replace("root.hcl", "x.hcl"), team1), null),
    otherTeam("values in the unit's folder", unit("", { "live/a/terraform.tfvars": 'team_id = "team_2"\n' })),
    refusedTeam(
      "values in the unit's folder beside inputs",
      unit(team1, { "live/a/x.auto.tfvars": 'team_id = "team_2"\n' }),
    ),
    refusedTeam("a null for a variable that is not nullable", {
      ...unit(inputs("null")),
      "modules/line/v.tf": 'variable "team_id" {\n  default = "team_2"\n  nullable = false\n}\n',
    }),
    made(
      "a unit that is excluded, and another",
      { ...unit(`exclude {\n  if = true\n  actions = ["all"]\n}\n${team1}`), "live/b/terragrunt.hcl": source + team2 },
      /live\/a\/terragrunt\.hcl:1 and live\/b/,
    ),
    otherTeam("a unit that includes its source, and gives another team", {
      "_env/line.hcl": `${source}${team1}`,
      "live/a/terragrunt.hcl": `include "e" {\n  path = "../../_env/line.hcl"\n}\n${team2}`,
    }),
    made(
      "once: a unit that includes its source, and gives the team",
      {
        "_env/line.hcl": `${source}${team2}`,
        "live/a/terragrunt.hcl": `include "e" {\n  path = "../../_env/line.hcl"\n}\n${team1}`,
      },
      null,
    ),
    refusedTeam("a unit in JSON with a labelled include", {
      "live/a/terragrunt.hcl.json":
        '{"include":{"root":{"path":"../root.hcl"}},"terraform":{"source":"../../modules//line"}}',
      "live/root.hcl": "inputs = local.x\n",
    }),
    refusedTeam("a unit in JSON with arguments", {
      "live/a/terragrunt.hcl.json":
        '{"terraform":{"source":"../../modules//line","extra_arguments":{"x":{"commands":["apply"],"arguments":["-var","team_id=x"]}}},"inputs":{"team_id":"team_1"}}',
    }),
    otherTeam("a stack's unit in the module's own folder", {
      "modules/line/terragrunt.hcl": team2,
      "live/terragrunt.stack.hcl": 'unit "a" {\n  source = "../modules/line"\n  path = "a"\n}\n',
    }),
    otherTeam("a unit in the module's own folder", { "modules/line/terragrunt.hcl": team2 }),
    otherTeam("a unit in the module's own folder with an include", {
      "modules/line/terragrunt.hcl": include,
      "root.hcl": team2,
    }),
    otherTeam("a unit in the module's own folder in JSON", {
      "modules/line/terragrunt.hcl.json": '{"inputs":{"team_id":"team_2"}}',
    }),
    made("once: a unit in the module's own folder", { "modules/line/terragrunt.hcl": team1 }, null),
    otherTeam("a unit in JSON", {
      "live/a/terragrunt.hcl.json": '{"terraform":{"source":"../../modules//line"},"inputs":{"team_id":"team_2"}}',
    }),
  ];
}

/**
 * Layouts in which a module runs more than once, because there are several variable files, backend files or workspaces.
 * Also similar layouts in which the module runs once.
 */
export function runFileLayouts(): readonly Layout[] {
  const one = call("core", "./modules/line");
  const variable = 'variable "team" {}\n';
  const state = (backend: string) => ({ "main.tf": `terraform {\n  backend "s3" {${backend}}\n}\n${one}` });
  const pair = (ending: string, text: string) => ({ [`env/a${ending}`]: text, [`env/b${ending}`]: text });
  const named = (ending: string) => new RegExp(`env/a${ending.replaceAll(".", "\\.")}:1 and env/b`);
  return [
    ...[".vars.hcl", ".hcl", ".values.hcl"].flatMap((ending) => [
      made(
        `values in files with the ending ${ending}`,
        { "main.tf": one + variable, ...pair(ending, 'team = "a"\n') },
        named(ending),
      ),
      made(
        `once: other files with the ending ${ending}`,
        { "main.tf": one + variable, ...pair(ending, 'other = "a"\n') },
        null,
      ),
      made(
        `once: a file with the ending ${ending}`,
        { "main.tf": one + variable, [`env/a${ending}`]: 'team = "a"\n' },
        null,
      ),
    ]),
    ...[".conf", ".tfbackend", ".hcl", ".config", ".backend"].flatMap((ending) => [
      made(`backends with the ending ${ending}`, { ...state(""), ...pair(ending, 'key = "a"\n') }, named(ending)),
      made(`once: a backend with the ending ${ending}`, { ...state(""), [`env/a${ending}`]: 'key = "a"\n' }, null),
    ]),
    made(
      "backends of a partial block",
      { ...state(' bucket = "x" '), ...pair(".conf", 'key = "a"\n') },
      named(".conf"),
    ),
    made("once: other settings beside a whole backend", { ...state(' key = "x" '), ...pair(".conf", "x\n") }, null),
    made("once: other settings without a backend", { "main.tf": one, ...pair(".conf", "x\n") }, null),
    ...settingLayouts(one),
    made(
      "values of a root module without variables",
      { "main.tf": one, "a.tfvars": "x = 1\n", "b.tfvars": "x = 2\n" },
      /a\.tfvars:1 and b\.tfvars:1/,
    ),
    {
      ...made("values of the line's own root module", {}, /a\.tfvars:1 and b\.tfvars:1/),
      path: "main.tf",
      files: { "main.tf": line({ team: '"team_1"' }), "a.tfvars": "x = 1\n", "b.tfvars": "x = 2\n" },
    },
    ...workspaceLayouts(one),
  ];
}

/**
 * Layouts with a complete backend and two HCL files next to it. The files contain settings of the backend, or the
 * configuration of other tools.
 */
function settingLayouts(one: string): readonly Layout[] {
  const complete = (body: string, type = "s3") => `terraform {\n  backend "${type}" {\n    ${body}\n  }\n}\n${one}`;
  const pair = (text: string, backend = complete('bucket = "b"\n    key = "k"')) => ({
    "main.tf": backend,
    "config/a.hcl": `${text}\n`,
    "config/b.hcl": `${text}\n`,
  });
  const other = ['datacenter = "dc1"', "ui = true", 'log_level = "INFO"\nserver = true', "x = 1"];
  const settings = [
    ...['key = "a"', 'bucket = "a"', 'region = "x"', 'role_arn = "x"', 'profile = "x"'],
    ...['dynamodb_table = "x"', 'organization = "x"', 'container_name = "x"'],
  ];
  return [
    ...other.flatMap((text) => [
      made(`once: other files with ${text}`, pair(text), null),
      made(`once: other files with ${text} beside gcs`, pair(text, complete('prefix = "p"', "gcs")), null),
    ]),
    ...settings.map((text) => made(`backends that set ${text}`, pair(text), /config\/a\.hcl:1 and config\/b\.hcl:1/)),
    made("files beside a partial backend", pair("x = 1", complete('bucket = "b"')), /config\/a\.hcl:1 and config/),
  ];
}

/**
 * Layouts with several workspaces: either a called module reads the workspace's name, or the backend has many
 * workspaces. Also similar layouts with one workspace.
 */
function workspaceLayouts(one: string): readonly Layout[] {
  const workspace = 'output "w" {\n  value = terraform.workspace\n}\n';
  const other = 'module "x" {\n  source = "./x"\n}\n';
  const remote = (body: string) => ({
    "main.tf": one,
    "v.tf": `terraform {\n  backend "remote" {\n    ${body}\n  }\n}\n`,
  });
  const cloud = (body: string) => ({ "main.tf": one, "v.tf": `terraform {\n  cloud {\n    ${body}\n  }\n}\n` });
  return [
    made("a child module reads the workspace", { "main.tf": one + other, "x/main.tf": workspace }, /x\/main\.tf:2/),
    made(
      "a child of a child reads the workspace",
      { "main.tf": one + other, "x/main.tf": other.replace("./x", "../y"), "y/main.tf": workspace },
      /y\/main\.tf:2/,
    ),
    made(
      "a child of the line's module reads the workspace",
      { "main.tf": one, "modules/line/x.tf": other, "modules/line/x/main.tf": workspace },
      /modules\/line\/x\/main\.tf:2/,
    ),
    made(
      "a child module reads the workspace in JSON",
      { "main.tf": one + other, "x/main.tf.json": `{"locals":{"w":"${OPEN}terraform.workspace}"}}` },
      /x\/main\.tf\.json:1/,
    ),
    made(
      "a module with a computed source reads the workspace",
      { "main.tf": `${one}module "x" {\n  source = "./${OPEN}var.x}"\n}\n`, "x/main.tf": workspace },
      /x\/main\.tf:2|main\.tf:1 and main\.tf:5/,
    ),
    made("once: a module that is not called reads the workspace", { "main.tf": one, "x/main.tf": workspace }, null),
    made(
      "once: another root's module reads the workspace",
      { "main.tf": one, "y/main.tf": other.replace("./x", "../x"), "x/main.tf": workspace },
      null,
    ),
    ...[
      'workspaces {\n      prefix = "a-"\n    }',
      'workspaces = [{ prefix = "a-" }]',
      "workspaces {\n      name = var.x\n    }",
    ].map((body) => made(`a remote backend with ${body}`, remote(body), /v\.tf:[23]/)),
    ...[
      'workspaces {\n      tags = ["a"]\n    }',
      'workspaces {\n      tags = { a = "b" }\n    }',
      "workspaces {\n    }",
      'workspaces = { tags = ["a"] }',
    ].map((body) => made(`a cloud with ${body}`, cloud(body), /v\.tf:[23]/)),
    made(
      "many workspaces in JSON",
      { "main.tf": one, "v.tf.json": '{"terraform":{"backend":{"remote":{"workspaces":{"prefix":"a-"}}}}}' },
      /v\.tf\.json:1/,
    ),
    made(
      "workspaces by tag in JSON",
      { "main.tf": one, "v.tf.json": '{"terraform":[{"cloud":[{"workspaces":[{"tags":["a"]}]}]}]}' },
      /v\.tf\.json:1/,
    ),
    made("once: a remote backend with a name", remote('workspaces {\n      name = "a"\n    }'), null),
    made("once: a cloud with a name", cloud('organization = "a"\n    workspaces {\n      name = "a"\n    }'), null),
    ...['organization = "a"', 'organization = "a"\n    hostname = "tf.example"', ""].flatMap((body) => [
      made(`a cloud with ${body}`, cloud(body), /v\.tf:2/),
      made(`a remote backend with ${body}`, remote(body), /v\.tf:2/),
    ]),
    ...backendWorkspaces(one),
  ];
}

/** Layouts whose backend has a setting for several workspaces, and layouts whose backend only has a similar setting. */
function backendWorkspaces(one: string): readonly Layout[] {
  const backend = (type: string, body: string) => ({
    "main.tf": one,
    "v.tf": `terraform {\n  backend "${type}" {\n    ${body}\n  }\n}\n`,
  });
  const unit = 'terraform {\n  source = "../../modules//line"\n}\ninputs = {\n  team_id = "team_1"\n}\n';
  const state = (config: string) => `remote_state {\n  backend = "s3"\n  config = {\n    ${config}\n  }\n}\n`;
  const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
  const locals = `locals {\n  a = var.env\n  b = "${OPEN}local.a}-x"\n}\n`;
  const variable = { "env.tf": 'variable "env" {}\n', "locals.tf": locals };
  const known = { "env.tf": `variable "env" {\n  default = "prod"\n}\n${locals}` };
  return [
    made("s3 with a prefix", backend("s3", 'key = "k"\n    workspace_key_prefix = "teams"'), /v\.tf:2/),
    made("s3 with an unknown prefix", backend("s3", "workspace_key_prefix = var.x"), /v\.tf:2/),
    made("local with a folder", backend("local", 'workspace_dir = "states"'), /v\.tf:2/),
    made(
      "s3 with a prefix in JSON",
      { "main.tf": one, "v.tf.json": '{"terraform":{"backend":{"s3":{"key":"k","workspace_key_prefix":"x"}}}}' },
      /v\.tf\.json:1/,
    ),
    made(
      "s3 with a prefix in a file",
      { ...backend("s3", ""), "backend.hcl": 'key = "k"\nworkspace_key_prefix = "x"\n' },
      /backend\.hcl:1/,
    ),
    made(
      "the state of a unit",
      { "live/a/terragrunt.hcl": unit + state('workspace_key_prefix = "x"') },
      /a\/terragrunt\.hcl:\d/,
    ),
    made(
      "the state of an include",
      { "live/a/terragrunt.hcl": unit + include, "live/root.hcl": state('workspace_key_prefix = "x"') },
      /live\/root\.hcl:1/,
    ),
    ...[`key = "${OPEN}var.env}/x"`, "bucket = var.env", `prefix = "a-${OPEN}local.b}"`, "path = (var.env)"].flatMap(
      (body) => [
        made(`a state at ${body}`, { ...backend("s3", body), ...variable }, /v\.tf:2.*a state for each value/),
        made(`once: a state at ${body} with a default`, { ...backend("s3", body), ...known }, null),
      ],
    ),
    made(
      "a container in JSON",
      { "main.tf": one, "v.tf.json": `{"terraform":{"backend":{"azurerm":{"container_name":"${OPEN}var.env}"}}}}` },
      /v\.tf\.json:1/,
    ),
    made(
      "once: a state at a given variable",
      { ...backend("gcs", "prefix = var.env"), ...variable, "terraform.tfvars": 'env = "prod"\n' },
      null,
    ),
    made("once: a region that a variable gives", { ...backend("s3", 'key = "my.var.x"\n    region = var.x') }, null),
    made("once: s3 without a prefix", backend("s3", 'bucket = "b"\n    key = "k"'), null),
    made("once: gcs with a prefix", backend("gcs", 'bucket = "b"\n    prefix = "k"'), null),
    made("once: local with a path", backend("local", 'path = "x.tfstate"'), null),
    made("once: the state of a unit", { "live/a/terragrunt.hcl": unit + state('key = "x"') }, null),
    made(
      "once: another root module with a prefix",
      { "main.tf": one, "net/v.tf": backend("s3", 'workspace_key_prefix = "x"')["v.tf"] },
      null,
    ),
  ];
}
