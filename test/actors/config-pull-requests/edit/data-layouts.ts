import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";

/**
 * Layouts in which code reads the line's stations through a data source. In similar layouts, the code reads the
 * stations of another line, or only the line's id.
 */
export function dataLayouts(): readonly Layout[] {
  const data = (key = '"web"', more = "") => `data "service_line" "x" {\n  key = ${key}\n${more}}\n`;
  const use = (expression: string) => `resource "service_line" "y" {\n  stations = ${expression}\n}\n`;
  const read = "data.service_line.x.stations";
  const at = (path: string, row: number) => new RegExp(`stations: at ${path.replaceAll(".", "\\.")}:${row}`);
  const layout = (says: string, files: TreeFiles, place: RegExp | null): Layout => ({
    says: `a data source of a line: ${says}`,
    path: "lines/main.tf",
    change: "model",
    files: { "lines/main.tf": line({}), ...files },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const reading = [
    ...[
      read,
      `[for each in ${read} : each]`,
      'data.service_line.x["stations"]',
      "data.service_line.x",
      `${read}[0].model`,
    ],
    ...["jsonencode(data.service_line.x)", `"${OPEN}jsonencode(${read})}"`, "data . service_line . x . stations"],
  ];
  return [
    ...reading.map((each) => layout(each, { "other/a.tf": data() + use(each) }, at("other/a.tf", 5))),
    layout("with a computed key", { "other/a.tf": data("var.key") + use(read) }, at("other/a.tf", 5)),
    layout("with a team", { "a.tf": data('"web"', '  team_id = "team_1"\n') + use(read) }, at("a.tf", 6)),
    layout("in the same folder", { "lines/a.tf": data(), "lines/b.tf": use(read) }, at("lines/b.tf", 2)),
    layout(
      "in JSON",
      {
        "a.tf.json": `{"data":{"service_line":{"x":{"key":"web"}}},"locals":{"a":"${OPEN}${read}}"}}`,
      },
      at("a.tf.json", 1),
    ),
    layout("with another key", { "other/a.tf": data('"api"') + use(read) }, null),
    layout("that nothing reads", { "other/a.tf": data() }, null),
    layout("of which the id is read", { "other/a.tf": data() + use("data.service_line.x.id") }, null),
    layout("in a comment", { "other/a.tf": `${data()}# ${read}\n` }, null),
    layout("in another module than the reader", { "other/a.tf": data(), "net/b.tf": use(read) }, null),
  ];
}
