import { readFileSync } from "node:fs";
import t from "tap";
import {
  createDependentSources,
  createDirectoryCatalogue,
  createKinds,
  retainedTables,
  tables,
} from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import type { RetentionPeriod } from "../../actors/tables/retention.js";
import * as keys from "../../storage/keys.js";

const settings: Readonly<Record<RetentionPeriod, string>> = {
  work: "RETENTION_WORK",
  facts: "RETENTION_FACTS",
  hooks: "RETENTION_HOOKS",
  changes: "RETENTION_CHANGES",
};

/** The table rows of `actors/stored.md`, by the names in their first cell. */
const rows = new Map(
  readFileSync("actors/stored.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => {
      const [, names = ""] = line.split("|");
      return [...names.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => [name, line] as const);
    }),
);

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const sources = createDependentSources(kinds);
/**
 * Names of the derived rows that `stored.md` lists together with their table. Index entries are not included: the
 * document says in one place that they are removed with the rows that they index.
 */
const derived = sources.flatMap(({ dependentTables }) => dependentTables).filter((name) => rows.has(name));
const spaces = Object.values(keys).filter((space) => space !== keys.GLOBAL_PARTITION && space !== keys.rowSpace);
/** All tables and directories that areas list. */
const listed = [...tables.map(({ name }) => name), ...createDirectoryCatalogue(kinds).names];

t.test("the page of what is stored has every table and every space, and nothing else", async (t) => {
  t.equal(new Set(listed).size, listed.length, "an area lists a table once");
  const known = new Set([...listed, ...spaces, ...derived]);
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
