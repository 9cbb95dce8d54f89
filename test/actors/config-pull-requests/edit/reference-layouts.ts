import { type Layout, line, OPEN } from "./layout.js";

/** Expressions that use the line's whole resource. */
const WHOLE = [
  ...["service_line.web", "(service_line.web)", "{ web = service_line.web }", "jsonencode(service_line.web)"],
  ...[
    "service_line.web[*]",
    'service_line.web["stations"]',
    "service_line.web[local.x]",
    "merge(service_line.web, {})",
  ],
  `"${OPEN}jsonencode(service_line.web)}"`,
];

/** Layouts with an output of the line's whole resource, and with code that may read the output. */
function outputLayouts(): readonly Layout[] {
  const made = (path: string, reader: string, refused: boolean): Layout => ({
    says: `${path} reads an output: ${reader}`,
    path: "lines/main.tf",
    change: "model",
    files: {
      "lines/main.tf": line({ team: '"team_1"' }),
      "lines/out.tf": 'output "line" {\n  value = service_line.web\n}\n',
      ...(path === "other.tf" ? { "main.tf": 'module "lines" {\n  source = "./lines"\n}\n' } : {}),
      [path]: reader,
    },
    refused: refused ? { code: "ambiguous", place: /reads the line's stations: at lines\/out\.tf:2\./ } : null,
  });
  const uses = (value: string) => `locals {\n  a = ${value}\n}\n`;
  return [
    ...[
      "module.lines.line",
      "module.lines.line.stations",
      "module.lines",
      "[module.lines.line]",
      "module.lines . line . stations",
    ].map((value) => made("other.tf", uses(value), true)),
    ...["module.lines.line.id", "module.lines.other", "module.lines_2.line"].map((value) =>
      made("other.tf", uses(value), false),
    ),
    made("x/main.tf", uses("data.terraform_remote_state.x.outputs.line.stations"), true),
    made("x/terragrunt.hcl", "inputs = {\n  line = dependency.lines.outputs.line\n}\n", true),
    made("x/main.tf", uses("1"), false),
  ];
}

/** Layouts with references to the edited line. Some references read its stations, others do not. */
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
    ...WHOLE.map((value) => `locals {\n  all = ${value}\n}\n`),
    'module "more" {\n  source = "./more"\n  line = service_line.web\n}\n',
    'resource "x_y" "z" {\n  for_each = { web = service_line.web }\n}\n',
    'output "lines" {\n  value = [service_line.web]\n}\n',
    'output "lines" {\n  value = service_line.web.stations\n}\n',
  ];
  const harmless = [
    'output "line" {\n  value = service_line.web.id\n}\n',
    "locals {\n  keys = [service_line.web.key, service_line.website.stations]\n}\n",
    "# service_line.web.stations\n",
    "/* service_line.web.stations\n   service_line.web */\n",
    'locals {\n  a = [service_line.web["id"], service_line.web . key, service_line.web_2, x_service_line.web]\n}\n',
    'locals {\n  a = "the stations of service_line.web"\n}\n',
    'output "line" {\n  value = service_line.web\n}\n',
    "moved {\n  from = service_line.old\n  to = service_line.web\n}\n",
    'import {\n  to = service_line.web\n  id = "x"\n}\n',
    'resource "x_y" "z" {\n  lifecycle {\n    replace_triggered_by = [service_line.web]\n  }\n}\n',
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
    layout(json.replace(".stations", ""), true, "more.tf.json"),
    layout('{"resource":{"x":{"y":{"depends_on":["service_line.web"]}}}}\n', false, "more.tf.json"),
    ...outputLayouts(),
  ];
}
