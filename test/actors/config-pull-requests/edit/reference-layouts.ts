import { type Layout, line, OPEN } from "./layout.js";

/** Layouts with references to the edited line: those that read its stations, and those that do not. */
export function referenceLayouts(): readonly Layout[] {
  const other = (attribute: string) =>
    `resource "service_line" "other" {\n  team_id = "team_2"\n  key = "other"\n  ${attribute}\n}\n`;
  const reading = [
    other("stations = service_line.web.stations"),
    other("stations = service_line.web . stations"),
    other('stations = service_line.web["stations"]'),
    other('stations = [{ key = "a", name = "A", kind = "work", model = service_line.web.stations[0].model }]'),
    'module "more" {\n  source = "./more"\n  stations = service_line.web.stations\n}\n',
    "locals {\n  all = [for each in service_line.web.stations : each.model]\n}\n",
  ];
  const harmless = [
    'output "line" {\n  value = service_line.web.id\n}\n',
    "locals {\n  keys = [service_line.web.key, service_line.website.stations]\n}\n",
    "# service_line.web.stations\n",
    'resource "service_hook" "h" {\n  line_id = service_line.web.id\n  depends_on = [service_line.web]\n}\n',
  ];
  const layout = (more: string, isRefused: boolean, path: string): Layout => ({
    says: `${path}: ${more}`,
    path: "main.tf",
    change: "model",
    files: path === "main.tf" ? { "main.tf": line({ more: "" }) + more } : { "main.tf": line({}), [path]: more },
    refused: isRefused
      ? { code: "ambiguous", place: new RegExp(`reads the line's stations: at ${path}:\\d+\\.`) }
      : null,
  });
  const json = `{ "locals": { "all": "${OPEN}service_line.web.stations}" } }\n`;
  return [
    ...["main.tf", "more.tf"].flatMap((path) => [
      ...reading.map((more) => layout(more, true, path)),
      ...harmless.map((more) => layout(more, false, path)),
    ]),
    layout(json, true, "more.tf.json"),
  ];
}
