import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { call, made } from "./module-layout.js";

/** Layouts in which a tool runs the root module in one workspace or in several. */
export function workspaceRunLayouts(): readonly Layout[] {
  return [...resourceLayouts(), ...moduleLayouts(), ...projectLayouts()];
}

/** Returns a layout whose root module is in a folder, with more files. */
function inRoot(says: string, root: string, files: TreeFiles, place: RegExp | null): Layout {
  const main = root === "." ? "main.tf" : `${root}/main.tf`;
  const source = root === "." ? "./modules/line" : `${root.replace(/[^/]+/g, "..")}/modules/line`;
  const one = call("core", source).replace("service_team.core.id", '"team_1"');
  return made(`${place === null ? "once: " : ""}${root}: ${says}`, { [main]: one, ...files }, place);
}

/** Layouts with resources that run root modules. */
function resourceLayouts(): readonly Layout[] {
  const vcs = (name = "acme/infra") => `  vcs_repo {\n    identifier = "${name}"\n  }\n`;
  const tfe = (body: string, { name = "a", repository = vcs(), type = "tfe_workspace" } = {}) =>
    `resource "${type}" "${name}" {\n  name = "x"\n  ${body.replaceAll("; ", "\n  ")}\n${repository}}\n`;
  const lift = (body: string, name = "a", repository = '"infra"') =>
    tfe(`repository = ${repository}; ${body}`, { name, repository: "", type: "spacelift_stack" });
  const set = 'for_each = toset(["core", "web"])';
  const at = /in the workspaces at ops\/s\.tf:\d/;
  const ops = (says: string, root: string, text: string, isRefused: boolean) =>
    inRoot(`${says} ${text}`, root, { "ops/s.tf": text }, isRefused ? at : null);
  const many = [
    ...[set, "count = 2", "for_each = var.all", "for_each = { a = 1, b = 2 }"].flatMap((each) => [
      tfe(`${each}; working_directory = "."`),
      tfe(`${each}; working_directory = "."`, { type: "scalr_workspace" }),
      tfe(each),
      lift(`${each}; project_root = "."`),
      lift(each),
    ]),
    tfe('working_directory = ""') + tfe('working_directory = ""', { name: "b" }),
    tfe("") + tfe('working_directory = "/"', { name: "b" }),
    lift("") + lift('project_root = "./"', "b", "var.repository"),
    tfe(set, { repository: `  dynamic "vcs_repo" {\n    for_each = local.x\n    content {\n    }\n  }\n` }),
    tfe(`for_each = { a = ".", b = "." }; working_directory = each.value`),
  ];
  const single = [
    ...['working_directory = "."', "", "count = 1", "count = var.on ? 1 : 0", 'for_each = toset(["core"])'].map(
      (body) => tfe(body),
    ),
    lift('project_root = "."'),
    tfe(`${set}; working_directory = "."`, { repository: vcs("acme/other") }),
    tfe(set, { repository: "" }),
    lift(`${set}; project_root = "."`, "a", '"other"'),
    tfe(`${set}; working_directory = "net"`),
    tfe('working_directory = "."') + tfe('working_directory = "net"', { name: "b" }),
    `data "tfe_workspace" "a" {\n  ${set}\n  name = each.key\n}\n`,
  ];
  const folder = (text: string) => text.replaceAll(/= "\.\/?"/g, '= "envs/core"');
  const apart = [`envs/${OPEN}each.key}`, `envs/${OPEN}each.value}`, `${OPEN}each.key}`].map((name) =>
    tfe(`${set}; working_directory = "${name}"`),
  );
  return [
    ...many.map((text) => ops("several:", ".", text, true)),
    ...single.map((text) => ops("one:", ".", text, false)),
    ...[many[0], many[3], many[5], many[8]].map((text = "") => ops("several:", "envs/core", folder(text), true)),
    ...apart.map((text) => ops("one:", "envs/core", text, false)),
    ops("several:", "envs/core", tfe(`${set}; working_directory = "envs/${OPEN}var.env}"`), true),
    ops("several:", "envs/core", tfe(`for_each = local.x; working_directory = each.value.dir`), true),
    inRoot(
      "several in JSON",
      ".",
      {
        "ops/s.tf.json":
          '{"resource":{"tfe_workspace":{"a":{"count":2,"name":"x","working_directory":".","vcs_repo":{"identifier":"acme/infra"}}}}}',
      },
      /ops\/s\.tf\.json:1/,
    ),
    inRoot("two in two files", ".", { "ops/a.tf": tfe(""), "ops/b.tf": tfe("") }, /ops\/a\.tf:1 and ops\/b\.tf:1/),
  ];
}

/** Layouts in which other modules call a module with resources that run root modules. */
function moduleLayouts(): readonly Layout[] {
  const root = "envs/core";
  const workspace = (folder: string, type = "tfe_workspace", more = "") =>
    `resource "${type}" "this" {\n  name = var.name\n  ${folder}\n${more}  vcs_repo {\n    identifier = "acme/infra"\n  }\n}\n`;
  const given = "working_directory = var.dir";
  const variable = (value: string) => `variable "dir" {\n  default = ${value}\n}\n`;
  const called = (name: string, body: string, source = "./workspace") =>
    `module "${name}" {\n  source = "${source}"\n${body.replace(/^(?=.)/gm, "  ")}}\n`;
  const layout = (calls: string, place: RegExp | null, module = workspace(given), more: TreeFiles = {}) =>
    inRoot(
      `a module with ${module.replace(/\s+/g, " ")}, and ${calls.replace(/\s+/g, " ")}`,
      root,
      { "ops/main.tf": calls, "ops/workspace/main.tf": module, ...more },
      place,
    );
  const dir = `dir = "${root}"\n`;
  const each = 'for_each = toset(["core", "web"])\n';
  const [one, two] = [called("a", dir), called("b", dir)];
  const first = /at ops\/main\.tf:1\./;
  const both = /at ops\/main\.tf:1 and ops\/main\.tf:5/;
  const nested = {
    "ops/workspace/main.tf": called("x", "dir = var.dir\n", "../inner"),
    "ops/inner/main.tf": workspace(given),
  };
  return [
    layout(one + two, both),
    layout(called("a", each + dir), first),
    layout(called("a", `count = 2\n${dir}`), first),
    layout(called("a", each + dir), first, workspace("project_root = var.dir", "spacelift_stack")),
    layout(called("a", each + dir), first, workspace(`working_directory = "./${OPEN}var.dir}"`)),
    layout(one + called("b", "dir = local.dir\n"), both),
    layout(called("a", "x = 1\n") + called("b", ""), both, workspace(given) + variable(`"${root}"`)),
    layout(one + two, both, workspace(given), nested),
    layout(one, /at ops\/workspace\/main\.tf:1\./, workspace(given, "tfe_workspace", "  count = 2\n")),
    layout(one, null),
    layout(one + called("b", 'dir = "net"\n'), null),
    layout(called("a", `${each}dir = "envs/${OPEN}each.key}"\n`), null),
    layout(called("a", each + dir), null, workspace(given).replace("acme/infra", "acme/other")),
    layout(one + called("b", ""), null, workspace(given) + variable('"net"')),
    layout(one + called("b", 'dir = "net"\n'), null, workspace(given), nested),
    layout(called("a", `${each}dir = "x"\n`), null, workspace(`working_directory = "envs/${OPEN}var.dir}"`)),
  ];
}

/** Layouts with files that list the projects of a tool. */
function projectLayouts(): readonly Layout[] {
  const projects = (...dirs: readonly string[]) =>
    `version: 3\nprojects:\n${dirs.map((dir, at) => `- name: p${at}\n  dir: ${dir}\n  workspace: w${at}\n`).join("")}`;
  const flow = 'version: 3\nprojects: [{dir: ".", workspace: core}, {dir: ".", workspace: web}]\n';
  return ["atlantis.yaml", "digger.yml"].flatMap((name) => {
    const at = (line: number) => new RegExp(`at ${name.replace(".", "\\.")}:3 and ${name.replace(".", "\\.")}:${line}`);
    const listed = (root: string, text: string, place: RegExp | null) =>
      inRoot(`${name} with ${text}`, root, { [name]: text }, place);
    return [
      listed(".", projects(".", "."), at(6)),
      listed(".", projects(".", "./"), at(6)),
      listed(".", projects('"."', "net", "."), at(9)),
      listed(".", projects("net/..", "."), at(6)),
      listed("envs/core", projects("envs/core", "./envs/core/"), at(6)),
      listed(".", flow, new RegExp(`at ${name}:2 and ${name}:2`)),
      listed(".", projects("."), null),
      listed(".", projects(".", "net"), null),
      listed("envs/core", projects("envs/core", "envs/web"), null),
      listed(".", "version: 3\n", null),
      listed(".", "projects: [", null),
      listed(".", `# ${projects(".", ".").replaceAll("\n", "\n# ")}\n`, null),
    ];
  });
}
