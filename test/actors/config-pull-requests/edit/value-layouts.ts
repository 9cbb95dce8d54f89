import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";
import { core, MADE } from "./module-layout.js";

type Refused = Layout["refused"];
const ambiguous: Refused = { code: "ambiguous", place: /^At main\.tf:2, team_id/ };
const notFound: Refused = { code: "not-found", place: /^At main\.tf:1: / };

/** Returns a layout of a root module whose line has this `team_id`. */
function read(team: string, more: TreeFiles, refused: Refused): Layout {
  return {
    says: `team_id = ${team} beside ${JSON.stringify(more)}`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ team }), "teams.tf": core, ...more },
    refused,
  };
}

/**
 * Layouts with values whose meaning depends on a type, an order, a data source, an instance of a module or a condition.
 */
export function valueLayouts(): readonly Layout[] {
  return [...optionalLayouts(), ...setLayouts(), ...dataLayouts(), ...instanceLayouts(), ...conditionalLayouts()];
}

/** Layouts with object variables whose types have defaults. */
function optionalLayouts(): readonly Layout[] {
  const layout = (type: string, passed: string, refused: boolean, team = "var.cfg.team"): Layout => ({
    says: `type = ${type}, cfg = ${passed}, team_id = ${team}`,
    path: MADE,
    change: "model",
    files: {
      [MADE]: `${line({ team })}variable "cfg" {\n  type = ${type}\n}\n`,
      "teams.tf": core,
      "main.tf": `variable "none" {\n  default = null\n}\nlocals {\n  none = null\n}\nmodule "core" {\n  source = "./modules/line"\n  cfg = ${passed}\n}\n`,
    },
    refused: refused ? { code: "ambiguous", place: /At modules\/line\/main\.tf:2, team_id/ } : null,
  });
  const object = 'object({ team = optional(string, "team_2"), name = string })';
  const own = "service_team.core.id";
  const wrapper = (passed: string): Layout => ({
    ...layout(object, passed, true),
    says: `an object that is passed on as ${passed}`,
    files: {
      [MADE]: `${line({ team: "var.cfg.team" })}variable "cfg" {}\n`,
      "teams.tf": core,
      "modules/wrap/main.tf": `variable "cfg" {\n  type = ${object}\n}\nmodule "line" {\n  source = "../line"\n  cfg = ${passed}\n}\n`,
      "main.tf": 'module "wrap" {\n  source = "./modules/wrap"\n  cfg = { name = "x" }\n}\n',
    },
  });
  const part = (id: string, refused: Refused): Layout => ({
    ...layout("any", "{ team = var.team }", false),
    says: `a variable with the default ${id} in an object`,
    files: {
      [MADE]: `${line({ team: "var.cfg.team" })}variable "cfg" {}\n`,
      "teams.tf": core,
      "modules/wrap/main.tf":
        'variable "team" {}\nmodule "line" {\n  source = "../line"\n  cfg = { team = var.team }\n}\n',
      "main.tf": `variable "id" {\n  default = "${id}"\n}\nmodule "wrap" {\n  source = "./modules/wrap"\n  team = var.id\n}\n`,
    },
    refused,
  });
  return [
    ...[
      "{}",
      "{ team = null }",
      "{ team = var.none }",
      "{ team = local.none }",
      `{ team = var.on ? null : ${own} }`,
      "var.none",
      `{ team = ${own} }`,
    ].map((passed) => layout(object, passed, true)),
    layout(`"${object.replaceAll('"', '\\"')}"`, "{}", true),
    layout(
      'object({ team = optional(object({ id = optional(string, "team_2") }), {}) })',
      "{}",
      true,
      "var.cfg.team.id",
    ),
    layout('map(object({ id = optional(string, "team_2") }))', "{ a = {} }", true, 'var.cfg["a"].id'),
    layout('list(object({ id = optional(string, "team_2") }))', "[{}]", true, "var.cfg[0].id"),
    layout('object({ team = optional(string, "team_2") })', "{}", true, "values(var.cfg)[0]"),
    layout('object({ team = string, name = optional(string, "x") })', `{ team = ${own} }`, false),
    layout("object({ team = string })", `{ team = ${own} }`, false),
    ...["var.cfg", "{ team = var.cfg.team }", "merge(var.cfg, {})"].map(wrapper),
    part("team_1", null),
    part("team_2", { code: "not-found", place: /modules\/line\/main\.tf:1/ }),
  ];
}

/** Layouts with sets, which are ordered by their values. */
function setLayouts(): readonly Layout[] {
  const both = '["team_2", "team_1"]';
  const set = `toset(${both})`;
  const locals = { "l.tf": `locals {\n  ids = ${set}\n}\n` };
  const variable = (type: string) => ({ "v.tf": `variable "ids" {\n  type = ${type}\n  default = ${both}\n}\n` });
  const nested = {
    "v.tf": `variable "x" {\n  type = object({ ids = set(string) })\n  default = { ids = ${both} }\n}\n`,
  };
  return [
    ...[0, 1].flatMap((index) => [
      ...[
        `tolist(${set})[${index}]`,
        `element(tolist(${set}), ${index})`,
        `sort(${both})[${index}]`,
        `tolist(setunion(${set}, []))[${index}]`,
        `[for id in ${set} : id][${index}]`,
        `keys({ team_2 = 1, team_1 = 1 })[${index}]`,
      ].map((team) => read(team, {}, ambiguous)),
      read(`tolist(local.ids)[${index}]`, locals, ambiguous),
      read(`tolist(var.ids)[${index}]`, variable("set(string)"), ambiguous),
      read(`tolist(var.x.ids)[${index}]`, nested, ambiguous),
      read(`(${set}[*])[${index}]`, {}, ambiguous),
    ]),
    read('tolist(toset(["team_1"]))[0]', {}, null),
    read("tolist(var.ids)[1]", variable("list(string)"), null),
    read("tolist(var.ids)[0]", variable("list(string)"), notFound),
    read("one(toset([service_team.core.id]))", {}, null),
  ];
}

/** Layouts with data sources that have a key, an id and a key, or neither. */
function dataLayouts(): readonly Layout[] {
  const data = (body: string, kind = "data") => ({
    "d.tf": `${kind} "service_team" "x" {\n  ${body.replaceAll("; ", "\n  ")}\n}\n`,
  });
  return [
    "data.service_team.x.id",
    'data.service_team.x["id"]',
    'lookup(data.service_team.x, "id")',
    "local.x",
  ].flatMap((team) => {
    const locals: TreeFiles = { "l.tf": "locals {\n  x = data.service_team.x.id\n}\n" };
    return [
      read(team, { ...locals, ...data('id = "team_2"; key = "core"') }, ambiguous),
      read(team, { ...locals, ...data('key = "web"; id = "team_1"') }, ambiguous),
      read(team, { ...locals, ...data('id = var.id; key = "core"') }, ambiguous),
      read(team, { ...locals, ...data('id = "team_1"; key = "core"') }, null),
      read(team, { ...locals, ...data('key = "core"') }, null),
      read(team, { ...locals, ...data('name = "Core"') }, ambiguous),
    ];
  });
}

/**
 * Layouts that use an output of one instance of a module with `for_each`, and layouts that use an output with a value
 * per loop item.
 */
function instanceLayouts(): readonly Layout[] {
  const child =
    'variable "key" {}\nresource "service_team" "this" {\n  key = var.key\n}\noutput "id" {\n  value = service_team.this.id\n}\n';
  const many = (forEach: string, key: string): TreeFiles => ({
    "t.tf": `module "t" {\n  source = "./t"\n  for_each = ${forEach}\n  key = ${key}\n}\n`,
    "t/main.tf": child,
  });
  const loop = (output: string, more = ""): TreeFiles => ({
    "t.tf": `module "t" {\n  source = "./t"\n}\n`,
    "t/main.tf": `resource "service_team" "t" {\n  for_each = toset(["core", "web"])\n  key = each.key\n}\n${more}output "ids" {\n  value = ${output}\n}\n`,
  });
  const set = 'toset(["core", "web"])';
  return [
    ...["each.key", "each.value", `"${OPEN}each.key}"`].flatMap((key) => [
      read('module.t["core"].id', many(set, key), null),
      read('module.t["web"].id', many(set, key), notFound),
    ]),
    read('module.t["core"].id', many('{ core = "web", web = "core" }', "each.value"), notFound),
    read('module.t["web"].id', many('{ core = "web", web = "core" }', "each.value"), null),
    read('module.t["core"].id', many('{ core = { k = "web" } }', "each.value.k"), notFound),
    read('module.t["core"].id', many("local.none", "each.value"), ambiguous),
    read("module.t[var.k].id", many(set, "each.key"), ambiguous),
    read("values(module.t)[0].id", many(set, "each.key"), ambiguous),
    ...["{ for k, t in service_team.t : k => t.id }", "{ for key, team in service_team.t : key => team.id }"].flatMap(
      (output) => [
        read('module.t.ids["core"]', loop(output), null),
        read("module.t.ids.core", loop(output), null),
        read('module.t.ids["web"]', loop(output), notFound),
        read("module.t.ids[var.k]", loop(output), ambiguous),
        read("values(module.t.ids)[0]", loop(output), ambiguous),
      ],
    ),
    ...[
      "{ for k, t in service_team.t : t.key => t.id }",
      '{ for k, t in service_team.t : k => service_team.t["web"].id }',
      '{ for k, t in service_team.t : k == "core" ? "web" : "core" => t.id }',
      "{ for k, t in service_team.t : k => t.id if k != var.k }",
      "{ for k, t in service_team.t : k => t.id... }",
      "{ for t in service_team.t : t.key => t.id }",
      "{ for k, t in local.none : k => t.id }",
      '{ for k, t in { core = service_team.t["web"] } : k => t.id }',
    ].map((output) => ({
      ...read('module.t.ids["core"]', loop(output), ambiguous),
      refused: { code: /"web"\] \}/.test(output) ? "not-found" : "ambiguous", place: /main\.tf:[12]/ },
    })),
  ];
}

/** Layouts with conditionals within conditionals. */
function conditionalLayouts(): readonly Layout[] {
  const [own, other] = ["service_team.core.id", "service_team.web.id"];
  return [
    ...[
      `var.a ? ${other} : var.b ? ${own} : ${own}`,
      `var.a ? ${own} : var.b ? ${other} : ${own}`,
      `var.a ? ${own} : var.b ? ${own} : ${other}`,
      `var.a ? ${own} : var.b ? ${own} : var.c ? ${other} : ${own}`,
      `var.a ? ${other} : var.b ? ${own} : var.c ? ${own} : ${own}`,
      `var.a ? ${own} : (var.b ? ${other} : ${own})`,
      `var.a ? var.b ? ${other} : ${own} : ${own}`,
      `(var.a ? ${own} : ${other})`,
    ].map((team) => read(team, {}, ambiguous)),
    ...[`var.a ? ${own} : var.b ? ${own} : ${own}`, `(var.a ? var.b : var.c) ? ${own} : ${own}`].map((team) =>
      read(team, {}, null),
    ),
  ];
}
