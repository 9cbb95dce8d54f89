import { type Layout, line, OPEN } from "./layout.js";
import { call, made } from "./module-layout.js";

/**
 * Layouts in which an override file may change a call of the module. The first layouts cover each form of the file's
 * name. In the last layout, the override file changes a different call, so the edit succeeds.
 */
export function overrideLayouts(one: string): readonly Layout[] {
  const many = 'module "core" {\n  for_each = var.teams\n}\n';
  const forms: readonly (readonly [string, string])[] = [
    ...["override.tf", "main_override.tf", "override.tofu", "x_override.tofu"].map((name) => [name, many] as const),
    ["x_override.tf.json", '{"module":{"core":{"count":2}}}'],
    ["override.tofu.json", `{"module":[{"core":[{"for_each":"${OPEN}var.teams}"}]}]}`],
    ["source_override.tf", 'module "core" {\n  source = "./modules/other"\n}\n'],
    ["team_override.tf", 'module "core" {\n  team_id = service_team.web.id\n}\n'],
    ["lifecycle_override.tf", 'module "core" {\n  lifecycle {\n    enabled = false\n  }\n}\n'],
  ];
  const nested = {
    "modules/team/main.tf": 'module "line" {\n  source = "../line"\n  team_id = var.team_id\n}\n',
    "main.tf": call("a", "./modules/team"),
  };
  const place = (name: string) => new RegExp(`main\\.tf:1, which ${name.replaceAll(".", "\\.")}:1 may override`);
  return [
    ...forms.map(([name, text]) =>
      made(`an override of the call in ${name}`, { "main.tf": one, [name]: text }, place(name)),
    ),
    made(
      "an override of the caller's call",
      { ...nested, "override.tf": 'module "a" {\n  count = 2\n}\n' },
      place("override.tf"),
    ),
    made(
      "an override in the calling module",
      { ...nested, "modules/team/override.tf": 'module "line" {\n  count = 2\n}\n' },
      place("modules/team/override.tf"),
    ),
    made(
      "an override that calls the module",
      {
        "main.tf": call("core", "./modules/other"),
        "override.tf": 'module "core" {\n  source = "./modules/line"\n}\n',
      },
      /override\.tf:1/,
    ),
    made(
      "an override of the team that the caller gives",
      { "main.tf": one, "teams_override.tf": 'resource "service_team" "core" {\n  key = "web"\n}\n' },
      /At modules\/line\/main\.tf:2, team_id/,
    ),
    made("once: an override of another call", { "main.tf": one, "override.tf": many.replace("core", "other") }, null),
  ];
}

/**
 * Layouts in which an override file is next to the source: the edit is refused. In similar layouts, the file's name
 * only looks like the name of an override file: the edit succeeds.
 */
export function ownOverrideLayouts(): readonly Layout[] {
  const own = 'resource "service_line" "web" {\n  count = 2\n}\n';
  const json = '{"resource":{"service_line":{"web":{"count":2}}}}';
  const refusedBy = (name: string, text: string): Layout => ({
    says: `${name} beside the source`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({}), [name]: text },
    refused: { code: "ambiguous", place: new RegExp(`${name.replaceAll(".", "\\.")}:1 may override`) },
  });
  return [
    ...["override.tf", "main_override.tf", "override.tofu", "x_override.tofu"].map((name) => refusedBy(name, own)),
    ...["override.tf.json", "x_override.tf.json", "override.tofu.json"].map((name) => refusedBy(name, json)),
    ...["overrides.tf", "myoverride.tf", "below/override.tf", "override.tf.bak"].map(
      (name): Layout => ({ ...refusedBy(name, "locals {\n  a = 1\n}\n"), refused: null }),
    ),
  ];
}
