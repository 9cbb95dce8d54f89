import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";

/** Layouts with files that make a tool run a root module: CI, build files, scripts, hooks and environment files. */
export function runSettingLayouts(): readonly Layout[] {
  return [...workspaceLayouts(), ...stateLayouts(), ...variableLayouts(), ...valueFileLayouts()];
}

/** An expression of GitHub Actions: `${{ name }}`. */
const github = (name: string) => `$${OPEN.slice(1)}{ ${name} }}`;
const steps = (...commands: readonly string[]) =>
  `on: push\njobs:\n  apply:\n    steps:\n${commands.map((each) => `      - run: ${each}\n`).join("")}`;
const CI = ".github/workflows/apply.yml";

/**
 * Returns a layout whose root module is in the folder `root`. `place` matches the file and line that the refusal names;
 * null if the edit succeeds.
 */
function run(says: string, files: TreeFiles, place: RegExp | null, { root = "lines", team = '"team_1"' } = {}): Layout {
  const path = root === "." ? "main.tf" : `${root}/main.tf`;
  const whole = { [path]: line({ team }), "net/main.tf": "locals {\n}\n", ...files };
  return {
    says: `${root}: ${says}`,
    path,
    change: "model",
    files: whole,
    refused: place === null ? null : { code: "ambiguous", place },
  };
}

function workspaceLayouts(): readonly Layout[] {
  const plain = ["terraform init", "terraform plan -out=p", "terraform apply p", "tflint", "terraform-docs ."];
  const select = (value: string, program = "terraform") => `${program} workspace select ${value}`;
  const hook = (...words: readonly string[]) =>
    `terraform {\n  before_hook "w" {\n    commands = ["apply"]\n    execute = [${words.join(", ")}]\n  }\n}\n`;
  const refused: readonly (readonly [string, string, number])[] = [
    [CI, steps(select(github("matrix.env"))), 5],
    [CI, steps(select("-or-create $ENV", "tofu")), 5],
    [CI, `env:\n  TF_WORKSPACE: ${github("inputs.env")}\n${steps(...plain)}`, 2],
    [".gitlab-ci.yml", `apply:\n  script:\n    - ${select("$CI_ENVIRONMENT_NAME")}\n    - terraform apply\n`, 3],
    ["azure-pipelines.yml", `steps:\n- script: |\n    terraform init\n    ${select("$(env)")}\n`, 4],
    ["Jenkinsfile", `node {\n  sh "${select(`${OPEN}params.ENV}`)} || ${select("x")}"\n}\n`, 2],
    [".buildkite/pipeline.yml", `steps:\n  - command: ${select("core")}\n  - command: ${select("web")}\n`, 2],
    ["Makefile", `apply-%:\n\t${select("$*")}\n`, 2],
    ["Makefile", `ENV ?= core\napply:\n\t${select("$(ENV)")}\n`, 3],
    ["justfile", `apply env:\n  terraform workspace new {{env}}\n`, 2],
    ["Taskfile.yml", `tasks:\n  apply:\n    cmds:\n      - ${select("{{.ENV}}")}\n`, 4],
    ["scripts/apply.sh", `#!/bin/sh\nterraform \\\n  workspace select "$1"\nterraform apply\n`, 2],
    ["scripts/apply", `#!/bin/sh\n${select("$1", "$TF")}\n`, 2],
    ["package.json", `{"scripts":{"apply":"${select("$ENV")}"}}\n`, 1],
    [".env.core", "TF_WORKSPACE=core\n", 1],
    [".envrc", "export TF_WORKSPACE=$USER\n", 1],
    [
      "s.tm.hcl",
      `script "d" {\n  job {\n    commands = [["terraform", "workspace", "select", global.env]]\n  }\n}\n`,
      3,
    ],
    ["root.hcl", hook('"terraform"', '"workspace"', '"select"', 'get_env("ENV")'), 4],
    [
      "root.hcl.json",
      '{"terraform":{"before_hook":{"w":{"commands":["apply"],"execute":["tofu","workspace","new","' +
        OPEN +
        'get_env(1)}"]}}}}',
      1,
    ],
  ];
  const at = (path: string, row: number) => new RegExp(`at ${path.replaceAll(".", "\\.")}:${row}\\b`);
  const more: TreeFiles = { ".env.web": "TF_WORKSPACE=web\n" };
  const edited: readonly (readonly [string, string])[] = [
    [CI, steps(...plain)],
    [CI, steps(select("lines"), ...plain)],
    [CI, steps(`${select("lines")} || terraform workspace new lines`)],
    [CI, steps(`cd net && ${select("$ENV")}`, ...plain)],
    [
      CI,
      `jobs:\n  net:\n    defaults:\n      run:\n        working-directory: net\n    steps:\n      - run: ${select("$ENV")}\n`,
    ],
    [CI, steps("terraform -chdir=net workspace select $ENV", "terraform -chdir=lines apply")],
    [
      CI,
      `jobs:\n  a:\n    strategy:\n      matrix:\n        dir: [lines, net]\n    steps:\n      - run: terraform apply\n        working-directory: ${github("matrix.dir")}\n`,
    ],
    ["net/Makefile", `apply:\n\t${select("$(ENV)")}\n`],
    ["Makefile", `ENV := core\napply:\n\t${select("$(ENV)")}\n`],
    ["Makefile", `# ${select("$(ENV)")}\napply:\n\tterraform apply\n`],
    [".env", "TF_WORKSPACE=core\n"],
    ["docs/README.md", `Run ${select("$ENV")}.\n`],
    ["scripts/list.sh", "terraform workspace list\nterraform workspace show\n"],
  ];
  return [".", "lines"].flatMap((root) => [
    ...refused.map(([path, text, row]) =>
      run(`${path}: ${text}`, { [path]: text, ...(path === ".env.core" ? more : {}) }, at(path, row), { root }),
    ),
    ...edited.map(([path, text]) => run(`${path}: ${text}`, { [path]: text }, null, { root })),
  ]);
}

function stateLayouts(): readonly Layout[] {
  const init = (value: string) => `terraform init -backend-config=${value}`;
  const files = { "lines/backend.tf": 'terraform {\n  backend "s3" {}\n}\n' };
  const ci = (says: string, text: string, place: RegExp | null) => run(says, { ...files, [CI]: text }, place);
  const at = new RegExp(`at ${CI}:\\d`);
  return [
    ...[
      steps(init(`key=${github("matrix.env")}.tfstate`)),
      steps(init(`"key=$ENV.tfstate"`)),
      steps(init("key=core.tfstate"), init("key=web.tfstate")),
      steps(init(`bucket=state-${github("matrix.env")}`)),
      steps(init(`env/${github("matrix.env")}.tfbackend`)),
      `variables:\n  TF_STATE_NAME: $CI_ENVIRONMENT_NAME\n${steps("gitlab-terraform apply")}`,
    ].map((text) => ci(text, text, at)),
    ...[
      steps(init("key=core.tfstate"), "terraform apply"),
      steps(init(`bucket=${github("secrets.STATE")}`)),
      steps(init(`key=${github("github.repository")}/lines.tfstate`)),
      steps(init('"region=$AWS_REGION"')),
      `variables:\n  TF_STATE_NAME: default\n${steps("gitlab-terraform apply")}`,
      steps(init("backend.hcl")),
    ].map((text) => ci(text, text, null)),
  ];
}

function variableLayouts(): readonly Layout[] {
  const given = (value: string) => `TF_VAR_team_id: ${value}`;
  const declared = { "lines/v.tf": 'variable "team_id" {\n}\n' };
  const usual = { "lines/v.tf": 'variable "team_id" {\n  default = "team_1"\n}\n' };
  const of = (path: string, text: string, place: RegExp | null, more: TreeFiles = usual) =>
    run(`${path}: ${text}`, { ...more, [path]: text }, place, { team: "var.team_id" });
  const refused: readonly (readonly [string, string])[] = [
    [CI, `env:\n  ${given("team_2")}\n${steps("terraform apply")}`],
    [CI, `env:\n  ${given(github("matrix.team"))}\n${steps("terraform apply")}`],
    [CI, steps("terraform apply -var team_id=team_2")],
    [CI, steps("terraform apply -var='team_id=team_2'")],
    [
      ".gitlab-ci.yml",
      `a:\n  parallel:\n    matrix:\n      - TF_VAR_team_id: [team_1, team_2]\n  script: [terraform apply]\n`,
    ],
    ["Makefile", "web:\n\tterraform -chdir=lines apply -var team_id=$(WEB)\n"],
    ["scripts/apply.sh", 'export TF_VAR_team_id="$1"\nterraform apply\n'],
    ["scripts/apply.sh", 'terraform apply -var "$2"\n'],
    ["scripts/apply.py", 'os.environ["TF_VAR_team_id"] = team\n'],
    [".env.web", "TF_VAR_team_id=team_2\n"],
    ["lines/.env", "TF_VAR_team_id=team_2\n"],
    ["pod.yaml", "spec:\n  env:\n    - name: TF_VAR_team_id\n      value: team_2\n"],
    ["s.tm.hcl", 'script "d" {\n  job {\n    commands = [["terraform", "apply", "-var", "team_id=team_2"]]\n  }\n}\n'],
  ];
  const edited: readonly (readonly [string, string])[] = [
    [CI, `env:\n  ${given("team_1")}\n${steps("terraform apply")}`],
    [CI, `env:\n  TF_VAR_token: ${github("secrets.TOKEN")}\n${steps("terraform apply -var region=$REGION")}`],
    ["Makefile", "apply:\n\tterraform apply -var team_id=team_1\n"],
    ["net/Makefile", "apply:\n\tterraform apply -var team_id=team_2\n"],
    [".env.example", "# TF_VAR_team_id=team_2\n"],
    ["scripts/other.sh", "cd net\nterraform apply -var team_id=team_2\n"],
  ];
  return [
    ...refused.map(([path, text]) => of(path, text, new RegExp(`${path.replaceAll(".", "\\.")}:\\d`))),
    ...edited.map(([path, text]) => of(path, text, null)),
    of(CI, `env:\n  ${given(github("secrets.TEAM"))}\n${steps("terraform apply")}`, null, declared),
    of(CI, `env:\n  ${given("$TEAM")}\n${steps("terraform apply")}`, new RegExp(`${CI}:2`), declared),
  ];
}

function valueFileLayouts(): readonly Layout[] {
  const files = { "lines/v.tf": 'variable "team_id" {\n}\n' };
  const team = (name: string) => `{"team_id":"${name}"}\n`;
  const both = { "env/core.json": team("team_1"), "env/web.json": team("team_2") };
  const of = (text: string, more: TreeFiles, place: RegExp | null) =>
    run(text, { ...files, ...more, "scripts/apply.sh": text }, place, { team: "var.team_id" });
  const at = /at (scripts\/apply\.sh|env\/web\.json):\d/;
  return [
    of('terraform apply -var-file="../env/$1.json"\n', both, at),
    of(`terraform apply -var-file=env/${OPEN}ENV}.json\n`, both, at),
    of('terraform apply -var-file "$FILE"\n', {}, at),
    of("terraform apply -var-file ../env/core.json\nterraform apply -var-file ../env/web.json\n", both, at),
    of("terraform -chdir=lines apply -var-file=../env/$(ENV).tfvars\n", {}, at),
    of(
      "terraform apply -var-file=../env/web.json\n",
      { ...both, "lines/v.tf": 'variable "team_id" {\n  default = "team_1"\n}\n' },
      /env\/web\.json:1/,
    ),
    of("terraform apply -var-file=../env/core.json\n", both, null),
    of('terraform apply -var-file="$1.tfvars"\n', { "lines/core.tfvars": 'team_id = "team_1"\n' }, null),
    of("terraform apply -var-file=core.tfvars\n", { "lines/core.tfvars": 'team_id = "team_1"\n' }, null),
    of("terraform -chdir=net apply -var-file=../env/$1.json\n", both, null),
  ];
}
