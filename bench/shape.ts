import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readArguments } from "../test/support/command-line.js";
import { listFunctions, listImports, readProduct } from "../test/support/source-code.js";
import { countReadmeWords, listArrowsUp, listFanOut, measureHabits } from "./shape/figures.js";
import { findImportCycles } from "./shape/import-cycles.js";
import { rowsWritten } from "./shape/rows.js";
import { percentile, printTable } from "./support/table.js";

const USAGE = `npm run shape -- [FOLDER] [--test-seconds N] [--time]

  FOLDER            a built checkout; without it this one
  --test-seconds N  the time of npm test there
  --time            measures it`;

/**
 * `node dist/bench/shape.js [FOLDER]` prints the shape of a checkout as Markdown, by default of its own checkout. The
 * folder must be built and may be at another commit. `--test-seconds N` supplies the duration of the folder's `npm
 * test`; `--time` measures it.
 */
const { values, positionals } = readArguments(USAGE, {
  allowPositionals: true,
  options: { "test-seconds": { type: "string" }, time: { type: "boolean", default: false } },
});
/** The maximum function length of the house style, in lines; longer functions are counted. */
const LONG = 70;

/**
 * The content of `http/areas.json`. `lines` has the parts of http, the lowest first. The part "areas" means every
 * folder that no other part lists. `programs` has the programs of http by name.
 */
interface HttpParts {
  readonly lines: readonly (readonly string[] | "areas")[];
  readonly programs: Readonly<Record<string, unknown>>;
}
/** How many of the files with the largest fan-out to show. */
const FAN_OUT_SHOWN = 8;
const folder = resolve(positionals[0] ?? ".");
const files = readProduct(folder);
const fileLines = files.map(({ lines }) => lines);
const functions = files.flatMap(listFunctions);
const functionLines = functions.map(({ lines }) => lines);
const long = functions.filter(({ lines }) => lines > LONG).sort((left, right) => right.lines - left.lines);
const imports = files.flatMap(listImports);
const known = new Set(files.map(({ path }) => path));
/** `client.mjs` generates this file, so it is not among the sources. */
const GENERATED = "http/client/api.ts";
const missing = imports.filter(({ to }) => !known.has(to) && to !== GENERATED);
if (missing.length > 0) throw new Error(`not found: ${missing.map(({ from, to }) => `${from} -> ${to}`).join(", ")}`);

const spread = (sizes: readonly number[]) =>
  `${percentile(sizes, 0.5)} / ${percentile(sizes, 0.9)} / ${Math.max(...sizes)}`;
const cycles = (among: typeof imports) => {
  const found = findImportCycles(among);
  return found.length === 0 ? "0" : `${found.length} (${found.map((component) => component.length).join(", ")} files)`;
};
const http: HttpParts = JSON.parse(readFileSync(join(folder, "http/areas.json"), "utf8"));
const httpParts = [...http.lines.map((line) => (line === "areas" ? [] : line)), Object.keys(http.programs)];
const areasLine = http.lines.indexOf("areas");
const arrowsUp = listArrowsUp(files, "http", {
  parts: httpParts,
  rest: areasLine === -1 ? httpParts.length : areasLine,
});
const testSeconds = values.time ? timeTests() : values["test-seconds"];

printTable({
  title: "Shape of the source",
  note: `The product's TypeScript (storage, runtime, actors, http) at ${toCommit(folder)}. A function is what has a body in braces, at any depth. A circle is a set of files that lead to each other, as large as it gets.`,
  columns: ["", ""],
  rows: [
    ["files", files.length],
    ["lines", fileLines.reduce((sum, lines) => sum + lines, 0)],
    ["lines of a file, median / p90 / max", spread(fileLines)],
    ["functions", functions.length],
    ["lines of a function, median / p90 / max", spread(functionLines)],
    [`functions over ${LONG} lines`, long.length],
    ["circles of imports of values", cycles(imports.filter(({ isTypeOnly }) => !isTypeOnly))],
    ["circles of imports, types included", cycles(imports)],
    ...measureHabits(files).map(({ name, count }) => [name, count]),
    ["imports that lead up inside http", arrowsUp.length],
    ["words in the READMEs of code folders", countReadmeWords(folder, files)],
    ...(testSeconds === undefined ? [] : [["seconds of `npm test`", testSeconds]]),
  ],
});
for (const { path, name, line, lines } of long) console.log(`\n${lines} lines: ${name}, ${path}:${line}`);

printTable({
  title: "Fan-out",
  note: "The files that import the most others.",
  columns: ["file", "imports"],
  rows: listFanOut(files, FAN_OUT_SHOWN).map(({ name, count }) => [name, count]),
});
for (const { from, to } of arrowsUp) console.log(`up: ${from} -> ${to}`);

const written = await rowsWritten(folder);
printTable({
  title: "Rows written",
  note: "Puts and removes of all batches until nothing is written any more, over a store on disk.",
  columns: ["", "rows of the domain", "of the runtime", "batches", "tables"],
  rows: written.map(({ action, count: { domain, runtime, batches, byTable } }) => [
    action,
    domain,
    runtime,
    batches,
    Object.entries(byTable)
      .map(([table, count]) => `${table} ${count}`)
      .join(", "),
  ]),
});

function toCommit(checkout: string): string {
  return spawnSync("git", ["log", "-1", "--format=%h"], { cwd: checkout, encoding: "utf8" }).stdout.trim();
}

function timeTests(): string {
  const begun = performance.now();
  const { status } = spawnSync("npm", ["test"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("npm test failed");
  return ((performance.now() - begun) / 1_000).toFixed(0);
}
