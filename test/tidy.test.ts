import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import t from "tap";
import { createDependentSources, createDirectoryCatalogue, createKinds, tables } from "../actors/catalogue.js";
import { parseAllowList } from "../actors/outbound/http/allow-list.js";
import { countStatements, listFunctions, parseSource } from "./support/source-code.js";

/** The house rules that a program can check; each message says what to do instead. */

const codeFolders = ["storage", "runtime", "actors", "http", "test", "bench"];
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && existsSync(path));
const sources = tracked
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));
const product = sources.filter(({ path }) => /^(storage|runtime|actors|http)\//.test(path));

/** Returns the lines outside of comments that match `pattern`, as `path:line`. */
function places(files: readonly { path: string; text: string }[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        !/^\s*(\*|\/\/|\/\*)/.test(line) && pattern.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
}

t.test("code stands in the six folders and nowhere else", async (t) => {
  t.same(
    sources.map(({ path }) => path).filter((path) => !codeFolders.includes(path.split("/")[0] ?? "")),
    [],
  );
});

t.test(
  "what is no code stands beside it, in docs/ or at the top: docs/architecture.md names each folder",
  async (t) => {
    const known = [...codeFolders, "docs", ".ci"];
    t.same(
      tracked.filter((path) => path.includes("/") && !known.includes(path.split("/")[0] ?? "")),
      [],
    );
  },
);

/**
 * Maximum number of statements and of class and interface members in a file. The limit does not count lines, because
 * their number depends on the formatting.
 */
const MOST_STATEMENTS = 320;
/** Files with fewer lines stay below the limit, so the test does not parse them. */
const FEW_LINES = 200;

t.test("no file has more than 320 statements: split it along its nouns", async (t) => {
  t.same(
    sources
      .filter(({ text }) => text.split("\n").length > FEW_LINES)
      .filter(({ path, text }) => countStatements(parseSource(path, text)) > MOST_STATEMENTS)
      .map(({ path }) => path),
    [],
  );
});

/** Maximum length of a function, in lines; {@link listFunctions} defines how to count. */
const MOST_LINES = 70;
/** Functions that still need to be split. The goal is an empty list. */
const notYet: readonly string[] = [];

t.test("no function is longer than 70 lines: give its parts names", async (t) => {
  const long = sources
    .filter(({ path, text }) => !path.startsWith("test/") && text.split("\n").length > MOST_LINES)
    .flatMap(({ path, text }) => listFunctions(parseSource(path, text)))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, name }) => `${path} ${name}`);
  t.same(long.sort(), notYet, "and what was split leaves the list");
});

t.test("files are named by what they are: no utils, helpers, common, manager, types or index", async (t) => {
  t.same(
    sources
      .map(({ path }) => path)
      .filter((path) => /^(utils?|helpers?|common|misc|manager|types|index)\./.test(basename(path))),
    [],
  );
});

t.test("machines are pure: no await, clock, chance, network or file in a .machine file; use event.turn", async (t) => {
  const machines = product.filter(({ path }) => path.endsWith(".machine.ts"));
  t.ok(machines.length > 0);
  t.same(
    places(machines, /\bawait\b|\basync\b|Date\.now|new Date\(\)|Math\.random|node:(fs|net|http|crypto|child_process)/),
    [],
  );
});

t.test(
  "time and chance come in as arguments in actors and runtime; only clocks, sockets and the edge read them",
  async (t) => {
    const inner = product.filter(
      ({ path }) =>
        /^(actors|runtime)\//.test(path) && path !== "runtime/clock.ts" && !path.startsWith("actors/outbound/"),
    );
    t.same(places(inner, /Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(/), []);
  },
);

t.test("only commands for a terminal write to the console; the service logs", async (t) => {
  const quiet = product.filter(({ path }) => !/^http\/(demo|cli|runner)\//.test(path));
  t.same(places(quiet, /console\.(log|error|warn|info)/), []);
});

t.test("nothing is left open or switched off", async (t) => {
  t.same(
    places(sources, /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-expect-error|\bas any\b|: any\b/).filter(
      (at) => !at.startsWith("test/tidy"),
    ),
    [],
  );
});

t.test("t.match is given no empty list, which any list matches: say { length: 0 }", async (t) => {
  t.same(places(sources, /\bt\.match\(.*\[\](\s?[}\])])*(, "[^"]*")?\);$/), []);
});

t.test("every folder that holds code says in a README what lives there", async (t) => {
  const folders = new Set(product.map(({ path }) => dirname(path)));
  const wanted = [...folders].filter((folder) => folder.split("/").length <= 2);
  t.same(
    wanted.filter((folder) => !existsSync(`${folder}/README.md`)),
    [],
  );
});

t.test("the committed lock file names no host to download from", async (t) => {
  t.notMatch(readFileSync("package-lock.json", "utf8"), /"resolved"/);
});

/** Declarations of tables and directories, with their names. */
const DECLARED = /\b(?:table|indexedTable|listedTable|directory)(?:<[^"=]*?>)?\(\s*"([\w-]+)"/g;
const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const listedTables = new Set([
  ...tables.map(({ name }) => name),
  ...createDirectoryCatalogue(kinds).names,
  // Dependent tables. An area lists them together with the table that they depend on.
  ...createDependentSources(kinds).flatMap(({ dependentTables }) => dependentTables),
]);

/** Returns the tables that files declare and no area lists. */
function listUnlisted(files: readonly { path: string; text: string }[]): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(DECLARED)].flatMap(([, name = ""]) => (listedTables.has(name) ? [] : [`${path} ${name}`])),
  );
}

t.test("every table stands in the manifest of an area: add it to tables of <area>.area.ts", async (t) => {
  const files = product.filter(({ path }) => path.startsWith("actors/"));
  t.ok(files.flatMap(({ text }) => [...text.matchAll(DECLARED)]).length > 50, "tables are found in the code");
  t.same(listUnlisted(files), []);
  const declarations = [
    'const strays = table<Stray>("stray");',
    'export const strays = indexedTable<Stray>("stray", { order: ["id"] });',
    'const strays = directory<{ readonly id: string }>(\n  "stray",\n);',
    'const claims: Claims = { rows: table<ClaimRow>("stray"), holder };',
  ];
  for (const text of declarations) {
    t.same(listUnlisted([{ path: "actors/tasks/stray.table.ts", text }]), ["actors/tasks/stray.table.ts stray"], text);
  }
});
