import fc from "fast-check";
import t from "tap";
import {
  isEmptyChange,
  MAX_COUNTED_FILES,
  MAX_READ_CHARACTERS,
  MAX_READ_FILES,
  MAX_READ_HUNKS,
  readChange,
} from "../../../actors/judging/change.js";

const diff = [
  "diff --git a/bin.dat b/bin.dat",
  "index 76e4335..a6d9838 100644",
  "GIT binary patch",
  "literal 3",
  "zcmV;(05|_j@OcPu*H}CYlL(a={_$+1CKEi-{!3w8",
  "",
  "literal 2",
  "Cmc",
  "",
  "diff --git a/empty b/empty",
  "new file mode 100644",
  "index 0000000..e69de29",
  "diff --git a/old name.txt b/sp ace.txt",
  "similarity index 60%",
  "rename from old name.txt",
  "rename to sp ace.txt",
  "--- a/old name.txt\t",
  "+++ b/sp ace.txt\t",
  "@@ -1,4 +1,4 @@ function of(text) {",
  " a",
  "--- a/not a header",
  "+++ b/nor this",
  "",
  " @@ -1 +1 @@",
  "@@ -20 +20,2 @@",
  "-x",
  "\\ No newline at end of file",
  "+y",
  "+diff --git a/none b/none",
  "\\ No newline at end of file",
  "diff --git a/gone b/gone",
  "deleted file mode 100644",
  "--- a/gone",
  "+++ /dev/null",
  "@@ -1,2 +0,0 @@",
  "-a",
  "-b",
  'diff --git "a/\\303\\251/q\\" u.txt" "b/\\303\\251/q\\" u.txt"',
  "old mode 100644",
  "new mode 100755",
  "",
].join("\n");

t.test("a change is its files, with their hunks numbered over all checkouts", async (t) => {
  const more = "--- a/plain\n+++ b/plain\n@@ -1 +1 @@\n-1\n+2";
  const { files } = readChange([
    { repository: "app", diff },
    { repository: "docs", diff: more },
  ]);
  t.same(
    files.map(({ repository, path, kind, hunks, added, removed }) => [
      ...[`${repository} ${path}`, kind, hunks.map(({ number }) => number), added, removed],
    ]),
    [
      ["app bin.dat", "binary", [], 0, 0],
      ["app empty", "added", [], 0, 0],
      ["app sp ace.txt", "renamed", [1, 2], 3, 2],
      ["app gone", "deleted", [3], 0, 2],
      ['app é/q" u.txt', "changed", [], 0, 0],
      ["docs plain", "changed", [4], 1, 1],
    ],
  );
});

t.test("a hunk keeps its text, whatever its lines look like", async (t) => {
  const [first, second] = readChange([{ repository: "app", diff }]).files[2]?.hunks ?? [];
  t.equal(first?.text, "@@ -1,4 +1,4 @@ function of(text) {\n a\n--- a/not a header\n+++ b/nor this\n\n @@ -1 +1 @@");
  t.match(second?.text, /^@@ -20 \+20,2 @@\n-x\n\\ No newline.*\n\+y\n\+diff --git.*\n\\ No newline at end of file$/);
});

t.test("a change of nothing is empty, one of a mode is not", async (t) => {
  t.ok(isEmptyChange(readChange([])));
  t.ok(isEmptyChange(readChange([{ repository: "app", diff: "" }])));
  const mode = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
  t.notOk(isEmptyChange(readChange([{ repository: "app", diff: mode }])));
});

t.test("any text can be read, and hunks are numbered from 1 without gaps", async () => {
  const line = fc.oneof(
    fc.constantFrom(
      "diff --git a/x b/x",
      "--- a/x",
      "+++ b/x",
      "@@ -1 +1 @@",
      "@@ -1,3 +1,9 @@",
      "+++",
      "-",
      "+",
      " ",
      "",
    ),
    fc.string(),
    fc.string({ unit: "binary" }).map((text) => `"${text}`),
  );
  const text = fc.array(line).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), (diffs) => {
      const { files } = readChange(diffs.map((each) => ({ repository: "app", diff: each })));
      const numbers = files.flatMap(({ hunks }) => hunks.map(({ number }) => number));
      return numbers.every((number, at) => number === at + 1);
    }),
  );
});

const listPaths = (text: string) => readChange([{ repository: "app", diff: text }]).files.map(({ path }) => path);

t.test("a path is read the same whatever characters are in it or after it", async (t) => {
  for (const after of ["", "\t", "\t\t\t", "\t\u2028", "\t\t\r", "\t\u2029x", `${"\t".repeat(9_000)}\u2028`]) {
    t.same(listPaths(`--- a/x\n+++ b/sp ace${after}\n@@ -1 +1 @@\n-1\n+2`), ["sp ace"]);
    t.same(listPaths(`diff --git a/x b/x\n--- /dev/null${after}\n+++ b/x${after}\n`), ["x"]);
  }
  for (const inside of ["é", "\u2028", "a\u2029", "\ufeff", "\r"]) {
    t.same(listPaths(`diff --git "a/${inside}" "b/${inside}"\n`), [inside], "in quotes");
    t.same(listPaths(`diff --git a/${inside} b/${inside}\n`), [inside]);
  }
});

t.test("escapes of a quoted path are bytes, and what is none stays", async (t) => {
  const cases: [string, string][] = [
    ['"b/\\303\\251"', "é"],
    ['"b/\\n\\t\\r\\a\\b\\f\\v\\\\\\""', '\n\t\r\x07\b\f\v\\"'],
    ['"b/\\z\\18\\1"', "z181"],
    ['"b/x\\"', "x\\"],
    ['"b/x', '"b/x'],
    ['"', '"'],
    ['""', ""],
  ];
  for (const [quoted, path] of cases) t.same(listPaths(`diff --git a/q b/q\n+++ ${quoted}\n`), [path], quoted);
  t.same(listPaths('diff --git "a/\\"x\\\\" "b/y"\n'), ['"x\\']);
  t.same(listPaths(`diff --git "${"\\\\".repeat(4_000)}\n`).length, 1, "without an end");
});

const toFile = (at: number, hunks: number) =>
  `diff --git a/${at} b/${at}\n--- a/${at}\n+++ b/${at}\n${"@@ -1 +1 @@\n-a\n+b\n".repeat(hunks)}`;

t.test("files beyond the bound are counted, over all checkouts", async (t) => {
  const diff = Array.from({ length: MAX_READ_FILES - 1 }, (_, at) => toFile(at, 1)).join("");
  const more = [1, 2, 3].map((at) => toFile(at, 1)).join("");
  const { files, unread } = readChange([
    { repository: "app", diff },
    { repository: "docs", diff: more },
  ]);
  t.equal(files.length, MAX_READ_FILES);
  t.notOk(files.some(({ isCut }) => isCut));
  t.match(files.at(-1), { repository: "docs", path: "1", added: 1 });
  t.equal(unread, 2);
  const most = readChange([{ repository: "app", diff: "diff --git \n".repeat(2 * MAX_COUNTED_FILES) }]);
  t.same([most.files.length, most.unread], [MAX_READ_FILES, MAX_COUNTED_FILES]);
});

t.test("files that begin without git's own line are bounded as well", async (t) => {
  const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".repeat(MAX_READ_FILES + 5);
  const { files, unread } = readChange([{ repository: "app", diff }]);
  t.same([files.length, unread], [MAX_READ_FILES, 0]);
  t.same(
    files.filter(({ isCut }) => isCut),
    files.slice(-1),
    "the last says that more followed",
  );
});

t.test("hunks beyond the bound are not read, and the long file that has them says so", async (t) => {
  const diff = [toFile(0, MAX_READ_HUNKS + 7), toFile(1, 2)].join("");
  const { files } = readChange([{ repository: "app", diff }]);
  t.same(
    files.map(({ hunks, isCut, added }) => [hunks.length, isCut, added]),
    [
      [MAX_READ_HUNKS - 2, true, MAX_READ_HUNKS - 2],
      [2, false, 2],
    ],
  );
});

t.test("of a file that is too long its beginning is read, and the others whole", async (t) => {
  const long = (unit: string) =>
    `diff --git a/l b/l\n+++ b/long\n@@ -0,0 +1 @@\n+${unit.repeat(MAX_READ_CHARACTERS)}\n`;
  for (const unit of ["x", "+\n", "\u{1f600}", "\n"]) {
    const { files, unread } = readChange([{ repository: "app", diff: `${long(unit)}${toFile(1, 3)}${long(unit)}` }]);
    t.equal(unread, 0);
    t.same(
      files.map(({ path, isCut }) => [path, isCut]),
      [
        ["long", true],
        ["1", false],
        ["long", true],
      ],
    );
    const [first, second, third] = files.map(({ hunks }) => hunks.map(({ text }) => text).join("\n"));
    t.ok((first?.length ?? 0) + (second?.length ?? 0) + (third?.length ?? 0) <= MAX_READ_CHARACTERS);
    t.notMatch(first, /[\ud800-\udbff]$/, "no pair is cut in two");
    t.equal(second?.split("@@ -1").length, 4);
  }
});

t.test("the bytes of a binary file take nothing from what is read of the others", async (t) => {
  const binary = `diff --git a/b b/b\nGIT binary patch\nliteral 9\n${"zAAAA\n".repeat(MAX_READ_CHARACTERS / 2)}`;
  const long = `diff --git a/l b/l\n@@ -0,0 +1 @@\n+${"x".repeat(MAX_READ_CHARACTERS - 1_000)}\n`;
  const { files } = readChange([{ repository: "app", diff: `${binary}${long}${long.slice(0, 500)}` }]);
  t.same(
    files.map(({ kind, isCut }) => [kind, isCut]),
    [
      ["binary", false],
      ["changed", false],
      ["changed", false],
    ],
  );
});

t.test("a change of which nothing could be read is not taken for none", async (t) => {
  const change = readChange([{ repository: "app", diff: `${"\n".repeat(MAX_READ_CHARACTERS)}--- a/x\n` }]);
  t.same(change, { files: [], unread: 1 });
  t.notOk(isEmptyChange(change));
});
