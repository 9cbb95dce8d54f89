import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import t from "tap";
import { readTables } from "../support/page-tables.js";

const page = readFileSync("docs/contributing.md", "utf8");
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

/**
 * Scripts that the page does not list: npm runs them by itself, or they run commands of the product, which other pages
 * describe.
 */
const OTHERS = [
  ...["start", "runner", "check", "backup", "restore", "dead-letters", "doctor", "compact", "rebuild-directory"],
  ...["recount-bodies", "prepack"],
];

t.test("the tables have each script of package.json once, and no other", async (t) => {
  const listed = readTables(page)
    .flat()
    .map(([command = ""]) => /^`npm (?:run )?([a-z]+)`$/.exec(command)?.[1] ?? command);
  t.same([...listed, ...OTHERS].sort(), Object.keys(scripts).sort());
  const mentioned = [...page.matchAll(/npm (?:run )?([a-z-]+)/g)].map(([, name = ""]) => name);
  const known = [...Object.keys(scripts), "ci", "and"];
  t.same(
    mentioned.filter((name) => !known.includes(name)),
    [],
  );
});

t.test("each script of tests and benchmarks starts a program that is there", async (t) => {
  const programs = Object.values(scripts).flatMap((script) => script.match(/dist\/(?:test|bench)\S*\.js/g) ?? []);
  t.ok(programs.length > 10);
  for (const program of programs) t.ok(existsSync(program), program);
});

/**
 * Programs that start quickly, each with the arguments of a short run. Other programs take seconds to load, even for
 * `--help`. For those, the test above only checks that the file exists.
 */
const SMALLEST: Readonly<Record<string, { readonly args: readonly string[]; readonly prints: RegExp }>> = {
  test: { args: ["--help"], prints: /^npm test -- [\s\S]*--jobs N[\s\S]*--seed N/ },
  sim: { args: ["--seeds", "1", "--from", "1"], prints: /1 seeds, [\s\S]* 0 seeds with a complaint/ },
  chaos: { args: ["--help"], prints: /^npm run chaos -- [\s\S]*--rounds N/ },
  kills: { args: ["--help"], prints: /^npm run kills -- \[--keys 1000\] \[--parallel 64\] \[--kills 50\]/ },
  noise: { args: ["--help"], prints: /^npm run noise -- / },
  bench: { args: ["--help"], prints: /^npm run bench -- [\s\S]*hooks/ },
};

t.test("the programs run with their smallest arguments", async (t) => {
  for (const [name, { args, prints }] of Object.entries(SMALLEST)) {
    const [program = ""] = scripts[name]?.match(/dist\/(?:test|bench)\S*\.js/) ?? [];
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args]);
    t.match(stdout, prints, name);
  }
});

t.test("CI runs what the page says", async (t) => {
  const ci = readFileSync(".ci/run", "utf8");
  for (const part of ["npm test", "--rounds 5", "use_node 24", "nginx", "caddy", "systemd-analyze"]) t.match(ci, part);
});
