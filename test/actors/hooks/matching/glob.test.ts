import fc from "fast-check";
import t from "tap";
import { compileGlob } from "../../../../actors/hooks/matching/glob.js";

t.test("globs match paths as the reference's table says", async (t) => {
  const table: readonly [glob: string, path: string, matches: boolean][] = [
    ["src/**", "src/a/b.ts", true],
    ["src/**", "src/", true],
    ["src/**", "lib/src/a.ts", false],
    ["**", "anything/at/all", true],
    ["**/test.ts", "a/b/test.ts", true],
    ["**/test.ts", "test.ts", false],
    ["**.ts", "a/b.ts", true],
    ["*.ts", "b.ts", true],
    ["*.ts", "a/b.ts", false],
    ["src/*/index.ts", "src/a/index.ts", true],
    ["src/*/index.ts", "src/a/b/index.ts", false],
    ["?.md", "a.md", true],
    ["?.md", "ab.md", false],
    ["a?b", "a/b", false],
    ["docs/", "docs/a/b.md", true],
    ["docs/", "docs", false],
    ["docs", "docs/a.md", false],
    ["a.c", "abc", false],
    ["[ab].ts", "a.ts", false],
    ["[ab].ts", "[ab].ts", true],
    ["", "", true],
  ];
  for (const [glob, path, matches] of table) t.equal(compileGlob(glob).matches(path), matches, `${glob} on ${path}`);
});

t.test("a glob matches what its regular expression does", async () => {
  const glob = fc
    .array(fc.constantFrom("**", "*", "?", "/", "a", "b", ".", "("), { maxLength: 8 })
    .map((each) => each.join(""));
  const path = fc.string({ unit: fc.constantFrom("/", "a", "b", ".", "("), maxLength: 12 });
  fc.assert(
    fc.property(glob, path, (pattern, text) => {
      const whole = pattern.endsWith("/") ? `${pattern}**` : pattern;
      const source = whole.replace(
        /\*\*|[*?.(]/g,
        (token) => ({ "**": ".*", "*": "[^/]*", "?": "[^/]" })[token] ?? `\\${token}`,
      );
      return compileGlob(pattern).matches(text) === new RegExp(`^${source}$`, "s").test(text);
    }),
    { numRuns: 3_000 },
  );
});

t.test("a glob that is exponential for a backtracking matcher is matched quickly", async (t) => {
  t.equal(compileGlob(`${"**a".repeat(40)}b`).matches("a".repeat(2_000)), false);
  t.equal(compileGlob(`${"*?".repeat(100)}/`).matches("a".repeat(2_000)), false);
});
