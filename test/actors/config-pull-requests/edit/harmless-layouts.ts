import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, OPEN } from "./layout.js";
import { call, made } from "./module-layout.js";
import { beside } from "./text-layout.js";

const MODULE = `${OPEN}path.module}`;

/**
 * Layouts with code of the usual kind in which a part of a path or of a command is unknown. The code cannot read the
 * source's text file, so the edit succeeds.
 *
 * For contrast, layouts with similar code that may read the text file: the edit is refused. Also returns {@link
 * onceLayouts}.
 */
export function harmlessLayouts(): readonly Layout[] {
  const at = /at lines\/b\.tf:\d/;
  const resource = (body: string, place: RegExp | null = null) =>
    beside(`a resource with ${body}`, { "lines/b.tf": `resource "x_y" "x" {\n  ${body}\n}\n` }, place);
  const command = (text: string) => `provisioner "local-exec" {\n    command = "${text}"\n  }`;
  const ids = [
    ...[
      "folder = google_folder.x.id",
      "folder_id = var.folder_id",
      "folder = var.folder_id",
      "source = aws_s3_object.x.arn",
    ],
    ...["source = data.x_y.z.id", 'source = x_y.z["a"].id', "source = x_y.z[0].self_link", "path = x_y.z.parent_id"],
    ...['config_context = "staging"', "config_context = var.context", "config_context_cluster = local.cluster"],
    ...[
      `query = "SELECT * FROM t WHERE id = ${OPEN}var.x}"`,
      "query = {\n    id = var.x\n  }",
      "input = var.x",
      "args = [var.x]",
    ],
    ...[`"echo ${OPEN}self.id}"`, `"echo ${OPEN}x_y.z.public_ip} >> hosts.txt"`, `"x --id=${OPEN}self.id}"`].map(
      (text) => command(text.slice(1, -1)),
    ),
    command(`curl -X POST ${OPEN}self.url} && x ${OPEN}aws_instance.x.arn}`),
    `path = "/${OPEN}x_y.z.id}/"`,
  ];
  const reading = [
    ...[
      "folder = x_y.z.name",
      "folder = local.none",
      "source = x_y.z.output",
      "source = module.x.path",
      "source = local.id",
    ],
    ...[
      `source = "${OPEN}x_y.z.id}/w.md"`,
      `source = "${OPEN}x_y.z.id}.md"`,
      "source = each.value",
      "source = self.triggers.dir",
    ],
    ...[
      command(`cat ${OPEN}self.triggers.file}`),
      command(`cat ${OPEN}var.file}`),
      command(`cat ${OPEN}self.id}/w.md`),
      command("cat *"),
    ],
    ...[
      'context = "prompts"',
      'query = "prompts/w.md"',
      `query = { file = "${MODULE}/prompts/w.md" }`,
      "folder = var.folder",
    ],
  ];
  return [
    ...ids.map((body) => resource(body)),
    ...reading.map((body) => resource(body, at)),
    ...credentialLayouts(),
    ...writtenFileLayouts(),
    ...otherPathLayouts(),
    ...fileSetLayouts(),
    ...terragruntReaders(),
    ...onceLayouts(),
  ];
}

/** Layouts with credentials from files, and with files that a variable names. */
function credentialLayouts(): readonly Layout[] {
  const at = /at lines\/b\.tf:\d/;
  const provider = (body: string, place: RegExp | null = null, more: TreeFiles = {}) =>
    beside(
      `a provider with ${body} beside ${Object.keys(more)}`,
      { "lines/b.tf": `provider "x" {\n  ${body}\n}\n`, ...more },
      place,
    );
  const reads = (value: string) => `locals {\n  a = ${value}\n}\n`;
  const variable = (body: string) => ({ "lines/v.tf": `variable "creds" {\n  ${body}\n}\n` });
  const local = (says: string, files: TreeFiles, place: RegExp | null) =>
    beside(`file(var.creds): ${says}`, { "lines/b.tf": reads("file(var.creds)"), ...files }, place);
  const other = 'default = "~/.config/x.json"';
  return [
    ...[
      "credentials = file(var.creds)",
      "client_key = file(var.key)",
      "config_path = var.kubeconfig",
      "token = trimspace(file(var.t))",
    ].map((body) => provider(body)),
    provider("kubernetes {\n    cluster_ca_certificate = file(var.ca)\n  }"),
    provider("prompt = file(var.p)", at),
    provider(`credentials = file("${MODULE}/prompts/w.md")`, at),
    provider(`credentials = file("${MODULE}/prompts/${OPEN}var.name}.md")`, at),
    provider("credentials = file(local.p)", at, { "lines/l.tf": `locals {\n  p = "${MODULE}/prompts/w.md"\n}\n` }),
    local("a known default", variable(other), null),
    local("no default", variable("type = string"), at),
    local("the default is the file", variable('default = "prompts/w.md"'), at),
    local("an empty default", variable('default = ""'), at),
    local("a default of null", variable("default = null"), at),
    local("two defaults", { ...variable(other), "lines/v2.tf": 'variable "creds" {\n  default = "x"\n}\n' }, at),
    ...[
      ["lines/terraform.tfvars", 'creds = "prompts/w.md"\n'],
      ["prod.tfvars", "creds = local.x\n"],
      ["main.tf", 'module "l" {\n  source = "./lines"\n  creds = var.x\n}\n'],
      ["main.tf.json", `{"module":{"l":{"source":"./lines","creds":"${OPEN}var.x}"}}}`],
      ["live/terragrunt.hcl", "inputs = {\n  creds = local.x\n}\n"],
      [
        "live/terragrunt.hcl",
        'terraform {\n  extra_arguments "x" {\n    commands = ["apply"]\n    arguments = ["-var", "creds=x"]\n  }\n}\n',
      ],
      [
        "live/terragrunt.hcl",
        'terraform {\n  extra_arguments "x" {\n    commands = ["apply"]\n    env_vars = { TF_VAR_creds = "x" }\n  }\n}\n',
      ],
    ].map(([name = "", text = ""]) =>
      local(
        `a default that ${name} replaces with ${text}`,
        { ...variable(other), [name]: text },
        /at (lines\/b\.tf:2|lines\/terraform)/,
      ),
    ),
  ];
}

/**
 * Layouts in which an attribute or a word of a command looks like a path, but is for example a part of a URL. Also
 * layouts with similar paths that may name the source's text file.
 */
function otherPathLayouts(): readonly Layout[] {
  const block = (header: string, body: string, isRefused = false) =>
    beside(
      `${header} with ${body}`,
      { "lines/b.tf": `${header} {\n  ${body}\n}\n` },
      isRefused ? /at lines\/b\.tf:\d/ : null,
    );
  const x = 'resource "x_y" "x"';
  const value = `${OPEN}var.x}`;
  const command = (text: string) => `provisioner "local-exec" {\n    command = "${text}"\n  }`;
  const urls = [
    "health_check {\n    path = var.x\n  }",
    'dynamic "health_check" {\n    for_each = [1]\n    content {\n      path = var.x\n    }\n  }',
    `rule {\n    http {\n      path {\n        path = "/${value}"\n      }\n    }\n  }`,
    `liveness_probe {\n    http_get {\n      path = "/${value}/health"\n    }\n  }`,
    `path = "/${value}/*"`,
    `path = "/api/${value}"`,
    `origin {\n    origin_path = "/${value}"\n  }`,
    "volume_mount {\n    mount_path = var.x\n    sub_path = var.y\n  }",
    `host_path = "/srv/${value}"`,
    `filename = "~/.config/${value}"`,
  ];
  const types = ["aws_iam_role", "aws_iam_policy", "vault_generic_secret", "aws_ssm_parameters_by_path"];
  return [
    ...urls.map((body) => block(x, body)),
    ...types.flatMap((type) => [
      block(`resource "${type}" "x"`, "path = var.x"),
      block(`data "${type}" "x"`, `path = "/${value}/"`),
      block(`resource "${type}" "x"`, `path = "${MODULE}/prompts/w.md"`, true),
      block(`resource "${type}" "x"`, "source_path = var.x", true),
    ]),
    block('module "x"', `source = "a/b/c"\n  health_check = {\n    path = var.x\n  }`),
    ...[
      "path = var.x",
      "health_check {\n    file = var.x\n  }",
      'source = "/repo/lines/prompts/w.md"',
      `source = "/${value}/prompts/w.md"`,
      `source = "/builds/${value}/lines/prompts/"`,
      `source = "~/${value}/w.md"`,
      `x = file("/srv/${value}")`,
    ].map((body) => block(x, body, true)),
    ...[`x --name=${value}`, `NAME=${value} x`, `x name=${value}`, `x --cluster-name=${value} --zone=${value}`].flatMap(
      (text) => [block(x, command(text)), block(x, `command = ["sh", "-c", "${text}"]`)],
    ),
    ...[
      ...[`x --file=${value}`, `x --config-file=${value}`, `dd if=${value}`, `x --name=a ${value}`],
      ...[`x --dir=${value}`, `x --name=${value}/w.md`, `x --name=${value} prompts/w.md`],
    ].map((text) => block(x, command(text), true)),
    ...[
      `aws eks update-kubeconfig --name ${OPEN}aws_eks_cluster.c.name} --region ${value}`,
      `kubectl -n ${value} rollout restart deploy/x`,
      `helm upgrade --install x x/x --namespace ${value} --set image.tag=${value}`,
      `az aks x --resource-group ${OPEN}x_y.z.name} --profile '${value}' --redirect ${value}`,
      ...[`curl -f https://${value}`, `aws s3 rm s3://${OPEN}x_y.b.id}/ --recursive`, `curl http://localhost:${value}`],
    ].flatMap((text) => [block(x, command(text)), block(x, `command = ["sh", "-c", "${text}"]`)]),
    block(x, 'command = ["/app/run", "--region", var.x, "--name", x_y.z.name]'),
    ...[
      ...["--cli-input-json", "--values", "--template-body", "--from-file", "-f", "-C", "--kube-context"].map(
        (option) => `x ${option} ${value}`,
      ),
      ...[`x --from-file=a=${value}`, `x --set-file a=${value}`, `curl -F a=@${value}`, `curl -s @${value}`],
      ...[`x --name a ${value}`, `x --name a; cat ${value}`, `cat -n ${value}`, `bash -x ${value}`, `./x.sh ${value}`],
      ...[`cat file://${value}`, `x --name ${value}/w.md`, `x https://a ${value}`],
    ].map((text) => block(x, command(text), true)),
    ...['["cat", var.x]', '["x", "--file", var.x]', '["x", "--name", "a", var.x]', '["x", "--name a", var.x]'].map(
      (list) => block(x, `command = ${list}`, true),
    ),
    ...["private_key = file(var.x)", 'certificate = file("~/.ssh/x")', "password = file(local.none)"].flatMap(
      (body) => [
        block(x, `connection {\n    ${body}\n  }`),
        block(x, `provisioner "remote-exec" {\n    connection {\n      ${body}\n    }\n  }`),
      ],
    ),
    ...[`private_key = file("${MODULE}/prompts/w.md")`, "host = file(var.x)"].map((body) =>
      block(x, `connection {\n    ${body}\n  }`, true),
    ),
  ];
}

/**
 * Layouts in which code reads a file that a resource or data source writes. In similar layouts, the code reads a file
 * that may be the source's text file.
 */
function writtenFileLayouts(): readonly Layout[] {
  const at = /at lines\/b\.tf:\d/;
  const archive = `data "archive_file" "fn" {\n  type = "zip"\n  source_dir = "${MODULE}/fn"\n  output_path = "${MODULE}/fn.zip"\n}\n`;
  const file = `resource "local_file" "f" {\n  filename = "${MODULE}/out/x.json"\n  content = "x"\n}\n`;
  const using = (body: string, isRefused = false) =>
    beside(
      `beside files that are written: ${body}`,
      { "lines/b.tf": `resource "x_y" "x" {\n  ${body}\n}\n`, "lines/a.tf": archive + file },
      isRefused ? at : null,
    );
  const path = "data.archive_file.fn.output_path";
  return [
    ...[
      `source_code_hash = filebase64sha256(${path})`,
      `etag = filemd5(${path})`,
      `etag = filemd5("${OPEN}${path}}")`,
      "hash = filesha256(archive_file.fn.output_path)",
      "hash = filebase64sha256(data.archive_file.fn[0].output_path)",
      'hash = filebase64sha256((data.archive_file.fn["a"].output_path))',
      "etag = filemd5(local_file.f.filename)",
      "x = jsondecode(file(local_file.f.filename))",
      "x = file(local_sensitive_file.f[0].filename)",
      "source = local_file.f.filename",
      `filename = ${path}`,
    ].map((body) => using(body)),
    beside(
      "the path of an archive in a local",
      { "lines/b.tf": `${archive}locals {\n  zip = ${path}\n  hash = filemd5(local.zip)\n}\n` },
      null,
    ),
    ...[
      "etag = filemd5(data.archive_file.fn.source_file)",
      "etag = filemd5(x_y.z.filename)",
      "etag = filemd5(module.f.filename)",
      `etag = filemd5("${OPEN}${path}}/w.md")`,
      "x = file(x_y.z.id)",
    ].map((body) => using(body, true)),
    beside("an archive of the file", { "lines/b.tf": archive.replace('/fn"', '/prompts"') }, /at lines\/b\.tf:3/),
  ];
}

/** Layouts with files that `fileset` lists. */
function fileSetLayouts(): readonly Layout[] {
  const each = (files: string, name: string) =>
    `resource "x_y" "x" {\n  for_each = ${files}\n  content = file("${name}")\n}\n`;
  const layout = (text: string, place: RegExp | null, file = "other/b.tf") =>
    beside(`${file} holds ${text}`, { [file]: text }, place);
  const own = (text: string) => layout(text, /at lines\/b\.tf:\d/, "lines/b.tf");
  const value = `${MODULE}/${OPEN}each.value}`;
  return [
    ...["each.value", "each.key"].flatMap((name) => [
      layout(each('fileset(path.module, "rules/*.json")', `${MODULE}/${OPEN}${name}}`), null),
      layout(each('toset(fileset(path.module, "rules/**"))', `${MODULE}/${OPEN}${name}}`), null),
      layout(each('fileset(path.module, "*.md")', `${MODULE}/${OPEN}${name}}`), null),
      own(each('fileset(path.module, "prompts/*.md")', `${MODULE}/${OPEN}${name}}`)),
      own(each('fileset(path.module, "**/*.md")', `${MODULE}/${OPEN}${name}}`)),
    ]),
    own(
      each("local.files", value).replace(
        "  content",
        `  dynamic "y" {\n    for_each = fileset(path.module, "rules/*")\n    content {\n      a = file("${value}")\n    }\n  }\n  content`,
      ),
    ),
    own(each("local.files", value)),
    own(each("fileset(path.module, local.pattern)", value)),
    layout(each('fileset(path.module, "../lines/prompts/*.md")', value), /at other\/b\.tf:\d/),
    layout(
      each('fileset(path.module, "rules/*.md")', `${MODULE}/../lines/prompts/${OPEN}basename(each.value)}`),
      /at other\/b\.tf:\d/,
    ),
    layout(each('fileset("../lines", "prompts/*.md")', `../lines/${OPEN}each.value}`), /at other\/b\.tf:\d/),
    layout(
      `locals {\n  a = { for f in fileset(path.module, "rules/*.json") : f => file("${MODULE}/${OPEN}f}") }\n}\n`,
      null,
    ),
    layout(`locals {\n  a = [for f in fileset(path.module, "rules/*") : file("${MODULE}/${OPEN}f}")]\n}\n`, null),
    own(`locals {\n  a = [for f in fileset(path.module, "prompts/*") : file("${MODULE}/${OPEN}f}")]\n}\n`),
    own(`locals {\n  a = [for f in local.files : file("${MODULE}/${OPEN}f}")]\n}\n`),
    own(
      `locals {\n  a = [for f in fileset(path.module, "rules/*") : [for f in local.files : file("${MODULE}/${OPEN}f}")]]\n}\n`,
    ),
  ];
}

/** Layouts with Terragrunt files that read other files, or that may read the source's text file. */
function terragruntReaders(): readonly Layout[] {
  const locals = (value: string, place: RegExp | null) =>
    beside(`a unit reads ${value}`, { "live/terragrunt.hcl": `locals {\n  a = ${value}\n}\n` }, place);
  const at = /at live\/terragrunt\.hcl:2/;
  return [
    locals('read_terragrunt_config(find_in_parent_folders("account.hcl"))', null),
    locals('read_terragrunt_config(find_in_parent_folders("env.hcl")).locals.x', null),
    locals('yamldecode(file(find_in_parent_folders("common.yaml")))', null),
    locals('read_terragrunt_config("../account.hcl")', null),
    locals('file(find_in_parent_folders("prompts/w.md"))', at),
    locals('file(find_in_parent_folders("w.md"))', at),
    locals("file(find_in_parent_folders(local.name))", at),
    locals('file(find_in_parent_folders("x.md", local.other))', at),
    locals(`file("${OPEN}get_repo_root()}/lines/prompts/w.md")`, at),
  ];
}

/**
 * Layouts with calls whose `count` or `for_each` is an expression. Some calls create at most one instance; the other
 * calls may create more.
 */
function onceLayouts(): readonly Layout[] {
  const counted = (more: string, once: boolean) =>
    made(
      `${once ? "once: " : ""}${more}`,
      { "main.tf": call("core", "./modules/line", `  ${more}\n`) },
      once ? null : /main\.tf:1/,
    );
  return [
    ...[
      "count = (1)",
      "count = ((1))",
      'count = "1"',
      "count = (var.on ? 1 : 0)",
      "count = true ? 1 : 2",
      "count = var.a ? 1 : var.b ? 1 : 0",
    ].map((more) => counted(more, true)),
    ...[
      "for_each = var.on ? { core = 1 } : {}",
      "for_each = true ? { core = 1 } : { a = 1, b = 2 }",
      'for_each = var.on ? toset(["core"]) : toset([])',
    ].map((more) => counted(more, true)),
    ...["for_each = tomap({ core = 1 })", "for_each = ({ core = 1 })", "for_each = false ? local.x : { core = 1 }"].map(
      (more) => counted(more, true),
    ),
    ...[
      "count = (2)",
      "count = 1 + 1",
      "count = (1) + 1",
      "count = true ? 2 : 1",
      "count = var.a ? 2 : var.b ? 1 : 0",
      "count = -1 + 3",
    ].map((more) => counted(more, false)),
    ...[
      "for_each = var.on ? { core = 1, web = 2 } : {}",
      "for_each = false ? {} : { a = 1, b = 2 }",
      "for_each = var.on ? local.x : {}",
    ].map((more) => counted(more, false)),
    ...[
      "for_each = tomap(local.x)",
      "for_each = { (var.a) = 1 }",
      'for_each = toset(["a"]...)',
      "for_each = toset([for x in local.x : x])",
    ].map((more) => counted(more, false)),
    made(
      "once: a count in JSON",
      {
        "m.tf.json": `{"module":{"core":{"source":"./modules/line","team_id":"team_1","count":"${OPEN}var.on ? 1 : 0}"}}}`,
      },
      null,
    ),
    made(
      "a count in JSON",
      {
        "m.tf.json": `{"module":{"core":{"source":"./modules/line","team_id":"team_1","count":"${OPEN}var.a ? 3 : var.b ? 1 : 0}"}}}`,
      },
      /m\.tf\.json:1/,
    ),
  ];
}
