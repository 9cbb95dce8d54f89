import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";
import { call, core, MADE } from "./module-layout.js";

/** Layouts in which blocks outside the line read the line, remove it, or make its team unclear. */
export function lineBlockLayouts(): readonly Layout[] {
  return [...listLayouts(), ...removedLayouts(), ...providerLayouts()];
}

function layout(says: string, files: TreeFiles, place: RegExp | null, code = "ambiguous"): Layout {
  return {
    says,
    path: "lines/main.tf",
    change: "model",
    files: { "lines/main.tf": line({}), ...files },
    refused: place === null ? null : { code, place },
  };
}

/** Layouts with a data source that lists lines. */
function listLayouts(): readonly Layout[] {
  const read = "data.service_lines.x";
  const of = (expression: string, place: RegExp | null) =>
    layout(
      `a list of lines: ${expression}`,
      { "other/a.tf": `data "service_lines" "x" {\n}\nresource "x_y" "y" {\n  text = ${expression}\n}\n` },
      place,
    );
  const at = /stations: at other\/a\.tf:4/;
  return [
    ...[
      `${read}.lines[0].stations`,
      `${read}.lines[*].stations`,
      `jsonencode(${read}.lines)`.replace(")", ", 1)"),
      `[for each in ${read}.lines : each.stations]`,
      `{ for each in ${read}.lines : each.key => each.stations }`,
      `[for each in ${read}.lines : each if each.key == "web"]`,
      `${read}.stations`,
      `${read}`,
      `"${OPEN}jsonencode(${read}.lines[0].stations)}"`,
    ].map((each) => of(each, at)),
    ...[
      `${read}.ids`,
      `${read}.keys[0]`,
      `${read}.lines[0].id`,
      `${read}.lines[*].key`,
      `[for each in ${read}.lines : each.id]`,
      `{ for each in ${read}.lines : each.key => each.id }`,
      `length(${read}.lines)`,
    ].map((each) => of(each, null)),
  ];
}

/** Layouts with `removed` blocks. */
function removedLayouts(): readonly Layout[] {
  const removed = (from: string) => `removed {\n  from = ${from}\n  lifecycle {\n    destroy = false\n  }\n}\n`;
  const own = (from: string, place: RegExp | null) =>
    layout(`removed: ${from}`, { "lines/r.tf": removed(from) }, place, "not-proven");
  const made = (from: string, place: RegExp | null): Layout => ({
    ...layout(
      `removed by the caller: ${from}`,
      {
        [MADE]: line({ team: "var.team_id" }),
        "main.tf": `${core}${call("core", "./modules/line")}`,
        "r.tf": removed(from),
      },
      place,
      "not-proven",
    ),
    path: MADE,
  });
  return [
    own("service_line.web", /lines\/r\.tf:1 removes the line/),
    own("service_line . web", /lines\/r\.tf:1 removes the line/),
    layout(
      "removed in the source",
      { "lines/main.tf": line({}) + removed("service_line.web") },
      /lines\/main\.tf:1[23] removes/,
      "not-proven",
    ),
    layout(
      "removed in JSON",
      { "lines/r.tf.json": '{"removed":[{"from":"service_line.web"}]}' },
      /lines\/r\.tf\.json:1 removes/,
      "not-proven",
    ),
    made("module.core", /r\.tf:1 removes/),
    made("module.core.service_line.web", /r\.tf:1 removes/),
    own("service_line.old", null),
    own("service_line.web_old", null),
    own("module.old", null),
    made("module.old", null),
    made("module.core.service_line.old", null),
    made("service_line.web", null),
    layout("moved", { "lines/r.tf": "moved {\n  from = service_line.old\n  to = service_line.web\n}\n" }, null),
  ];
}

/** Layouts with teams at several providers. */
function providerLayouts(): readonly Layout[] {
  const team = (name: string, key: string, provider = "") =>
    `resource "service_team" "${name}" {\n${provider === "" ? "" : `  provider = ${provider}\n`}  key = "${key}"\n}\n`;
  const of = (teams: string, place: RegExp | null, given = "service_team.a.id", more = "") =>
    layout(
      `providers: ${teams.replace(/\s+/g, " ")}${given}${more}`,
      { "lines/main.tf": line({ team: given, more }), "lines/t.tf": teams },
      place,
    );
  const [a, b] = ["service.a", "service.b"];
  const at = /two providers: lines\/t\.tf:1 and lines\/t\.tf:\d/;
  return [
    of(team("a", "core", a) + team("b", "core", b), at),
    of(team("b", "core", b) + team("a", "core", a), at),
    of(team("a", "core", a) + team("b", "core", b), at, "service_team.b.id"),
    of(team("a", "core") + team("b", "core", b), at),
    of(team("a", "core") + team("b", "core", b), at, "service_team.a.id", "  provider = service.b"),
    of(team("a", "core", a) + team("b", "core", b).replace("resource", "data"), at),
    of(team("a", "core", a) + team("b", "core", b), null, '"team_1"'),
    of(team("a", "core", a) + team("b", "web", b), null),
    of(team("a", "core", a), null),
    of(team("a", "core", a) + team("b", "web", a), null),
    of(team("a", "core") + team("b", "web", b), null, "service_team.a.id", "  provider = service.a"),
  ];
}
