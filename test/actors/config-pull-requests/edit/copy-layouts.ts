import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";
import { call, core, MADE } from "./module-layout.js";
import { beside } from "./text-layout.js";

const resource = (type: string, body: string) => `resource "${type}" "x" {\n  ${body}\n}\n`;
const archive = (body: string) => `data "archive_file" "x" {\n  type = "zip"\n  ${body}\n}\n`;

/** Layouts in which a resource copies the source's text file, or copies a folder that contains the text file. */
export function copyLayouts(): readonly Layout[] {
  return [...textCopies(), ...folderCopies()];
}

function textCopies(): readonly Layout[] {
  const text = `${OPEN}path.module}/../lines/prompts/w.md`;
  const at = /at ops\/a\.tf(\.json)?:\d/;
  const of = (code: string, place: RegExp | null) => beside(code, { "ops/a.tf": code }, place);
  const names = [text, `${OPEN}path.root}/../lines/prompts/w.md`, "../lines/prompts/w.md", "prompts/w.md"];
  const copies = names.map((name) => [
    resource("local_file", `filename = "out/a.md"\n  content = file("${name}")`),
    resource("local_file", `filename = "out/a.md"\n  source = "${name}"`),
    resource("local_sensitive_file", `content_base64 = filebase64("${name}")`),
    resource("github_repository_file", `content = file("${name}")`),
    resource("gitlab_repository_file", `content = filebase64("${name}")`),
    resource("aws_s3_object", `source = "${name}"\n  etag = "x"`),
    resource("aws_s3_object", `content = templatefile("${name}", {})`),
    resource("aws_s3_bucket_object", `content_base64 = filebase64("${name}")`),
    resource("google_storage_bucket_object", `source = "${name}"`),
    resource("azurerm_storage_blob", `source = "${name}"`),
    resource("spacelift_mounted_file", `content = filebase64("${name}")`),
    resource("kubernetes_config_map", `data = {\n    "w.md" = file("${name}")\n  }`),
    archive(`source_file = "${name}"`),
    archive(`source {\n    content = file("${name}")\n    filename = "x.md"\n  }`),
  ]);
  const folders = ["prompts", "", "prompts/"].map((name) => `${OPEN}path.module}/../lines/${name}`);
  return [
    // Only some pairs are tested: each resource with one of the names, and each name with some of the resources.
    ...copies.flatMap((each, index) =>
      each.filter((_, row) => row % names.length === index).map((code) => of(code, at)),
    ),
    ...folders.map((name) => of(archive(`source_dir = "${name}"`), at)),
    beside(
      "an archive in JSON",
      { "ops/a.tf.json": JSON.stringify({ data: { archive_file: { x: { source_dir: "../lines/prompts" } } } }) },
      at,
    ),
    ...[
      resource("local_file", `filename = "out/prompts/w.md"\n  content = "x"`),
      resource("github_repository_file", `file = "docs/w.md"\n  content = file("${OPEN}path.module}/w.md")`),
      resource("aws_s3_object", `key = "docs/w.md"\n  source = "${OPEN}path.module}/w.md"`),
      resource("spacelift_mounted_file", `content = filebase64("${OPEN}path.module}/w.md")`),
      archive(`source_dir = "${OPEN}path.module}/fn"`),
      archive(`source_dir = "${OPEN}path.module}"`),
      archive(`source {\n    content = "x"\n    filename = "x.md"\n  }`),
    ].map((each) => of(each, null)),
  ];
}

function folderCopies(): readonly Layout[] {
  const of = (says: string, files: TreeFiles, place: RegExp | null, path = "shared/main.tf"): Layout => ({
    says,
    path,
    change: "model",
    files: { [path]: line({ team: '"team_1"' }), ...files },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const own = (body: string, place: RegExp | null) => of(body, { "shared/b.tf": body }, place);
  const here = `${OPEN}path.module}`;
  const at = /copied into another module at (shared\/)?b\.tf:\d/;
  return [
    ...[here, `${here}/`, ".", `${OPEN}path.root}`, `${OPEN}path.cwd}`, `${here}/.`].map((name) =>
      own(archive(`source_dir = "${name}"`), at),
    ),
    own(archive(`source_dir = path.module`), at),
    own(archive(`source_dir = abspath(path.module)`), at),
    own(archive(`source_file = "${here}/main.tf"`), at),
    own(resource("archive_file", `source_dir = path.module`), at),
    of("the folder from the root", { "b.tf": archive(`source_dir = "${here}/shared"`) }, at),
    of("the root", { "b.tf": archive(`source_dir = "${here}"`) }, at),
    of("the root's own source", { "b.tf": archive(`source_dir = "${here}"`) }, at, "main.tf"),
    of(
      "in JSON",
      { "b.tf.json": JSON.stringify({ data: { archive_file: { x: { source_dir: `${here}/shared` } } } }) },
      /copied into another module at b\.tf\.json:1/,
    ),
    ...[
      archive(`source_dir = "${here}/fn"`),
      archive(`source_dir = "${here}/../fn"`),
      archive(`source_dir = "${here}/${OPEN}var.fn}"`),
      archive(`source_dir = path.module\n  excludes = ["*.tf", "x.zip"]`),
      archive(`source_dir = path.module\n  excludes = ["**/*.tf"]`),
      archive(`source_dir = path.module\n  excludes = ["main.tf"]`),
      archive(`source_file = "${here}/index.py"`),
      resource("x_y", `name = basename(path.module)`),
      resource("x_y", `tags = { folder = path.module }`),
    ].map((body) => own(body, null)),
    of("another folder from the root", { "b.tf": archive(`source_dir = "${here}/net"`) }, null),
  ];
}

/** Layouts in which code writes another call of the module, or the line's resource. */
export function writtenCallerLayouts(): readonly Layout[] {
  const of = (says: string, files: TreeFiles, place: RegExp | null): Layout => ({
    says,
    path: MADE,
    change: "model",
    files: {
      [MADE]: line({ team: "var.team_id" }),
      "teams.tf": core,
      "main.tf": call("core", "./modules/line"),
      ...files,
    },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const module = (source = "../../modules/line") => `module "web" {\n  source = "${source}"\n  team_id = "team_2"\n}\n`;
  const heredoc = (text: string) => `<<-EOT\n${text}EOT`;
  const quoted = (text: string) => JSON.stringify(text);
  const writers = ["local_file", "github_repository_file", "gitlab_repository_file", "spacelift_mounted_file", "tfe_x"];
  const types = writers.slice(0, 4);
  const at = /ops\.tf:\d/;
  const remote = "git::https://code.example/acme/infra.git//modules/line";
  return [
    ...types.flatMap((type) => [
      of(`${type}: a heredoc`, { "ops.tf": resource(type, `content = ${heredoc(module())}`) }, at),
      of(`${type}: a text`, { "ops.tf": resource(type, `content = ${quoted(module())}`) }, at),
      of(
        `${type}: a local`,
        { "ops.tf": `locals {\n  x = ${heredoc(module())}\n}\n${resource(type, "content = local.x")}` },
        at,
      ),
      of(
        `${type}: a file`,
        { "ops.tf": resource(type, `content = file("t/a.txt")`), "t/a.txt": module() },
        /t\/a\.txt:1/,
      ),
      of(
        `${type}: a template`,
        {
          "ops.tf": resource(type, `content = templatefile("${OPEN}path.module}/t/a.tftpl", {})`),
          "t/a.tftpl": module(),
        },
        /t\/a\.tftpl:1/,
      ),
      of(`${type}: a remote source`, { "ops.tf": resource(type, `content = ${heredoc(module(remote))}`) }, at),
      of(
        `${type}: the line's resource`,
        { "ops.tf": resource(type, `content = ${heredoc(line({ team: '"team_1"' }))}`) },
        at,
      ),
      of(
        `${type}: another team's line`,
        { "ops.tf": resource(type, `content = ${heredoc(line({ team: '"team_2"' }))}`) },
        null,
      ),
      of(
        `${type}: another line`,
        { "ops.tf": resource(type, `content = ${heredoc(line({ team: "x" }).replace('"web"\n  st', '"net"\n  st'))}`) },
        null,
      ),
      of(
        `${type}: another module`,
        { "ops.tf": resource(type, `content = ${heredoc(module("../../modules/net"))}`) },
        null,
      ),
      of(
        `${type}: another repository`,
        { "ops.tf": resource(type, `content = ${heredoc(module(remote.replace("infra", "net")))}`) },
        null,
      ),
      of(`${type}: another text`, { "ops.tf": resource(type, 'content = "the module is in modules/line"') }, null),
      of(
        `${type}: another file`,
        { "ops.tf": resource(type, `content = file("t/a.txt")`), "t/a.txt": "modules/line\n" },
        null,
      ),
    ]),
    of("an unused template", { "templates/a.tf.tpl": module() }, /templates\/a\.tf\.tpl:1/),
    of(
      "a template with an unknown source",
      { "ops.tf": resource("local_file", `filename = "a.tf"\n  content = ${heredoc(module(`${OPEN}var.x}`))}`) },
      at,
    ),
    of("a template of another module", { "templates/a.tf.tpl": module("../../modules/net") }, null),
    of(
      "an unknown template",
      { "ops.tf": resource("local_file", "content = templatefile(var.template, {})"), "t/a.tftpl": module() },
      /t\/a\.tftpl:1/,
    ),
    of("another template", { "ops.tf": resource("local_file", 'content = "x"'), "t/a.tftpl": module() }, null),
    of(
      "a template with directives",
      { "templates/a.tf.tpl": `%{ for x in y }\n${module()}%{ endfor }\n` },
      /templates\/a\.tf\.tpl:2/,
    ),
    of(
      "a template of Jinja",
      { "templates/a.tf.j2": `{% for x in y %}\n${module("{{ source }}")}{% endfor %}\n` },
      /templates\/a\.tf\.j2:2/,
    ),
    of(
      "a template of Jinja of another module",
      { "templates/a.tf.j2": `{% for x in y %}\n${module("../{{ x }}/net")}{% endfor %}\n` },
      null,
    ),
    of("a template of a line", { "templates/a.tf.j2": line({ team: '"{{ team }}"' }) }, /templates\/a\.tf\.j2:1/),
    of(
      "an example in a description",
      {
        "ops.tf": `variable "x" {\n  description = ${heredoc(module())}\n}\n${resource("local_file", 'content = "x"')}`,
      },
      null,
    ),
    of("user data", { "ops.tf": resource("aws_instance", `user_data = ${heredoc("#!/bin/sh\necho module\n")}`) }, null),
    of("a README", { "README.md": `Use it:\n\n\`\`\`hcl\n${module()}\`\`\`\n` }, null),
  ];
}
