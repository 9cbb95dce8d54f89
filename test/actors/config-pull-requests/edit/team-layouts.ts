import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";
import { core } from "./module-layout.js";

/**
 * References to a team, each with the declarations between the reference and the team. The edit can resolve each
 * reference. `TEAM` is replaced by the team's key.
 */
function teamReferences(): readonly (readonly [string, string])[] {
  const locals = (body: string) => `locals {\n${body}}\n`;
  const ids = "core = service_team.core.id, web = service_team.web.id";
  const each = (forEach: string, key: string) =>
    `resource "service_team" "all" {\n  for_each = ${forEach}\n  key = ${key}\n}\n`;
  return [
    ["local.teams.TEAM", locals(`  teams = { ${ids} }\n`)],
    ['local.teams["TEAM"]', locals(`  teams = { ${ids} }\n`)],
    ['lookup(local.teams, "TEAM", null)', locals(`  teams = { ${ids} }\n`)],
    ["local.all.TEAM.id", locals("  all = { core = service_team.core, web = { id = service_team.web.id } }\n")],
    [
      "local.TEAM",
      locals("  core = local.c\n  web = local.w\n  c = service_team.core.id\n  w = service_team.web.id\n"),
    ],
    ["local.TEAM.id", locals("  core = service_team.core\n  web = service_team.web\n")],
    ['try(service_team.TEAM.id, "")', ""],
    ["coalesce(service_team.TEAM.id, null)", ""],
    ["one([service_team.TEAM.id])", ""],
    ['service_team.TEAM["id"]', ""],
    ['service_team.all["TEAM"].id', each('toset(["core", "web"])', "each.value")],
    ['service_team.all["TEAM"].id', each('{ core = { k = "core" }, web = { k = "web" } }', "each.value.k")],
    ['service_team.all["TEAM"].id', each("var.teams", `"${OPEN}each.key}"`)],
    ["var.TEAM", 'variable "core" {\n  default = "team_1"\n}\nvariable "web" {\n  default = "team_2"\n}\n'],
  ];
}

const teamModule: TreeFiles = {
  "lines/t.tf": 'module "teams" {\n  source = "./teams"\n}\n',
  "lines/teams/main.tf": `${core}output "ids" {\n  value = { core = service_team.core.id, web = service_team.web.id }\n}\n`,
};

const oneTeam: TreeFiles = {
  "team/main.tf":
    'variable "key" {}\nresource "service_team" "this" {\n  key = var.key\n}\noutput "id" {\n  value = service_team.this.id\n}\n',
};

interface ExpressionForm {
  /** Returns the expression for `team_id` whose value is this id. `more` returns the module's other files. */
  readonly team: (id: string) => string;
  readonly more: (id: string) => TreeFiles;
  /** Whether the edit can determine the value of the expression. If it cannot, it is refused, whatever the value is. */
  readonly isKnown: boolean;
}

/** Functions and other expressions whose value is the id of a team. */
function expressionForms(): readonly ExpressionForm[] {
  const known = [
    ...['format("%s", "ID")', 'format("%s_%s", "team", "NUMBER")', 'join("", ["ID"])', 'join("_", ["team", "NUMBER"])'],
    ...['trimspace(" ID ")', 'chomp("ID")', 'lower(upper("ID"))', `"${OPEN}format("%s", "ID")}"`, 'element(["ID"], 0)'],
    ...['values({ a = "ID" })[0]', 'one(["ID"][*])', '{ a = "ID" }[var.k]', 'lookup({ a = "ID" }, var.k, "ID")'],
    ...['format("%v", local.id)', 'join("", [local.id])', "trimspace(local.id)", "element(local.ids, 0)"],
    ...["element(local.ids, var.k)", "trimspace(module.t.id)", "trimspace(module.t.ids.a)"],
  ];
  const unknown = [
    ...['replace("ID", "x", "x")', '[for id in ["ID"] : id][0]', 'substr("xID", 1, 6)', 'jsondecode("[\\"ID\\"]")[0]'],
    ...[
      'regex("team_.", "ID")',
      'reverse(["ID"])[0]',
      'sort(["ID"])[0]',
      'split(",", "ID")[0]',
      '{ for k in ["ID"] : k => k }["ID"]',
    ],
    ...['try(local.none, "ID")', 'coalesce(local.none, "ID")', 'join("", local.ids)', 'format(local.none, "ID")'],
    ...['merge({ a = "ID" }, local.none)["a"]', 'format("%s", ["ID"]...)', '{ (local.none) = "x", a = "ID" }["a"]'],
    ...['var.on ? "ID" : local.none', 'strrev("ID")', '"%{ if var.on }ID%{ endif }"', 'format("%10s", "ID")'],
  ];
  const child = (id: string) => `output "id" {\n  value = "${id}"\n}\noutput "ids" {\n  value = { a = "${id}" }\n}\n`;
  const more = (id: string): TreeFiles => ({
    "l.tf": `locals {\n  id  = "${id}"\n  ids = ["${id}"]\n}\nmodule "t" {\n  source = "./t"\n}\n`,
    "t/main.tf": child(id),
  });
  const form = (isKnown: boolean) => (written: string) => ({
    team: (id: string) => written.replaceAll("ID", id).replaceAll("NUMBER", id.slice(-1)),
    more,
    isKnown,
  });
  return [...known.map(form(true)), ...unknown.map(form(false))];
}

/**
 * Expressions whose value the edit cannot determine. `more` has the declarations and files to which an expression
 * refers.
 */
function unknownForms(): readonly { readonly team: string; readonly more: TreeFiles }[] {
  const locals = (value: string) => ({ "l.tf": `locals {\n  id = ${value}\n}\n` });
  const called = (output: string) => ({
    "l.tf": 'module "t" {\n  source = "./t"\n}\n',
    "t/main.tf": `output "id" {\n  value = ${output}\n}\n`,
  });
  return [
    { team: "data.terraform_remote_state.teams.outputs.core", more: {} },
    { team: "data.service_team.core.id", more: {} },
    { team: "service_team.none.id", more: {} },
    { team: "module.none.id", more: {} },
    { team: "module.t.id", more: called("data.x.y.z") },
    { team: "module.t.other", more: called('"team_1"') },
    { team: "module.t.id", more: { "l.tf": 'module "t" {\n  source = "acme/team/service"\n}\n' } },
    { team: "local.id", more: locals("data.x.y.z") },
    { team: "local.id", more: locals('yamldecode(file("t.yaml")).id') },
    { team: 'file("team.txt")', more: { "team.txt": "team_1" } },
    { team: 'templatefile("t.tftpl", {})', more: {} },
    { team: "uuid()", more: {} },
    { team: "self.id", more: {} },
    { team: "each.value", more: {} },
    { team: `"team_${OPEN}local.none}"`, more: {} },
  ];
}

/**
 * Layouts in which `team_id` is unknown or may be the id of another team, and similar layouts whose `team_id` is
 * accepted.
 */
export function mixedTeamLayouts(): readonly Layout[] {
  const values = 'team = "team_2"\n';
  const variable = 'variable "team" {\n  default = "team_1"\n}\n';
  const json = (key: string) => `{"resource":{"service_team":{"main":{"key":"${key}"}}}}`;
  const read = (team: string, more: TreeFiles, code: string | null, place = /^At main\.tf:2, team_id/): Layout => ({
    says: `team_id = ${team} beside ${Object.keys(more)}`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ team }), "teams.tf": core, ...more },
    refused: code === null ? null : { code, place },
  });
  return [
    read("var.on ? service_team.core.id : service_team.web.id", {}, "ambiguous"),
    read("trimspace(service_team.web.id)", {}, "ambiguous"),
    read("trimspace(service_team.core.id)", {}, null),
    ...expressionForms().flatMap(({ team, more, isKnown }) => [
      read(team("team_2"), more("team_2"), "ambiguous"),
      read(team("team_1"), more("team_1"), isKnown ? null : "ambiguous"),
    ]),
    ...unknownForms().map(({ team, more }) => read(team, more, "ambiguous")),
    read("var.team", { "v.tf": 'variable "team" {}\n' }, null),
    read("trimspace(var.team)", {}, null),
    read("coalesce(var.team, service_team.web.id)", {}, "ambiguous"),
    read("service_team.main.id", { "t_override.tofu.bak": "", "t.tf.json": json("core") }, null),
    read("service_team.main.id", { "t.tf.json": json("web") }, "not-found", /At main\.tf:1/),
    read(
      "service_team.main.id",
      { "t.tf.json": json("core").replace("{", '{"resource":{},') },
      "ambiguous",
      /t\.tf\.json:1/,
    ),
    read("[for t in [service_team.web] : t.id][0]", {}, "ambiguous"),
    read("var.team", { "v.tf": variable }, null),
    read("var.team", { "v.tf": variable, "terraform.tfvars": values }, "not-found", /At main\.tf:1/),
    read("var.team", { "v.tf": variable, "prod.tfvars": values }, "not-found", /At main\.tf:1/),
    read("var.team", { "v.tf": variable, "a.auto.tfvars": 'team = "team_1"\n', "prod.tfvars": values }, "ambiguous"),
    read("local.a", { "l.tf": "locals {\n  a = local.b\n  b = local.a\n}\n" }, "ambiguous"),
  ];
}

/**
 * Layouts whose `team_id` mentions only other teams. The edit is refused with `not-found` if it can determine the team,
 * and with `ambiguous` if it cannot.
 */
export function otherTeamLayouts(): readonly Layout[] {
  const more = `${core}variable "k" {}
resource "service_team" "all" {
  for_each = toset(["web"])
  key      = each.key
}
locals {
  teams = { web = service_team.web.id }
  list  = [service_team.web.id]
  ids   = { web = "team_2" }
}
module "t" {
  source = "./t"
}
`;
  const child = `${core}output "id" {\n  value = service_team.web.id\n}\n`;
  const forms = [
    ...["local.teams[var.k]", "local.list[var.k]", "local.ids[var.k]", "service_team.all[var.k].id", "local.teams.*"],
    ...[
      "one(service_team.web[*].id)",
      "one(service_team.all[*].id)",
      "element(local.list, 0)",
      "values(local.teams)[0]",
    ],
    ...["values(service_team.all)[0].id", 'merge(local.teams, {})["web"]', "lookup(local.teams, var.k)"],
    ...["lookup(local.ids, var.k)", "try(local.none, service_team.web.id)", "coalesce(var.k, service_team.web.id)"],
    ...['join("", [service_team.web.id])', 'format("%s", local.teams.web)', `"x${OPEN}service_team.web.id}"`],
    ...["service_team.web.parent", "{ for k, v in local.teams : k => v }[var.k]", "[for t in local.list : t][0]"],
    ...["values(module.t)[0]", "module.t[*].id", "trimspace(module.t.id)"],
  ];
  const known = ["service_team.web[0].id", "module.t[0].id", "module.t.id", "local.list[0]", 'local.ids["web"]'];
  const read = (team: string, code: string, place: RegExp): Layout => ({
    says: `team_id = ${team}`,
    path: "main.tf",
    change: "model",
    files: { "main.tf": line({ team }), "teams.tf": more, "t/main.tf": child },
    refused: { code, place },
  });
  return [
    ...forms.map((team) => read(team, "ambiguous", /^At main\.tf:2, team_id/)),
    ...known.map((team) => read(team, "not-found", /^At main\.tf:1: /)),
  ];
}

/**
 * Layouts for each way to declare and reference a team: in another file, in locals, in another module, or as a variable
 * that the module's call sets. The source has a line of the wanted team, a line of another team, or both.
 */
export function teamLayouts(): readonly Layout[] {
  const refused = { code: "not-found", place: /main\.tf:1: / };
  const read = (says: string, main: string, teams: TreeFiles, isRefused: boolean): Layout => ({
    says,
    path: "lines/main.tf",
    change: "model",
    files: { "lines/main.tf": main, ...teams },
    refused: isRefused ? refused : null,
  });
  const both = (own: string, other: string) =>
    `${line({ team: other, name: "other" }).replace('"m"', '"theirs"')}\n${line({ team: own })}`;
  const json = '{"resource":{"service_team":{"core":{"key":"core"},"web":{"key":"web"}}}}';
  const data = core.replaceAll("resource", "data");
  const each = 'resource "service_team" "all" {\n  for_each = var.teams\n  key = each.key\n}\n';
  const local = `${core}locals {\n  core_id = service_team.core.id\n  web_id = service_team.web.id\n}\n`;
  const ways: readonly (readonly [string, TreeFiles, string])[] = [
    ["service_team.TEAM.id", { "lines/teams.tf": core }, "another file"],
    [`"${OPEN}service_team.TEAM.id}"`, { "lines/teams.tofu": core }, "a template"],
    ["service_team.TEAM.id", { "lines/teams.tf.json": json }, "JSON"],
    ["data.service_team.TEAM.id", { "lines/data.tf": data }, "data"],
    ['service_team.all["TEAM"].id', { "lines/teams.tf": each }, "for_each"],
    ["local.TEAM_id", { "lines/teams.tf": local }, "locals"],
    [
      "(service_team.TEAM.id)",
      {
        "lines/a.tf": core.split("resource").slice(0, 2).join("resource"),
        "lines/b.tf": `resource${core.split("resource")[2]}`,
      },
      "two files",
    ],
  ];
  const more: readonly (readonly [string, TreeFiles, string])[] = [
    ...teamReferences().map(([written, text]) => [written, { "lines/teams.tf": `${core}${text}` }, written] as const),
    ['module.teams.ids["TEAM"]', teamModule, "an output of a module"],
    [
      "module.TEAM.id",
      {
        "lines/t.tf": ["core", "web"]
          .map((key) => `module "${key}" {\n  source = "../team"\n  key = "${key}"\n}\n`)
          .join(""),
        ...oneTeam,
      },
      "modules of a team each",
    ],
  ];
  const [own, other] = ["core", "web"];
  return [
    ...[...ways, ...more].flatMap(([written, files, says]) => {
      const by = (team: string) => written.replaceAll("TEAM", team);
      return [
        read(`the team stands in ${says}`, line({ team: by(own) }), files, false),
        read(`another team stands in ${says}`, line({ team: by(other) }), files, true),
        read(`both stand in ${says}`, both(by(own), by(other)), files, false),
      ];
    }),
    read(
      "another team by its call",
      line({ team: "var.team" }),
      { "main.tf": `module "l" {\n  source = "./lines"\n  team = service_team.web.id\n}\n`, "teams.tf": core },
      true,
    ),
    read(
      "the team by its call",
      line({ team: "var.team" }),
      { "main.tf": `module "l" {\n  source = "./lines"\n  team = service_team.core.id\n}\n`, "teams.tf": core },
      false,
    ),
  ];
}

/**
 * Layouts in which a call sets a module's variable to null. The variable's default applies only if the variable is not
 * nullable.
 */
export function nullLayouts(): readonly Layout[] {
  const layout = (nullable: string, id: string, passed: string): Layout => ({
    says: `team_id = ${passed}, ${nullable}, default ${id}`,
    path: "lines/main.tf",
    change: "model",
    files: {
      "main.tf": `${core}module "lines" {\n  source  = "./lines"\n  team_id = ${passed}\n}\n`,
      "lines/main.tf": `${line({ team: "var.team_id" })}variable "team_id" {\n  default  = "${id}"\n  ${nullable}\n}\n`,
    },
    refused: nullable !== "" && id === "team_2" ? { code: "not-found", place: /lines\/main\.tf/ } : null,
  });
  return ["nullable = false", ""].flatMap((nullable) => ["team_1", "team_2"].map((id) => layout(nullable, id, "null")));
}
