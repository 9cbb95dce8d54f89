/** A folder that the command refuses: the HCL after {@link refusedStart}, other files, and the error message. */
export interface RefusedFolder {
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly says: string;
}

/** The start of an interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";

const skill = (attributes: string) => `resource "service_skill" "a" {
  team_id = service_team.core.id
  key     = "a"
  name    = "A"
  ${attributes}
}`;
const files = 'files = [{ path = "SKILL.md", content = "x" }]';
const tooLarge = "the value is too large: with the values that it refers to, it may have 16 MiB";
const advice = 'write a value, or refer to var, local, file("…") or a resource of the folder';

/** A workspace and a team, on 10 lines. */
export const refusedStart = `resource "service_workspace" "acme" {
  slug = "acme"
  name = "Acme"
}
resource "service_team" "core" {
  workspace_id = service_workspace.acme.id
  key          = "core"
  name         = "Core"
}

`;

export const refusedFolders: readonly RefusedFolder[] = [
  {
    text: skill('description = upper("x")'),
    says: 'main.tf:15: the function upper is not understood: write the value, or read it with file("…")',
  },
  { text: skill("description = [for x in y : x]"), says: `main.tf:15: a for expression is not understood: ${advice}` },
  { text: skill('description = true ? "a" : "b"'), says: `main.tf:15: a condition is not understood: ${advice}` },
  { text: skill("description = 1 + 2"), says: `main.tf:15: an operation is not understood: ${advice}` },
  { text: skill("description = var.x[*].y"), says: `main.tf:15: a splat is not understood: ${advice}` },
  {
    text: skill('description = "%{ if true }x%{ endif }"'),
    says: `main.tf:15: a template directive is not understood: ${advice}`,
  },
  {
    text: skill(`description = "${OPEN}~ var.x }"`),
    says: "main.tf:15: the strip marker ~ is not understood: write the text without it",
  },
  { text: skill("description = x"), says: `main.tf:15: x is not understood: ${advice}` },
  { text: skill("count = 2"), says: "main.tf:15: count is not understood: write one block for each resource" },
  {
    text: skill('for_each = { a = "b" }'),
    says: "main.tf:15: for_each is not understood: write one block for each resource",
  },
  {
    text: skill('provider = "other"'),
    says: "main.tf:15: provider is not understood: write one block for each resource",
  },
  { text: skill("lifecycle {}"), says: "main.tf:15: the block lifecycle is not understood in a resource" },
  { text: skill('dynamic "files" {}'), says: "main.tf:15: the block dynamic is not understood in a resource" },
  {
    text: skill("description = each.key"),
    says: "main.tf:15: each.key is not understood: only var, local, path.module and resources of the folder can be named",
  },
  {
    text: skill("description = data.x.y.z"),
    says: "main.tf:15: data.x.y.z is not understood: only var, local, path.module and resources of the folder can be named",
  },
  { text: skill("description = var.x"), says: "main.tf:15: there is no variable x in the folder" },
  { text: skill("description = local.x"), says: "main.tf:15: there is no local value x in the folder" },
  {
    text: skill("description = service_team.other.id"),
    says: "main.tf:15: there is no resource service_team.other in the folder; expected one of core",
  },
  {
    text: skill("description = service_team.core"),
    says: "main.tf:15: service_team.core is a whole resource: name an attribute, such as service_team.core.id",
  },
  {
    text: skill("description = service_team.core.color"),
    says: "main.tf:15: service_team.core sets no color (main.tf:5): only id and attributes that the folder sets can be named",
  },
  {
    text: `${skill(`description = "a ${OPEN}local.x}"`)}\nlocals {\n  x = ["a"]\n}`,
    says: "main.tf:15: a list cannot be part of a text",
  },
  {
    text: `${skill("description = local.x")}\nlocals {\n  x = local.y\n  y = local.x\n}`,
    says: "main.tf:19: local.x → local.y → local.x refers to itself",
  },
  {
    text: skill(`${files}\n  description = file("../secret")`),
    says: "main.tf:16: ../secret is outside of the folder",
  },
  {
    text: skill(`${files}\n  description = file("/etc/passwd")`),
    says: "main.tf:16: /etc/passwd is outside of the folder",
  },
  {
    text: skill(`${files}\n  description = file("${OPEN}path.module}/no.md")`),
    says: "main.tf:16: there is no file ./no.md",
  },
  { text: skill(`${files}\n  description = file("link")`), says: "main.tf:16: link leads outside of the folder" },
  {
    text: skill(`${files}\n  description = file("folder")`),
    says: "main.tf:16: folder is no file, or the files have more than 16 MiB together",
  },
  {
    text: skill(`${files}\n  color = "red"`),
    says: "main.tf:16: color is not a known attribute; expected one of team_id, key, name, description, files, depends_on",
  },
  {
    text: skill('files = [{ path = "SKILL.md", content = "x", mode = 1 }]'),
    says: "main.tf:15: files[0].mode is not a known attribute; expected one of path, content",
  },
  ...["team/team_id", "kye/key", "naem/name"].map((typo, index) => {
    const [given = "", meant = ""] = typo.split("/");
    return {
      text: skill(files).replace(`  ${meant} `, `  ${given} `),
      says: `main.tf:${12 + index}: ${given} is not a known attribute; did you mean ${meant}?`,
    };
  }),
  {
    text: skill("files = [{ pth = 1, conten = 2 }]\n  descripton = 1"),
    says: "main.tf:16: descripton is not a known attribute; did you mean description?",
  },
  {
    text: skill("files = [{ pth = 1, conten = 2 }]"),
    says: "main.tf:15: files[0].pth is not a known attribute; did you mean path?\nmain.tf:15: files[0].conten is not a known attribute; did you mean content?",
  },
  {
    text: 'resource "service_skil" "a" {}',
    says: "main.tf:11: the resource type service_skil is not understood; did you mean service_skill?",
  },
  {
    text: 'resorce "service_skill" "a" {}',
    says: "main.tf:11: the block resorce is not understood; did you mean resource?",
  },
  {
    text: 'locals {\n  a = "x\n  b = "y"\n  c = "z"\n}',
    says: 'main.tf:12: it is not HCL: Invalid multi-line string; Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \\n escape to represent a newline character or use the "heredoc" multi-line template syntax.',
  },
  {
    text: skill("description = service_team.core.kye"),
    says: "main.tf:15: service_team.core sets no kye (main.tf:5); did you mean key?",
  },
  {
    text: `${skill("description = var.levl")}\nvariable "level" {}`,
    says: "main.tf:15: there is no variable levl in the folder; did you mean level?",
  },
  {
    text: skill("description = service_team.cor.key"),
    says: "main.tf:15: there is no resource service_team.cor in the folder; did you mean core?",
  },
  { text: skill("files = 5"), says: "main.tf:15: files must be a list" },
  { text: skill(`${files}\n  description = { a = 1, a = 2 }`), says: "main.tf:16: a is set twice" },
  {
    text: skill("").replace('  name    = "A"', ""),
    says: "main.tf:11: service_skill.a: name is required\nmain.tf:11: service_skill.a: files is required",
  },
  { text: skill(files).replace('  key     = "a"', ""), says: "main.tf:11: service_skill.a needs the attribute key" },
  {
    text: skill(files).replace("  team_id = service_team.core.id", ""),
    says: "main.tf:11: service_skill.a needs team_id = service_team.<name>.id",
  },
  {
    text: skill(files).replace("service_team.core.id", '"team_x"'),
    says: "main.tf:12: team_id names no team of the workspace acme",
  },
  { text: `${skill(files)}\n${skill(files)}`, says: "main.tf:17: service_skill.a is also at main.tf:11" },
  {
    text: `${skill(files)}\n${skill(files).replace('"a" {', '"b" {')}`,
    says: "main.tf:17: service_skill.b is the skill core/a, as is service_skill.a (main.tf:11)",
  },
  {
    text: 'data "x" "y" {}',
    says: "main.tf:11: the block data is not understood: a folder may have resource, locals, variable, import, moved, output, provider, terraform",
  },
  {
    text: 'module "x" {\n  source = "./x"\n}',
    says: "main.tf:11: the block module is not understood: a folder may have resource, locals, variable, import, moved, output, provider, terraform",
  },
  {
    text: "removed {\n  from = service_team.core\n}",
    says: "main.tf:11: the block removed is not understood: a folder may have resource, locals, variable, import, moved, output, provider, terraform",
  },
  {
    text: 'variable "x" {\n  validation {}\n}',
    says: "main.tf:12: the block validation in variable is not understood",
  },
  {
    text: 'variable "x" {\n  type = set(string)\n  default = ["a"]\n}',
    says: "main.tf:11: the type set(string) is not understood: use string, number, bool, any, list(…) or map(…)",
  },
  {
    text: 'variable "x" {\n  type = number\n  default = "many"\n}',
    says: "main.tf:11: the default: the variable x must be of the type number",
  },
  {
    text: 'import {\n  to = service_team.other\n  id = "x/other"\n}',
    says: "main.tf:11: there is no resource service_team.other in the folder to import: remove this block, or add the resource",
  },
  {
    text: 'import {\n  to = service_team.core\n  for_each = {}\n  id = "x"\n}',
    says: "main.tf:13: for_each is not understood in an import block",
  },
  { text: "key = 1", says: "main.tf:11: an attribute outside of a block is not understood" },
  { text: 'resource "service_team" {}', says: "main.tf:11: a resource block needs 2 labels" },
  {
    text: skill("description = "),
    says: "main.tf:15: it is not HCL: Invalid expression; Expected the start of an expression, but found an invalid expression token.",
  },
  {
    text: skill('description = "\\q"'),
    says: 'main.tf:15: it is not HCL: Invalid escape sequence; The symbol "q" is not a valid escape sequence selector.',
  },
  { text: `locals {\n  x = ${"[".repeat(400)}${"]".repeat(400)}\n}`, says: "main.tf:12: it nests too deeply" },
  { text: "", files: { "more.tf.json": "{}" }, says: "more.tf.json: only files that end with .tf are understood" },
  {
    text: "",
    files: { "main_override.tf": "" },
    says: "main_override.tf: override files are not understood: put the values into the blocks they override",
  },
  {
    text: 'variable "x" {}',
    files: { "terraform.tfvars": "x = var.y\n" },
    says: "terraform.tfvars:1: only values are understood in a file of variables",
  },
  {
    text: 'variable "x" {}',
    files: { "a.auto.tfvars.json": '{"x": "s3cret' },
    says: "a.auto.tfvars.json:1: it is not JSON",
  },
  ...["s3cret", "[s3cret()]", '"a OPENupper(s3cret)}"', "{ s3cret = 1, s3cret = 2 }"].map((value, index) => ({
    text: 'variable "x" {}',
    files: { "terraform.tfvars": `x = ${value.replace("OPEN", OPEN)}\n` },
    says: `terraform.tfvars:1: ${index === 3 ? "a name is set twice in an object" : "only values are understood in a file of variables"}`,
  })),
  { text: 'variable "x" {}', files: { "terraform.tfvars": 'x = "\\q"\n' }, says: "terraform.tfvars:1: it is not HCL" },
  ...['"true"', "(true)", "1", "local.x"].map((value) => ({
    text: `variable "x" {\n  sensitive = ${value}\n}`,
    says: "main.tf:12: sensitive must be true or false, without quotes or an expression",
  })),
  {
    text: `${skill(`${files}\n  description = file(var.x)`)}\nvariable "x" {\n  sensitive = true\n}`,
    files: { "terraform.tfvars": 'x = "s3cret e\u0301"\n' },
    says: "main.tf:16: there is no file (sensitive value)",
  },
  {
    text: `${skill(`${files}\n  description = local.x0`)}\nlocals {\n${Array.from({ length: 300 }, (_, at) => `  x${at} = local.x${at + 1}\n`).join("")}  x300 = "x"\n}`,
    says: "main.tf:218: references are more than 200 deep",
  },
  {
    text: `${skill(`${files}\n  description = local.x0`)}\nlocals {\n${Array.from({ length: 40 }, (_, at) => `  x${at} = "${OPEN}local.x${at + 1}}${OPEN}local.x${at + 1}}"\n`).join("")}  x40 = "x"\n}`,
    says: "main.tf:35: the templates have more than 16 MiB of text",
  },
  ...["[local.xN, local.xN]", "{ a = local.xN, b = local.xN }"].map((twice) => ({
    text: `${skill(`${files}\n  description = local.x0`)}\nlocals {\n${Array.from({ length: 60 }, (_, at) => `  x${at} = ${twice.replaceAll("N", String(at + 1))}\n`).join("")}  x60 = "x"\n}`,
    says: `main.tf:59: ${tooLarge}`,
  })),
  ...["a.auto.tfvars", "a.auto.tfvars.json"].map((path) => ({
    text: 'variable "x" {}',
    files: { [path]: `x = "${"x".repeat(4 * 1024 ** 2)}"` },
    says: `${path} has more than 4 MiB`,
  })),
  {
    text: "",
    files: { "large.tf": `# ${"x".repeat(4 * 1024 ** 2)}` },
    says: "large.tf has more than 4 MiB",
  },
  {
    text: 'resource "service_skill" "a" {\n  team_id = service_team.new.id\n  key = "a"\n  name = service_team.new.id\n  files = [{ path = "SKILL.md", content = "x" }]\n}\nresource "service_team" "new" {\n  workspace_id = service_workspace.acme.id\n  key = "new"\n  name = "New"\n  depends_on = [service_skill.a]\n}',
    says: "main.tf:11: service_skill.a and service_team.new refer to each other: name one of them by its key",
  },
];
