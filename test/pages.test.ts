import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import t from "tap";

/** What the Markdown pages of the repository say about its files is true. */

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && existsSync(path));

/** File names between backticks, with or without a folder; a bare suffix such as `.kind.ts` is no name. */
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
