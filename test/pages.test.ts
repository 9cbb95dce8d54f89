import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import t from "tap";
import { readBlocks } from "./support/page-blocks.js";
import { readLinks } from "./support/page-links.js";
import { listSvgFaults } from "./support/svg.js";

/** The repository's Markdown pages name only existing files and headings, and their commands run in tests. */

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

const userPages = tracked.filter((path) => path === "README.md" || /^docs\/.*\.md$/.test(path));

t.test("every relative link of a page leads to a file, and every anchor to a heading", async (t) => {
  const pages = tracked.filter((path) => path.endsWith(".md"));
  const read = new Map(pages.map((page) => [page, readLinks(readFileSync(page, "utf8"))]));
  t.ok(userPages.length > 5);
  t.ok(pages.length > userPages.length);
  const broken = [...read].flatMap(([page, { links }]) =>
    links
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? page : normalize(join(dirname(page), path));
        if (!existsSync(target)) return true;
        if (anchor === undefined) return false;
        const { anchors } = read.get(target) ?? readLinks(readFileSync(target, "utf8"));
        return !anchors.has(anchor);
      })
      .map((link) => `${page}: ${link}`),
  );
  t.same(broken, []);
});

t.test("the index of docs/ links to every page there", async (t) => {
  const { links } = readLinks(readFileSync("docs/README.md", "utf8"));
  const wanted = userPages.filter((path) => /^docs\/([\w-]+\.md|[\w-]+\/README\.md)$/.test(path));
  const missing = wanted.filter((path) => path !== "docs/README.md" && !links.includes(path.slice("docs/".length)));
  t.same(missing, []);
});

t.test("links and anchors are read as GitHub shows them", async (t) => {
  const page = "# A `b.ts`, c\n\n## Same\n## Same\n[x](y.md#z) ![p](p.svg) [far](https://example.com) <mailto:a@b.c>\n";
  const { links, anchors } = readLinks(page);
  t.same(links, ["y.md#z", "p.svg"]);
  t.same([...anchors], ["a-bts-c", "same", "same-1"]);
});

/** Other tests follow these pages: `test/http/resources/` and `test/deploy/`. */
const FOLLOWED_ELSEWHERE = /^docs\/(deploy|integrations)\//;

t.test("a test in test/docs/ follows each page with commands", async (t) => {
  const tests = tracked.filter((path) => /^test\/docs\/.*\.ts$/.test(path)).map((path) => readFileSync(path, "utf8"));
  const pages = userPages.filter((page) => page.startsWith("docs/") && !FOLLOWED_ELSEWHERE.test(page));
  const withCommands = pages.filter((page) =>
    readBlocks(readFileSync(page, "utf8"), page).some(({ language }) => language === "sh"),
  );
  t.ok(withCommands.length > 0);
  t.same(
    withCommands.filter((page) => !tests.some((text) => text.includes(`"${page}"`))),
    [],
  );
});

t.test("the pictures are well-formed, readable in the dark, and have a title", async (t) => {
  const pictures = tracked.filter((path) => path.endsWith(".svg"));
  t.ok(pictures.length >= 3);
  for (const picture of pictures) {
    const text = readFileSync(picture, "utf8");
    t.same(listSvgFaults(text), [], picture);
    t.match(text, /@media \(prefers-color-scheme: dark\)/);
    t.match(text, /<title id="title">[^<]+<\/title>/);
  }
});

t.test("what is not well-formed is found", async (t) => {
  t.same(listSvgFaults("<svg><style>a { b: c }</style><a b='c'>&lt;</a></svg>"), []);
  for (const text of ["<svg><a></svg>", "<svg><a b=c/></svg>", "<svg><a b/></svg>", "<svg>&</svg>", "<svg/><svg/>"]) {
    t.ok(listSvgFaults(text).length > 0, text);
  }
});
