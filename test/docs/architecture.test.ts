import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { readSections, readTables } from "../support/page-tables.js";

const page = readFileSync("docs/architecture.md", "utf8");
const names = (text = "") => [...text.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);

t.test("every path on the page is there, in the folder that the page names", async (t) => {
  const paths = names(page).filter((name) => /^(storage|runtime|actors|http|test|bench|docs)\/[\w./-]+$/.test(name));
  t.ok(paths.length > 30);
  t.same(
    paths.filter((path) => !existsSync(path)),
    [],
  );
});

t.test("the table of folders has all folders of code, and their imports are as it says", async (t) => {
  const [rows = []] = readTables(readSections(page).get("Parts") ?? "");
  const allowed = new Map(
    rows.flatMap(([cell = "", , imports = ""]) => names(cell).map((folder) => [folder, names(imports)] as const)),
  );
  t.same([...allowed.keys()].sort(), ["actors/", "bench/", "docs/", "http/", "runtime/", "storage/", "test/"]);
  for (const folder of ["storage/", "runtime/", "actors/", "http/"]) {
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const imported = sources.flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/ from "(\.[^"]+)";/g)].map(
        ([, to = ""]) => `${join(dirname(join(folder, name)), to).split("/")[0]}/`,
      ),
    );
    t.same(
      [...new Set(imported)].filter((one) => one !== folder).sort(),
      [...(allowed.get(folder) ?? [])].sort(),
      folder,
    );
  }
});
