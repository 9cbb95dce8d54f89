import { existsSync, readdirSync, readFileSync } from "node:fs";
import t from "tap";

const rows = readFileSync("test/spec-coverage.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, heading = "", covered = "", leftOut = ""]) => ({
    heading,
    tests: [...covered.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
    leftOut,
  }));

t.test("every test that the coverage of the reference names is there", async (t) => {
  const named = rows.flatMap(({ tests }) => tests);
  t.ok(named.length > 0);
  t.same(
    named.filter((path) => !existsSync(`test/${path}`)),
    [],
  );
});

t.test("every heading stands once, and without a test it says why", async (t) => {
  const headings = rows.map(({ heading }) => heading);
  t.same(
    headings.filter((heading, index) => heading === "" || headings.indexOf(heading) < index),
    [],
  );
  t.same(
    rows.filter(({ tests, leftOut }) => tests.length === 0 && leftOut === "").map(({ heading }) => heading),
    [],
  );
});

t.test("every conformance test stands at some heading", async (t) => {
  const named = new Set(rows.flatMap(({ tests }) => tests));
  const kept = readdirSync("test/conformance").map((name) => `conformance/${name}`);
  t.same(
    kept.filter((path) => !named.has(path)),
    [],
  );
});
