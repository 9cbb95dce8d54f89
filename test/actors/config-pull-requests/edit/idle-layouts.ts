import { type Layout, OPEN } from "./layout.js";
import { call, idle, made } from "./module-layout.js";

/** Layouts in which no run uses the edited module, and similar layouts in which a run uses it. */
export function idleLayouts(): readonly Layout[] {
  return [...pinnedLayouts(), ...skippedLayouts(), ...destroyedLayouts()];
}

const LINE = "git::https://code.example/acme/infra.git//modules/line";

/** Layouts in which a call uses the repository at a ref. */
function pinnedLayouts(): readonly Layout[] {
  const unit = (source: string) => ({
    "live/a/terragrunt.hcl": `terraform {\n  source = "${source}"\n}\ninputs = {\n  team_id = "team_1"\n}\n`,
  });
  const other = [
    ...["v1.2.0", "1.2", "line/v3.0.0", "refs/tags/v1", "0a1b2c3", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"],
    ...["staging", "release-2", "refs/heads/next", "master", `${OPEN}var.ref}`, `v${OPEN}local.none}`],
  ].map((ref) => `${LINE}?ref=${ref}`);
  const forms = [
    `${LINE}?depth=1&ref=v1.2.0`,
    "git::ssh://git@code.example:2222/acme/infra.git//modules/line?ref=v1&depth=1",
    "git@code.example:acme/infra.git//modules/line?ref=v1",
    "github.com/acme/infra//modules/line?ref=v1",
    "https://code.example/acme/infra/archive/v1.2.0.zip//infra-1.2.0/modules/line",
    "https://code.example/acme/infra/archive/refs/tags/v1.2.0.tar.gz//infra-1.2.0/modules/line",
  ];
  const same = ["?ref=main", "?ref=refs/heads/main", "?ref=HEAD", "?ref=", "?depth=1", ""].map(
    (query) => `${LINE}${query}`,
  );
  const archive = "https://code.example/acme/infra/archive";
  const local = (value: string) => `locals {\n  ref = ${value}\n}\n`;
  const withLocal = (value: string, source = `${LINE}?ref=${OPEN}local.ref}`) => call("core", source) + local(value);
  const team = `variable "team_id" {}\nmodule "line" {\n  source  = "../line"\n  team_id = var.team_id\n}\n`;
  return [
    ...[...other, ...forms].flatMap((source) => [
      idle(`a call of ${source}`, { "main.tf": call("core", source) }, /main\.tf:1, which uses it at the ref/),
      idle(`a unit of ${source}`, unit(source), /live\/a\/terragrunt\.hcl:1, which uses it at the ref/),
    ]),
    ...[
      ...same,
      `${archive}/main.zip//infra-main/modules/line`,
      `${archive}/refs/heads/main.tar.gz//x/modules/line`,
    ].flatMap((source) => [
      made(`once: a call of ${source}`, { "main.tf": call("core", source) }, null),
      made(`once: a unit of ${source}`, unit(source), null),
    ]),
    idle("a ref in a local", { "main.tf": withLocal('"v1"') }, /main\.tf:1, which uses it at the ref v1\./),
    idle(
      "a source in a local",
      {
        "main.tf": withLocal(`"${LINE}?ref=v2"`, "x").replace('"x"', "local.ref"),
      },
      /main\.tf:1, which uses it at the ref v2\./,
    ),
    made("once: a branch in a local", { "main.tf": withLocal('"main"') }, null),
    idle(
      "a call in JSON",
      {
        "main.tf.json": `{"module":{"core":{"source":"${LINE}?ref=v1","team_id":"team_1"}}}`,
      },
      /main\.tf\.json:1, which/,
    ),
    idle(
      "a component",
      { "s.tfcomponent.hcl": `component "a" {\n  source = "${LINE}?ref=v1"\n  inputs = { team_id = "team_1" }\n}\n` },
      /s\.tfcomponent\.hcl:1, which/,
    ),
    idle(
      "a unit of a stack",
      {
        "units/line/terragrunt.hcl": unit("../../modules//line")["live/a/terragrunt.hcl"],
        "live/terragrunt.stack.hcl": `unit "a" {\n  source = "${LINE.replace("modules", "units")}?ref=v1"\n  path = "a"\n}\n`,
      },
      /live\/terragrunt\.stack\.hcl:1, which/,
    ),
    idle(
      "the caller of the caller",
      { "modules/team/main.tf": team, "main.tf": call("core", `${LINE.replace("line", "team")}?ref=v1`) },
      /main\.tf:1, which/,
    ),
    idle(
      "a source of an include",
      {
        "_env/line.hcl": `terraform {\n  source = "${LINE}?ref=v1"\n}\n`,
        "live/a/terragrunt.hcl":
          'include "e" {\n  path = "../../_env/line.hcl"\n}\ninputs = {\n  team_id = "team_1"\n}\n',
      },
      /_env\/line\.hcl:1, which/,
    ),
  ];
}

/** Layouts in which Terragrunt skips or excludes the unit. */
function skippedLayouts(): readonly Layout[] {
  const source = 'terraform {\n  source = "../../modules//line"\n}\ninputs = {\n  team_id = "team_1"\n}\n';
  const unit = (text: string, more = {}) => ({ "live/a/terragrunt.hcl": source + text, ...more });
  const exclude = (body: string) => `exclude {\n  ${body.replaceAll("; ", "\n  ")}\n}\n`;
  const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';
  const at = /unit is skipped at live\/a\/terragrunt\.hcl:\d/;
  return [
    ...[
      "skip = true\n",
      "skip = (true)\n",
      exclude('if = true; actions = ["all"]'),
      exclude('if = (true); actions = ["plan", "apply"]'),
      exclude('if = true; actions = ["all_except_output"]; exclude_dependencies = false'),
      exclude('actions = ["apply"]; if = true; no_run = true'),
    ].map((text) => idle(`a unit with ${text}`, unit(text), at)),
    ...[
      "skip = false\n",
      "skip = local.skip\n",
      exclude('if = false; actions = ["all"]'),
      exclude('if = feature.x.value; actions = ["all"]'),
      exclude('if = true; actions = ["plan"]'),
      exclude("if = true; actions = local.actions"),
    ].map((text) => made(`once: a unit with ${text}`, unit(text), null)),
    idle(
      "a unit in JSON",
      {
        "live/a/terragrunt.hcl.json":
          '{"skip":true,"terraform":{"source":"../../modules//line"},"inputs":{"team_id":"team_1"}}',
      },
      /live\/a\/terragrunt\.hcl\.json:1/,
    ),
    idle(
      "a unit in the module's folder",
      { "modules/line/terragrunt.hcl": 'skip = true\ninputs = {\n  team_id = "team_1"\n}\n' },
      /line\/terragrunt\.hcl:1/,
    ),
    idle(
      "an exclude of an include",
      unit(include, { "live/root.hcl": exclude('if = true; actions = ["all"]') }),
      /live\/root\.hcl:1/,
    ),
    idle(
      "a unit that includes its source",
      {
        "_env/line.hcl": 'terraform {\n  source = "../../modules//line"\n}\n',
        "live/a/terragrunt.hcl":
          'skip = true\ninclude "e" {\n  path = "../../_env/line.hcl"\n}\ninputs = {\n  team_id = "team_1"\n}\n',
      },
      /live\/a\/terragrunt\.hcl:1/,
    ),
    made("once: a skip of an include", unit(include, { "live/root.hcl": "skip = true\n" }), null),
    made(
      "once: the unit's exclude replaces that of its include",
      unit(include + exclude('if = false; actions = ["all"]'), {
        "live/root.hcl": exclude('if = true; actions = ["all"]'),
      }),
      null,
    ),
  ];
}

/** Layouts in which a stack removes its component or its deployments. */
function destroyedLayouts(): readonly Layout[] {
  const component = 'component "a" {\n  source = "./modules/line"\n  inputs = { team_id = "team_1" }\n}\n';
  const removed = 'removed {\n  source = "./modules/line"\n  from = component.a\n}\n';
  const deployment = (name: string, destroy: string) => `deployment "${name}" {\n  inputs = {}\n  ${destroy}\n}\n`;
  const stack = (deployments: string, components = component) => ({
    "a.tfcomponent.hcl": components,
    ...(deployments === "" ? {} : { "d.tfdeploy.hcl": deployments }),
  });
  const at = /deployment is destroyed at d\.tfdeploy\.hcl:1/;
  return [
    ...["destroy = true", "destroy = (true)", 'destroy = "true"'].map((text) =>
      idle(`a deployment with ${text}`, stack(deployment("a", text)), at),
    ),
    idle("two destroyed deployments", stack(deployment("a", "destroy = true") + deployment("b", "destroy = true")), at),
    idle(
      "a destroyed deployment in JSON",
      { "a.tfcomponent.hcl": component, "d.tfdeploy.json": '{"deployment":{"a":{"inputs":{},"destroy":true}}}' },
      /d\.tfdeploy\.json:1/,
    ),
    ...["false", "(false)", '"false"'].map((value) =>
      idle(
        `a call with enabled = ${value}`,
        { "main.tf": call("core", "./modules/line", `  lifecycle {\n    enabled = ${value}\n  }\n`) },
        /main\.tf:1, which creates no instance/,
      ),
    ),
    idle("only a removed block", stack("", removed), /a\.tfcomponent\.hcl:1, which creates no instance/),
    ...["", "destroy = false", "destroy = local.x"].map((text) =>
      made(`once: a deployment with ${text}`, stack(deployment("a", text)), null),
    ),
    made(
      "once: a deployment beside a destroyed one",
      stack(deployment("a", "") + deployment("b", "destroy = true")),
      null,
    ),
    made("once: a component beside a removed block", stack(deployment("a", ""), component + removed), null),
    made(
      "two deployments and a destroyed one",
      stack(deployment("a", "") + deployment("b", "destroy = true") + deployment("c", "")),
      /d\.tfdeploy\.hcl:1 and d\.tfdeploy\.hcl:\d/,
    ),
  ];
}
