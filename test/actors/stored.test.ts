import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import t from "tap";
import { retainedTables } from "../../actors/retained-tables.js";
import type { RetentionPeriod } from "../../actors/tables/retention.js";
import * as keys from "../../storage/keys.js";

const settings: Readonly<Record<RetentionPeriod, string>> = {
  work: "RETENTION_WORK",
  facts: "RETENTION_FACTS",
  hooks: "RETENTION_HOOKS",
  changes: "RETENTION_CHANGES",
};

/** The page's table rows, by the names in their first cell. */
const rows = new Map(
  readFileSync("actors/stored.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => {
      const [, names = ""] = line.split("|");
      return [...names.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => [name, line] as const);
    }),
);

/** The names of all tables and directories that the code declares. */
const declared = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "actors"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path.endsWith(".ts"))
  .flatMap((path) => [
    ...readFileSync(path, "utf8").matchAll(/\b(?:table|indexedTable|listedTable|directory)<[^"=]*?>\(\s*"([a-z-]+)"/g),
  ])
  .map(([, name = ""]) => name);

/** Indexes that some code reads like tables. */
const indexes = ["open-task", "hook-firing-failed"];
const spaces = Object.values(keys).filter((space) => space !== keys.GLOBAL_PARTITION && space !== keys.rowSpace);
/** Tables of claims, declared by `claimTable` of `tables/claims.ts`. */
const claims = ["workspace-slug", "code-host-installation"];

t.test("the page of what is stored has every table and every space, and nothing else", async (t) => {
  t.ok(declared.length > 50, "tables are found in the code");
  const known = new Set([...declared, ...spaces, ...claims].filter((name) => !indexes.includes(name)));
  t.same(
    [...known].filter((name) => !rows.has(name)),
    [],
    "add them to actors/stored.md, with what bounds and ends them",
  );
  t.same(
    [...rows.keys()].filter((name) => !known.has(name)),
    [],
    "take them out of actors/stored.md",
  );
});

t.test("what ends by a setting says which", async (t) => {
  for (const { name, period } of retainedTables.rules) t.match(rows.get(name) ?? "", settings[period], name);
  for (const { name, of } of retainedTables.owned) {
    t.match(rows.get(name) ?? "", new RegExp(`with (the|its) ${of}\\b|\`${of}\``), `${name} goes with its ${of}`);
  }
});
