import { readdirSync, readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import t from "tap";
import { settings } from "../../http/process/config.js";
import { getDefault } from "../../http/process/settings-help.js";
import { declareRunner } from "../../http/runner/command-line.js";
import { readSections, readTables } from "../support/page-tables.js";
import { openReader } from "../support/reader.js";

const PAGE = "docs/settings.md";
const sections = readSections(readFileSync(PAGE, "utf8"));
/** The rows below a heading of the second level. */
const rows = (heading: string) => readTables(sections.get(heading) ?? "").flat();

const NONE = "none";
const names = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
const plain = (cell = "") => cell.replaceAll("`", "");

t.test("the page has each setting of the service once, with its default", async (t) => {
  const listed = rows("Configure the service").map(([name, value]) => [plain(name), plain(value)]);
  const known = Object.entries(settings).map(([name, schema]) => [name, getDefault(schema) || NONE]);
  t.same(listed.sort(), known.sort());
});

t.test("the page has each option of the runner once, with its variable and its default", async (t) => {
  const ofMachine = (value: string) => (value === hostname() ? "the host name" : value.replace(homedir(), "~"));
  const listed = rows("Configure a runner").map((row) => row.slice(0, 3).map(plain));
  const known = declareRunner(new Command()).options.map(({ long, envVar, defaultValue }) => [
    long ?? "",
    envVar ?? NONE,
    ofMachine(String(defaultValue ?? NONE)),
  ]);
  t.same(listed.sort(), known.sort());
});

/**
 * The example agent of `signalbox dev`. The runner sets the variables that this agent reads, so the page does not list
 * them.
 */
const AGENT = "http/cli/dev/example-agent.ts";
/** Ways in which the command line reads a variable of its environment. */
const READS = [
  /\b(?:env|environment)\.([A-Z][A-Z0-9_]+)\b/g,
  /\.env\("([A-Z0-9_]+)"\)/g,
  /\.environment\("([A-Z_]+_VAR_)"/g,
  /\{ ([^{}]*) \}(?:: Terminal\["env"\]| =\s+(?:terminal\.env|environment);)/g,
] as const;

/** Returns the names of environment variables that a source file reads. */
function listRead(text: string): readonly string[] {
  return READS.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(([, found = ""]) => found.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []),
  );
}

t.test("the page has each environment variable that the command line reads", async (t) => {
  const sources = readdirSync("http/cli", { recursive: true, encoding: "utf8" })
    .map((name) => join("http/cli", name))
    .filter((path) => path.endsWith(".ts") && path !== AGENT);
  const read = new Set(sources.flatMap((path) => listRead(readFileSync(path, "utf8"))));
  // These variables are no settings of the command line. The command line reads `PATH` only for an error message, and
  // `signalbox dev` replaces `DATA_DIR` with the folder of its own store.
  for (const name of ["PATH", "DATA_DIR"]) read.delete(name);
  const listed = rows("Configure the command line").flatMap(([cell]) => names(cell).map((name) => name.split("<")[0]));
  t.same(listed.sort(), [...read].sort());
});

t.test("a reader writes a settings file and starts the service with it", async (t) => {
  const reader = openReader(t);
  await reader.follow(PAGE, {
    values: { "PORT=8787": "PORT=0" },
    after: ({ isBackground }, { out }) => {
      if (!isBackground) return;
      const [line = "{}"] = out.split("\n");
      t.match(JSON.parse(line), {
        msg: "starting",
        dataFolder: /\/signalbox-data$/,
        baseUrl: "https://signalbox.example",
      });
      t.notMatch(out, /"level":"(warn|error)"/);
    },
  });
});
