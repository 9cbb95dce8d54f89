import fc from "fast-check";
import t from "tap";
import { isEmptyChange, readChange } from "../../../actors/judging/change.js";

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
