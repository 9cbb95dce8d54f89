import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import t from "tap";

/** The repository's Markdown pages name only existing files. */

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && existsSync(path));

/** File names in backticks, with or without a folder. A bare suffix such as `.kind.ts` does not count. */
const NAME = /`((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|mjs|cjs))`/g;

t.test("every source file that a page names is there: name it as it is called now", async (t) => {
  const pages = tracked.filter((path) => path.endsWith(".md"));
  t.ok(pages.length > 0);
  const isThere = (name: string) => {
    const plain = name.replace(/^(\.\.\/)+/, "");
    return tracked.some((path) => path === plain || path.endsWith(`/${plain}`));
  };
  const missing = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(NAME)].flatMap(([, name = ""]) =>
      isThere(name) ? [] : [`${page}: ${name}`],
    ),
  );
  t.same(missing, []);
});
