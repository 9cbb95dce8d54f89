import { existsSync, readFileSync } from "node:fs";
import t from "tap";
import { readBlocks } from "../support/page-blocks.js";

/** The README is short. Each of its commands is an npm script or a command of the quick start, which a test follows. */

const page = readFileSync("README.md", "utf8");
const commands = readBlocks(page, "README.md")
  .filter(({ language }) => language === "sh")
  .flatMap(({ code }) => code.split("\n"))
  .map((line) => line.replace(/ +#.*$/, ""));

t.test("the main page has at most 900 words", async (t) => {
  const words = page.split(/\s+/).filter((word) => word !== "");
  t.ok(words.length <= 900, `${words.length} words`);
});

t.test("it has the commands for the demo and the tests, and CI runs the latter", async (t) => {
  t.ok(commands.includes("npm ci && npm run demo"));
  t.ok(commands.includes("npm ci && npm test"));
  t.match(readFileSync(".ci/run", "utf8"), /^step "npm ci [^"]*"$[\s\S]*^step "npm test"$/m);
});

t.test("each other command stands in the quick start or is a script", async (t) => {
  const quickStart = readFileSync("docs/quick-start.md", "utf8");
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object };
  for (const command of commands) {
    const [, script] = /^npm ci && npm (?:run )?([\w-]+)$/.exec(command) ?? [];
    t.ok(script === undefined ? quickStart.includes(command) : Object.hasOwn(scripts, script), command);
  }
  t.ok(commands.filter((command) => command.startsWith("signalbox ")).length >= 6);
});

t.test("its pictures are there", async (t) => {
  const pictures = [...page.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
  t.same(pictures, ["docs/pictures/signalbox.svg", "docs/pictures/demo.svg"]);
  t.ok(pictures.every((path) => existsSync(path)));
});
