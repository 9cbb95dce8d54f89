import t from "tap";
import { diffLines } from "../../../../http/cli/configuration/text-diff.js";

const plain = { paint: (_colour: string, text: string) => text };
const many = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join("");

t.test("a changed text of several lines is a unified diff with its context", async (t) => {
  t.equal(diffLines(plain, "one line", "another"), null);
  t.same(diffLines(plain, "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n"), [
    "@@ -1,6 +1,6 @@",
    ...[" a", " b", " c", "-d", "+D", " e", " f"],
  ]);
  t.same(diffLines(plain, "a", "a\nb"), ["@@ -1,1 +1,2 @@", " a", "+b"]);
  t.same(diffLines(plain, "a", "a\nb\n"), ["@@ -1,1 +1,2 @@", "-a", "\\ No newline at end of file", "+a", "+b"]);
  t.same(diffLines(plain, "a\r\n", "a\n"), ["@@ -1,1 +1,1 @@", "-a\\r", "+a"]);
  t.same(diffLines(plain, "e\u0301\nb\n", "\u00e9\nc\n")?.slice(1), [" \u00e9", "-b", "+c"]);
});

t.test("a diff is bounded in lines, in their length and in its time", async (t) => {
  const long = diffLines(plain, many(100, "old"), many(100, "new")) ?? [];
  t.equal(long.length, 41);
  t.equal(long.at(-1), "… 161 more lines (--json has both texts)");
  t.equal(diffLines(plain, "a\n", `${"x".repeat(10_000)}\n`)?.at(-1)?.length, 201);
  t.same(diffLines(plain, many(20_000, "old"), many(20_000, "new")), [
    "(20001 lines → 20001 lines; too different to show)",
  ]);
});

t.test("a terminal gets colours", async (t) => {
  const marked = diffLines({ paint: (colour, text) => `<${colour}>${text}` }, "a\nb\n", "a\nc\n");
  t.same(marked, ["<dim>@@ -1,2 +1,2 @@", " a", "<red>-b", "<green>+c"]);
});
