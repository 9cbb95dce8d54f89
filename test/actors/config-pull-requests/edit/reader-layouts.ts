import { type Layout, line, OPEN, WAS } from "./layout.js";

/** Returns a layout in which the source uses a text file, and the file `other` contains `expression`. */
function readers(folder: string, other: string, expression: string, refused = true): Layout {
  const below = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const path = below("main.tf");
  return {
    says: `${other} reads ${expression}, the source is ${path}`,
    path,
    change: "prompt",
    files: {
      [path]: line({ prompt: `file("${OPEN}path.module}/prompts/w.md")` }),
      [below("prompts/w.md")]: WAS,
      [below("prompts/v.md")]: "another\n",
      [below("links/prompts")]: { leadsTo: below("prompts") },
      [below("links/alias.md")]: { leadsTo: below("prompts/w.md") },
      [below("links/other.md")]: { leadsTo: below("prompts/v.md") },
      [other]: `locals {\n  read = ${expression}\n}\n`,
    },
    refused: refused ? { code: "ambiguous", place: new RegExp(`at ${other.replace(/\./g, "\\.")}:2`) } : null,
  };
}

/** Returns a call of `file` with a path in quotes. */
function file(path: string): string {
  return `file("${path}")`;
}

const [MODULE, ROOT, CWD] = ["module", "root", "cwd"].map((name) => `${OPEN}path.${name}}`);

/** Returns expressions that read, or may read, the file `prompts/w.md` of the module in `folder`. */
function namesIn(folder: string): readonly string[] {
  const whole = folder === "" ? "prompts" : `${folder}/prompts`;
  const last = folder.split("/").at(-1) ?? "";
  const paths = [
    ...[`${MODULE}/prompts/w.md`, `${ROOT}/${whole}/w.md`, `${CWD}/${whole}/w.md`, `${OPEN}local.dir}/w.md`],
    ...[`${MODULE}/./prompts/w.md`, `${MODULE}//prompts///w.md`, `${MODULE}/x/../prompts/w.md`],
    ...[`./${whole}/w.md`, `${whole}/w.md`, `../../${whole}/w.md`, `${ROOT}/../${last || "infra"}/prompts/w.md`],
    ...[
      `${MODULE}/${OPEN}local.path}`,
      `${MODULE}/prompts/${OPEN}var.name}.md`,
      `${MODULE}/${OPEN}var.a}/${OPEN}var.b}`,
    ],
    ...[`${OPEN}var.path}`, `${OPEN}terraform.workspace == "x" ? var.a : var.b}`, `${MODULE}/prompts/${OPEN}"w"}.md`],
    ...[`${MODULE}/links/prompts/w.md`, `${MODULE}/links/alias.md`, `${MODULE}/links/../prompts/w.md`],
    ...[`${MODULE}/prompts/${OPEN}each.value}`, `${OPEN} path.module }/prompts/w.md`, `${MODULE}/p\\u0072ompts/w.md`],
  ];
  return [
    ...paths.map(file),
    ...["local.path", "var.path", "(local.path)", "each.value.file", 'join("/", [path.module, "prompts", "w.md"])'].map(
      (expression) => `file(${expression})`,
    ),
    `file(abspath("${MODULE}/prompts/w.md"))`,
    `file(format("%s/prompts/w.md", path.module))`,
    `templatefile("${MODULE}/prompts/w.md", {})`,
    `filebase64("${MODULE}/prompts/w.md")`,
    `filesha256("${MODULE}/prompts/w.md")`,
    `trimspace(file("${ROOT}/${whole}/w.md"))`,
    `provider::local::readfile("${MODULE}/prompts/w.md")`,
    `fileset("${MODULE}/prompts", "*.md")`,
    'fileset(path.module, "**")',
    `fileset("${ROOT}", "${whole}/{v,w}.md")`,
    `[for name in ["w"] : file("${MODULE}/prompts/${OPEN}name}.md")]`,
    `"${ROOT}/${whole}/w.md"`,
    `{ prompt_file = "${whole}/w.md" }`,
    'join("/", [path.module, "prompts", "w.md"])',
    'format("%s/%s/w.md", path.module, "prompts")',
    `"${MODULE}/prompts/${OPEN}var.name}"`,
    `file("/src/infra/${whole}/w.md")`,
    `file("~/infra/${whole}/w.md")`,
    `file("${MODULE}/prompts/%{ if var.on }w%{ else }v%{ endif }.md")`,
  ].filter((expression) => !/terraform\.workspace/.test(expression));
}

/** Returns expressions that read other files. Their paths look like the path of `prompts/w.md` in `folder`. */
function othersIn(folder: string): readonly string[] {
  const whole = folder === "" ? "prompts" : `${folder}/prompts`;
  return [
    ...[
      `${MODULE}/prompts/v.md`,
      `${MODULE}/other/w.md`,
      `${MODULE}/rubrics/${OPEN}var.name}.md`,
      `${ROOT}/${whole}/v.md`,
    ],
    ...[
      `${MODULE}/prompts/../w.md`,
      `${MODULE}/links/other.md`,
      `${MODULE}/prompts/w.md.bak`,
      `${MODULE}/prompts/xw.md`,
    ],
    ...[`${OPEN}var.dir}/${OPEN}var.name}.json`, `${OPEN}var.dir}/v.md`, `/etc/${OPEN}var.name}.conf`],
  ]
    .map(file)
    .concat([
      `fileset("${MODULE}/prompts", "*.json")`,
      '"w.md"',
      '"prompts"',
      'format("%s/prompts/v.md", path.module)',
      `file("/etc/${whole}.conf")`,
      `file(join("/", [path.module, "v.md"]))`,
    ]);
}

/**
 * Layouts in which JSON files or templates name the source's text file. Also layouts with similar text that does not
 * read the file.
 */
function readerFiles(): readonly Layout[] {
  const json = `{"locals":{"a":"${OPEN}path.root}/lines/prompts/w.md"}}`;
  const files: readonly (readonly [string, string, boolean])[] = [
    ["lines/names.tf.json", json, true],
    ["lines/t.tftpl", `# by ${OPEN}file("${OPEN}dir}/prompts/w.md")}`, true],
    ["lines/t.tftpl", "# like file(prompts/w.md)", false],
    ["lines/t.tftpl", `# by ${OPEN}file("${OPEN}dir}/prompts/v.md")}`, false],
  ];
  return files.map(([other, text, isRefused]) => {
    const { files: own, ...layout } = readers("lines", "lines/b.tf", "1", false);
    const place = new RegExp(`at ${other.replace(/\./g, "\\.")}:1`);
    return {
      ...layout,
      says: `${other} holds ${text}`,
      files: { ...own, [other]: text },
      refused: isRefused ? { code: "ambiguous", place } : null,
    };
  });
}

/** Layouts that pass a folder with the source's text file to something that reads files. */
function folderReaders(): readonly Layout[] {
  const values = [
    ...[
      `"${MODULE}/"`,
      `"${MODULE}"`,
      "path.module",
      `"${MODULE}/."`,
      `"${MODULE}/prompts/.."`,
      `"${MODULE}/prompts/"`,
    ],
    ...["path.root", `"${ROOT}/"`, "path.cwd", '"prompts/"', '"./prompts"', '"./prompts/"', "abspath(path.module)"],
  ];
  const forms: readonly ((value: string) => string)[] = [
    (value) => `data "archive_file" "x" { # x\n  source_dir = ${value}\n}\n`,
    (value) => `resource "x" "x" { # x\n  working_dir = ${value}\n}\n`,
    (value) => `module "x" { # x\n  dir = ${value}\n}\n`,
    (value) => `resource "x" "x" {\n  provisioner "file" { source = ${value} }\n}\n`,
    (value) => `locals {\n  a = { folder = ${value} }\n}\n`,
  ];
  return ["", "lines"].flatMap((folder) =>
    values.flatMap((value) =>
      forms.map((form): Layout => {
        const other = folder === "" ? "b.tf" : `${folder}/b.tf`;
        const { files, ...layout } = readers(folder, other, "1");
        return { ...layout, says: `${other} holds ${form(value)}`, files: { ...files, [other]: form(value) } };
      }),
    ),
  );
}

/**
 * All layouts in which code may read the source's text file, and similar layouts in which it does not. The source is at
 * the root or in a subfolder, and the code writes the file's path in each possible form.
 */
export function readerLayouts(): readonly Layout[] {
  const forms = ["", "lines", "infra/lines"].flatMap((folder) => {
    const own = folder === "" ? "b.tf" : `${folder}/b.tf`;
    return [
      ...namesIn(folder).map((expression) => readers(folder, own, expression)),
      ...othersIn(folder).map((expression) => readers(folder, own, expression, false)),
    ];
  });
  return [...forms, ...readerFiles(), ...folderReaders(), ...attributeReaders()];
}

/**
 * Layouts with attributes that read the source's text file or its folder, in HCL and JSON. Also layouts with similar
 * attributes that do not read the file.
 */
function attributeReaders(): readonly Layout[] {
  const resource = (body: string) => `resource "terraform_data" "x" { # x\n  ${body}\n}\n`;
  const provisioner = (kind: string, body: string) => resource(`provisioner "${kind}" {\n    ${body}\n  }`);
  const local = (command: string) => provisioner("local-exec", `command = ${command}`);
  const reading: readonly string[] = [
    ...['"prompts"', '"prompts/"', '"./prompts"', '"prompts/w.md"', "local.none", `"${OPEN}local.none}/w.md"`].flatMap(
      (value) => [
        provisioner("file", `source = ${value}`),
        resource(`source = ${value}`),
        resource(`source_dir = ${value}`),
        resource(`files = [${value}]`),
        resource(`config = { path = ${value} }`),
        `data "archive_file" "x" {\n  type = "zip"\n  source_dir = ${value}\n}\n`,
        `module "x" {\n  source = "acme/x/y"\n  source_dir = ${value}\n}\n`,
        provisioner("local-exec", `working_dir = ${value}\n    command = "make"`),
      ],
    ),
    ...[
      "cat prompts/w.md",
      "cd prompts; cat w.md",
      "cat ./prompts/*.md",
      "sh -c 'cat prompts/w.md'",
      "curl -d @prompts/w.md x",
    ].map((command) => local(`"${command}"`)),
    ...[
      'cat \\"prompts/w.md\\"',
      `cat ${OPEN}path.module}/prompts/w.md`,
      `cat ${OPEN}local.none}/w.md`,
      "cat $DIR/w.md",
      "tar c .",
    ].map((command) => local(`"${command}"`)),
    local("<<-EOT\n      set -e\n      cat prompts/w.md\n    EOT"),
    local("local.command"),
    local("local.none"),
    local('join(" ", ["cat", "prompts/w.md"])'),
    local('var.on ? "make" : "cat prompts/w.md"'),
    provisioner("remote-exec", 'inline = ["ls", "cat prompts/w.md"]'),
    provisioner("local-exec", 'command = "make"\n    environment = { FILE = "prompts/w.md" }'),
    provisioner("local-exec", 'command = "make"\n    interpreter = ["sh", "prompts/w.md"]'),
    'data "external" "x" {\n  program = ["sh", "-c", "cat prompts/w.md"]\n}\n',
    resource('triggers = { dir = "prompts" }'),
    resource('triggers_replace = ["prompts/w.md"]'),
    resource('run = "cat prompts/w.md"'),
    resource(`triggers = { hash = filemd5("${MODULE}/prompts/w.md") }`),
    `resource "service_skill" "x" {\n  provisioner "file" {\n    source = "prompts"\n  }\n}\n`,
  ];
  const harmless: readonly string[] = [
    ...[
      '"other"',
      '"prompts/v.md"',
      "local.other",
      `"${OPEN}local.none}/v.md"`,
      "data.archive_file.y.output_path",
    ].flatMap((value) => [
      provisioner("file", `source = ${value}`),
      resource(`source_dir = ${value}`),
      provisioner("local-exec", `working_dir = ${value}\n    command = "make"`),
    ]),
    ...["cat prompts/v.md", "echo done", "cat other/*.md"].map((command) => local(`"${command}"`)),
    resource("source_code_hash = local.none"),
    resource("output_path = local.none"),
    resource("triggers = { id = local.none }"),
    resource('description = "the prompts"'),
    'module "x" {\n  source = "acme/x/y"\n  name = local.none\n}\n',
    'terraform {\n  required_providers {\n    x = { source = "acme/prompts" }\n  }\n}\n',
    'resource "service_skill" "x" {\n  path = local.none\n  text = "Read prompts/w.md first."\n}\n',
    // Here `path` is the path of a role or of a URL, not the repository's root folder.
    resource('path = "/"'),
    resource(`path = "/${OPEN}local.none}/"`),
  ];
  const locals = `locals {\n  command = "cat prompts/w.md"\n  other = "${MODULE}/dist"\n}\n`;
  const { files, ...layout } = readers("lines", "lines/b.tf", "1");
  const read = (text: string, isRefused: boolean): Layout => ({
    ...layout,
    says: `lines/b.tf holds ${text}`,
    files: {
      ...files,
      "lines/b.tf": text,
      "lines/locals.tf":
        isRefused && !text.includes("local.command")
          ? ""
          : locals.replace(isRefused ? "" : "prompts/w.md", isRefused ? "" : "README.md"),
    },
    refused: isRefused ? { code: "ambiguous", place: /at lines\/b\.tf:\d/ } : null,
  });
  const json: readonly (readonly [string, boolean])[] = [
    ...[
      `{"resource":{"x":{"y":{"source_dir":"${OPEN}local.none}"}}}}`,
      '{"resource":{"x":{"y":{"source":"prompts"}}}}',
      '{"resource":{"x":{"y":{"provisioner":{"file":{"source":"prompts"}}}}}}',
      '{"resource":{"x":{"y":{"provisioner":[{"local-exec":{"command":"cat prompts/w.md"}}]}}}}',
      '{"resource":{"x":{"y":{"provisioner":[{"local-exec":{"command":"cat \\"prompts/w.md\\""}}]}}}}',
      `{"data":{"archive_file":{"y":{"source_dir":"${OPEN}path.module}/prompts"}}}}`,
      `{"module":{"x":{"source":"acme/x/y","folder":"${OPEN}path.module}"}}}`,
      `{"locals":{"p":"${OPEN}file(\\"${OPEN}path.module}/prompts/w.md\\")}"}}`,
      `{"run":{"x":{"variables":{"p":"${OPEN}file(\\"prompts/w.md\\")}"}}}}`,
    ].map((text) => [text, true] as const),
    ...[
      `{"resource":{"x":{"y":{"source":"prompts/v.md","name":"${OPEN}local.none}"}}}}`,
      `{"resource":{"service_skill":{"y":{"path":"${OPEN}local.none}"}}}}`,
      `{"locals":{"source":"${OPEN}local.none}","p":"prompts"}}`,
    ].map((text) => [text, false] as const),
  ];
  const names = ["b.tf.json", "b.tofu.json", "b.tftest.json", "b.tfquery.json", "b.tfstack.json", "b.tfdeploy.json"];
  return [
    ...reading.map((text) => read(text, true)),
    ...harmless.map((text) => read(text, false)),
    ...names.flatMap((name) =>
      json.map(([text, isRefused]): Layout => {
        const place = new RegExp(`at lines/${name.replaceAll(".", "\\.")}:1`);
        const own = { ...files, "lines/b.tf": "", [`lines/${name}`]: text };
        return {
          ...layout,
          says: `${name} holds ${text}`,
          files: own,
          refused: isRefused ? { code: "ambiguous", place } : null,
        };
      }),
    ),
  ];
}
