import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line } from "./layout.js";
import { call, idle, made } from "./module-layout.js";

/** Layouts in which runs use a fixed version, or a branch other than the one that the edit is merged into. */
export function branchLayouts(): readonly Layout[] {
  return [...publishedLayouts(), ...workflowLayouts(), ...fluxLayouts()];
}

/** Layouts that call the module by its address in a registry. The edited repository is `acme/infra`. */
function publishedLayouts(): readonly Layout[] {
  const version = (written: string) => `  version = ${written}\n`;
  const published = (source: string, written: string) => ({ "main.tf": call("core", source, version(written)) });
  const names = ["acme/line/service", "app.terraform.io/acme/line/service", "registry.code.example/acme/line/service"];
  return [
    ...names.flatMap((name) =>
      ['"1.2.0"', '"~> 1.0"', "var.line"].map((written) =>
        idle(`${name} ${written}`, published(name, written), /main\.tf:1, which uses it at the ref/),
      ),
    ),
    made(
      "a published module beside a call",
      { "main.tf": call("core", "./modules/line"), "b.tf": call("b", "acme/line/service", version('"1.0"')) },
      /main\.tf:1 and b\.tf:1|b\.tf:1 and main\.tf:1/,
    ),
    ...["acme/net/service", "other/line/service", "acme/line/service//sub"].map((name) =>
      made(
        `once: beside ${name}`,
        { "main.tf": call("core", "./modules/line"), "b.tf": call("b", name, version('"1.0"')) },
        null,
      ),
    ),
  ];
}

const path = "lines/main.tf";

function of(says: string, files: TreeFiles, place: RegExp | null): Layout {
  return {
    says,
    path,
    change: "model",
    files: { [path]: line({ team: '"team_1"' }), ...files },
    refused: place === null ? null : { code: "not-proven", place },
  };
}

/** Layouts with workflows that apply the root module. */
function workflowLayouts(): readonly Layout[] {
  const workflow = (on: string, command = "terraform -chdir=lines apply") =>
    `on:\n${on.replace(/^(?=.)/gm, "  ")}\njobs:\n  a:\n    steps:\n      - run: ${command}\n`;
  const one = (on: string, place: RegExp | null, more: TreeFiles = {}) =>
    of(`a workflow ${on}`, { ".github/workflows/a.yml": workflow(on), ...more }, place);
  const at = /Only the branch release.*, at \.github\/workflows\/a\.yml:3, is run/;
  const release = "push:\n  branches: [release]";
  return [
    one(release, at),
    one("push:\n  branches: release", at),
    one("push:\n  branches:\n    - release/**", at),
    one("push:\n  branches: [release, 'release-*']", at),
    one(`${release}\npull_request:`, /Only the branch release/),
    one(`${release}\n  paths: [lines/**]`, at),
    one(release, at, {
      ".github/workflows/b.yml": workflow("push:\n  branches: [main]", "terraform -chdir=net apply"),
    }),
    one(release, at, { ".github/workflows/b.yml": workflow("pull_request:", "terraform -chdir=lines plan") }),
    one("push:\n  branches: [main, release]", null),
    one("push:\n  branches: ['**']", null),
    one("push:\n  branches: [release, '!x']", null),
    one("push:", null),
    one(`${release}\nworkflow_dispatch:`, null),
    one("push:\n  tags: [v*]", null),
    one(release, null, { ".github/workflows/b.yml": workflow("push:\n  branches: [main]") }),
    one(release, null, { Makefile: "apply:\n\tterraform -chdir=lines apply\n" }),
    of("a plan", { ".github/workflows/a.yml": workflow(release, "terraform -chdir=lines plan") }, null),
    of("another module", { ".github/workflows/a.yml": workflow(release, "terraform -chdir=net apply") }, null),
  ];
}

/** Layouts in which Flux runs the root module. */
function fluxLayouts(): readonly Layout[] {
  const source = (ref: string, name = "infra") =>
    `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: ${name}\nspec:\n  url: https://code.example/acme/infra\n${ref === "" ? "" : `  ref:\n    ${ref}\n`}`;
  const terraform = (name = "infra", folder = "./lines") =>
    `apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\nmetadata:\n  name: lines\nspec:\n  path: ${folder}\n  sourceRef:\n    kind: GitRepository\n    name: ${name}\n`;
  const one = (ref: string, isOther: boolean) => {
    const place = isOther ? /Only the branch .*, at flux\/s\.yaml:7, is run/ : null;
    return [
      of(`Flux: ${ref}`, { "flux/s.yaml": source(ref), "flux/t.yaml": terraform() }, place),
      of(`Flux in one file: ${ref}`, { "flux/s.yaml": `${source(ref)}---\n${terraform()}` }, place),
    ];
  };
  return [
    ...["branch: release", "tag: v1", "semver: '>=1.0'", "commit: 0a1b2c3", "name: refs/heads/release"].flatMap((ref) =>
      one(ref, true),
    ),
    ...["branch: main", "name: refs/heads/main", ""].flatMap((ref) => one(ref, false)),
    of(
      "Flux: another repository",
      { "flux/s.yaml": source("branch: release", "other"), "flux/t.yaml": terraform() },
      null,
    ),
    of(
      "Flux: another folder",
      { "flux/s.yaml": source("branch: release"), "flux/t.yaml": terraform("infra", "./net") },
      null,
    ),
  ];
}
