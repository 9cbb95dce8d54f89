import t from "tap";
import { type SyntaxNode, TooDeep } from "../../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { makeEdit } from "../../../../actors/config-pull-requests/edit/make-edit.js";
import type { EditOutcome } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import {
  EDITED_PATH,
  editParsers,
  type TreeFiles,
  toStation,
  toTree,
  toWanted,
} from "../../../support/station-edit.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";
const line = (model = '"m"') =>
  `resource "service_line" "web" {\n  key = "web"\n  stations = [\n    { key = "plan", name = "Plan", kind = "work", model = ${model} },\n  ]\n}\n`;
const long = (text: string, length = 20_000) => text.repeat(Math.ceil(length / text.length));

/** Returns the outcome of an edit, and the number of lines of the longest text that HashiCorp's parser received. */
async function edit(files: TreeFiles | string): Promise<{ readonly outcome: EditOutcome; readonly lines: number }> {
  const { syntax, parseValues } = await editParsers();
  let lines = 0;
  const parsers = {
    syntax,
    parseValues: (path: string, text: string) => {
      lines = Math.max(lines, text.split("\n").length);
      return parseValues(path, text);
    },
  };
  const tree = toTree(typeof files === "string" ? { [EDITED_PATH]: files } : files);
  const outcome = await makeEdit(parsers, tree, toWanted(toStation({ model: "m" }), { model: "n" }));
  return { outcome, lines };
}

t.test("a heredoc without an end is refused with its line, and its text is not parsed", async (t) => {
  const cases: readonly (readonly [string, number])[] = [
    [`${line()}locals {\n  a = <<EOT\n${long("x\n", 200_000)}`, 8],
    [`${line()}locals {\n  a = <<-EOT\n${long(`some ${OPEN}x}\n`)}`, 8],
    [`${line()}a = <<A\nA\nb = <<B\n${long("A\n")}`, 9],
    [line(`<<EOT\n${long("x\n")}`), 4],
    [`locals {\n  a = f(<<EOT\n${long("x\n")}${line()}`, 2],
    [`${line()}locals {\r\n  a = <<EOT\r\n${long("x\r\n")}`, 8],
  ];
  for (const [source, place] of cases) {
    const { outcome, lines } = await edit(source);
    const message = new RegExp(`lines/main\\.tf:${place}: the heredoc`);
    t.match(outcome, { refused: { code: "not-hcl", message, attribute: "model", wanted: "n" } });
    t.ok(lines < 20, `${lines} lines`);
  }
});

t.test("long heredocs beside a line are not parsed, stay as they are, and faults keep their lines", async (t) => {
  const heredoc = (text: string) => `locals {\n  a = <<-EOT\n${text}  EOT\n}\n`;
  const beside = heredoc(long("    x y\n"));
  const { outcome, lines } = await edit(`${beside}${line()}${beside.replace("a =", "b =")}`);
  t.same(outcome, {
    files: [
      {
        path: EDITED_PATH,
        before: `${beside}${line()}${beside.replace("a =", "b =")}`,
        after: `${beside}${line('"n"')}${beside.replace("a =", "b =")}`,
      },
    ],
  });
  t.ok(lines < 30, `${lines} lines`);
  const rows = beside.split("\n").length - 1;
  const broken = await edit(`${beside}${line()}a b\n`);
  t.match(broken.outcome, { refused: { code: "not-hcl", message: new RegExp(`main\\.tf:${rows + 7},`) } });
});

t.test("what looks like a heredoc without an end in a comment is none", async (t) => {
  for (const comment of ["# a = <<EOT\n", "/* a = <<EOT\n*/\n", "// <<-EOT\n"]) {
    t.match((await edit(`${comment}${line()}`)).outcome, { files: { length: 1 } }, comment);
  }
});

t.test("what nests too deeply is refused with its line, in the source and elsewhere", async (t) => {
  for (const deep of [
    `x = ${"[".repeat(5_000)}`,
    long("a {\n", 8_000),
    `x = ${"a ? b : ".repeat(5_000)}c`,
    `x = 1${" + 1".repeat(5_000)}`,
  ]) {
    const { outcome } = await edit(`${line()}${deep}\n`);
    t.match(outcome, {
      refused: { code: "not-proven", message: /At lines\/main\.tf:\d+, .* too deeply/, wanted: "n" },
    });
  }
  const { syntax } = await editParsers();
  t.throws(() => syntax.parse(`x = ${"[".repeat(5_000)}`), TooDeep);
});

t.test("a team is followed over some hundred names at most, whatever branches there are", async (t) => {
  const { syntax, parseValues } = await editParsers();
  const steps: readonly ((index: number) => string)[] = [
    (index) => `local.t${index + 1}`,
    (index) => `var.on ? local.t${index + 1} : local.t${index + 1}`,
    (index) => `try(local.t${index + 1}, local.t${index + 2}, local.t0)`,
    (index) => `[local.t${index + 1}, local.t${index + 1}][0]`,
  ];
  for (const step of steps) {
    let parses = 0;
    const counting = {
      parseValues,
      syntax: {
        parse: (text: string) => {
          parses += 1;
          return syntax.parse(text);
        },
      },
    };
    const locals = Array.from({ length: 5_000 }, (_, index) => `  t${index} = ${step(index)}\n`).join("");
    const own = line().replace("  key", "  team_id = local.t0\n  key");
    const tree = toTree({ [EDITED_PATH]: own, "lines/locals.tf": `locals {\n${locals}}\n` });
    const outcome = await makeEdit(counting, tree, toWanted(toStation({ model: "m" }), { model: "n" }));
    t.match(outcome, { refused: { code: "ambiguous", message: /lines\/locals\.tf:\d+ is unknown/ } }, step(0));
    t.ok(parses < 10, `${step(0)}: ${parses} texts parsed`);
  }
});

t.test("a long expression that a team leads over is parsed once and given to no other parser", async (t) => {
  const { syntax, parseValues } = await editParsers();
  const list = (element: string) => `locals {\n  a = [${long(`${element}, `, 40_000)}]\n}\n`;
  const object = `locals {\n  a = {\n${long('    k = "x"\n', 40_000)}  }\n}\n`;
  const own = line().replace("  key", "  team_id = TEAM\n  key");
  const forms: readonly (readonly [string, string, string | null])[] = [
    ["trimspace(local.a)", list('"x"'), "ambiguous"],
    ["trimspace(local.a)", list("local.b"), "ambiguous"],
    ["trimspace(local.a)", object, "ambiguous"],
    ['"team_1"', list('"x"'), null],
  ];
  for (const [team, text, code] of forms) {
    for (const isApart of [true, false]) {
      const source = own.replace("TEAM", team);
      const files: TreeFiles = isApart
        ? { [EDITED_PATH]: source, "lines/b.tf": text }
        : { [EDITED_PATH]: `${source}${text}` };
      let [longParses, mostValues] = [0, 0];
      const counting = {
        syntax: {
          parse: (written: string) => {
            if (written.length > 10_000) longParses += 1;
            return syntax.parse(written);
          },
        },
        parseValues: (path: string, written: string) => {
          mostValues = Math.max(mostValues, written.length);
          return parseValues(path, written);
        },
      };
      const outcome = await makeEdit(counting, toTree(files), toWanted(toStation({ model: "m" }), { model: "n" }));
      const about = `${team} and ${text.slice(0, 30)}, ${isApart ? "apart" : "together"}`;
      t.match(outcome, code === null ? { files: { length: 1 } } : { refused: { code } }, about);
      // An edit that succeeds parses a long text twice: before the edit and after it.
      t.ok(longParses <= (code === null && !isApart ? 2 : 1), `${about}: ${longParses} long texts parsed`);
      t.ok(mostValues < 1_000, `${about}: ${mostValues} characters for HashiCorp's parser`);
    }
  }
});

t.test("the tree of a text is walked with one visit of each node", async (t) => {
  const { syntax } = await editParsers();
  const root = syntax.parse(`a = [${long('"x", ', 50_000)}]\nb = [\n`);
  const count = (node: SyntaxNode): number => node.children.reduce((sum, each) => sum + count(each), 1);
  t.ok(count(root) > 30_000 && count(root) < 100_000, `${count(root)} nodes`);
  t.ok(root.isBroken, "a part that is missing breaks the nodes around it");
  t.notOk(syntax.parse("a = [1]\n").isBroken);
});

t.test("an edit notes the file that each parser is given", async (t) => {
  const { syntax, parseValues } = await editParsers();
  const files = {
    [EDITED_PATH]: line(),
    "lines/b.tf": 'module "b" {\n  source = "./b"\n}\n',
    "b/c.tf": "locals {\n  source = 1\n}\n",
  };
  const parsed = new Map<string, string>();
  let at = "";
  const parsers = {
    parseValues,
    syntax: {
      parse: (text: string) => {
        if (!parsed.has(text)) parsed.set(text, at);
        return syntax.parse(text);
      },
    },
    onFile: (path: string) => {
      at = path;
    },
  };
  await makeEdit(parsers, toTree(files), toWanted(toStation({ model: "m" }), { model: "n" }));
  for (const [path, text] of Object.entries(files)) t.equal(parsed.get(text), path);
});

t.test("a repository of many small files is looked through, and one of too many refused", async (t) => {
  const files = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`m${n}/main.tf`, `module "x" {\n  source = "../a${n}"\n}\n`]),
    );
  t.match((await edit({ ...files(300), [EDITED_PATH]: line() })).outcome, { files: { length: 1 } });
  t.match((await edit({ ...files(401), [EDITED_PATH]: line() })).outcome, {
    refused: { code: "ambiguous", message: /At lines\/main\.tf:1: .*402 files of HCL/, wanted: "n" },
  });
  const own = line().replace("  key", '  team_id = "team_1"\n  key');
  t.match(
    (await edit({ ...files(401), [EDITED_PATH]: own })).outcome,
    { files: { length: 1 } },
    "the same line anyway",
  );
});

t.test("a file that is no text that can be read is refused by what it is", async (t) => {
  const kinds = [
    ["large", /larger than 1 MiB/],
    ["utf-16", /UTF-16/],
    ["binary", /binary/],
    ["encoding", /not UTF-8 text/],
  ] as const;
  for (const [unread, why] of kinds) {
    t.match((await edit({ [EDITED_PATH]: { unread } })).outcome, {
      refused: { code: "not-found", message: why, wanted: "n" },
    });
    t.match((await edit({ [EDITED_PATH]: line(), "lines/b.tf": { unread } })).outcome, {
      refused: { code: "ambiguous", message: new RegExp(`lines/b\\.tf .*${why.source}`) },
    });
  }
});
