import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { call, made } from "./module-layout.js";

/**
 * Layouts in which a command applies a called module as a root module, and layouts in which a similar command applies
 * another module.
 */
export function rootRunLayouts(): readonly Layout[] {
  const of = (says: string, files: TreeFiles, place: RegExp | null) =>
    made(says, { "main.tf": call("core", "./modules/line"), ...files }, place);
  const workflow = (body: string) => ({ ".github/workflows/a.yml": `on: push\njobs:\n  a:\n    ${body}\n` });
  const step = (folder: string, command: string) =>
    workflow(`steps:\n      - run: ${command}\n        working-directory: ${folder}`);
  const matrix = (list: string, more = "") =>
    workflow(
      `${more}strategy:\n      matrix:\n        dir: ${list}\n    steps:\n      - run: terraform apply\n        working-directory: ${OPEN}{ matrix.dir }}`,
    );
  const runs: readonly ((folder: string, verb?: string) => TreeFiles)[] = [
    (folder, verb = "apply") => ({ Makefile: `deploy:\n\tterraform -chdir=${folder} ${verb} -auto-approve\n` }),
    (folder, verb = "apply") => ({ Makefile: `deploy:\n\tcd ${folder} && terraform init && tofu ${verb}\n` }),
    (folder, verb = "apply") => ({ "scripts/a.sh": `#!/bin/sh\nset -e\ncd ${folder}\nterraform ${verb}\n` }),
    (folder, verb = "apply") => step(folder, `terraform ${verb}`),
    (folder, verb = "apply") =>
      workflow(
        `defaults:\n      run:\n        working-directory: ${folder}\n    steps:\n      - run: terraform ${verb} plan.out`,
      ),
    (folder, verb = "apply") => ({ ".gitlab-ci.yml": `a:\n  script:\n    - cd ${folder}\n    - terraform ${verb}\n` }),
    (folder, verb = "apply") => ({
      "Taskfile.yml": `tasks:\n  a:\n    dir: ${folder}\n    cmds:\n      - terragrunt ${verb}\n`,
    }),
    (folder, verb = "apply") => ({ Jenkinsfile: `node {\n  dir('${folder}') {\n    sh 'terraform ${verb}'\n  }\n}\n` }),
  ];
  const at = /also run as a root module: [\w./-]+:\d+ applies it/;
  return [
    ...runs.flatMap((run, index) => [
      ...["modules/line", "./modules/line/"].map((folder) => of(`${index}: ${folder}`, run(folder), at)),
      ...["modules/net"].map((folder) => of(`${index}: ${folder}`, run(folder), null)),
      ...["validate", "init -backend=false", "fmt -check", "plan", "test"]
        .filter((_, row) => row === index % 5)
        .map((verb) => of(`${index}: ${verb}`, run("modules/line", verb), null)),
    ]),
    of("a matrix", matrix("[live, modules/line]"), at),
    of("a matrix of other modules", matrix("[live, modules/net]"), null),
    of(
      "a matrix of other modules, for changes of this one",
      { ...matrix("[live]"), ".github/workflows/b.yml": "on:\n  push:\n    paths: [modules/line/**]\n" },
      null,
    ),
    of("a loop", { Makefile: "a:\n\tfor d in modules/*; do terraform -chdir=$$d apply; done\n" }, at),
    of("a loop of other modules", { Makefile: "a:\n\tfor d in live/*; do terraform -chdir=$$d apply; done\n" }, null),
    of("a build file in the module", { "modules/line/Makefile": "a:\n\tterraform apply\n" }, at),
    of("tests in the module", { "modules/line/test/a.sh": "cd ../examples/a\nterraform apply\n" }, null),
    of("the root", { Makefile: "apply:\n\tterraform init\n\tterraform apply\n" }, null),
    of("kubectl", { Makefile: "apply:\n\tcd modules/line && kubectl apply -f x.yaml\n" }, null),
    of(
      "a target",
      { Makefile: "lint:\n\tterraform -chdir=modules/line validate\napply: lint\n\tterraform apply\n" },
      null,
    ),
  ];
}
