import fc from "fast-check";
import t from "tap";
import { matchesPattern, namesOwner, unmatchedForm } from "../../../../actors/access/trusts/trust-pattern.js";

t.test("a pattern matches its text, and * any characters", async (t) => {
  const table: readonly [pattern: string, text: string, fits: boolean][] = [
    ["repo:acme/app:ref:refs/heads/main", "repo:acme/app:ref:refs/heads/main", true],
    ["repo:acme/app:ref:refs/heads/main", "repo:acme/app:ref:refs/heads/main2", false],
    ["repo:acme/app:ref:refs/heads/main", "repo:Acme/app:ref:refs/heads/main", false],
    ["repo:acme/app:*", "repo:acme/app:", true],
    ["repo:acme/app:*", "repo:acme/app:environment:production", true],
    ["repo:acme/app:*", "repo:acme/apple:environment:production", false],
    ["repo:acme/*", "repo:acme/app:pull_request", true],
    ["repo:acme/*", "repo:acme-evil/app:pull_request", false],
    ["repo:acme/*:ref:refs/heads/main", "repo:acme/app:ref:refs/heads/main", true],
    ["repo:acme/*:ref:refs/heads/main", "repo:acme/app:ref:refs/heads/main2", false],
    ["repo:acme/*:ref:*", "repo:acme/app:ref:x:ref:y", true],
    ["a/*b*c", "a/bc", true],
    ["a/*b*c", "a/cb", false],
    ["a/*aba*aba", "a/ababa", false],
    ["a/*aba*aba", "a/abaaba", true],
    ["*", "", true],
    ["**", "anything\nat all", true],
    ["a*a", "a", false],
    ["a.c", "abc", false],
    ["", "", true],
    ["", "a", false],
  ];
  for (const [pattern, text, fits] of table) t.equal(matchesPattern(pattern, text), fits, `${pattern} on ${text}`);
});

t.test("a pattern matches what its regular expression matches", async (t) => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "/", ":", ".") });
  fc.assert(
    fc.property(text, text, (pattern, subject) => {
      const pieces = pattern.split("*").map((piece) => piece.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
      return matchesPattern(pattern, subject) === new RegExp(`^${pieces.join("[^]*")}$`).test(subject);
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

t.test("a hostile pattern is matched quickly", async (t) => {
  const begun = performance.now();
  t.notOk(matchesPattern(`${"*a".repeat(127)}*b`, "a".repeat(100_000)));
  t.ok(performance.now() - begun < 1_000);
});

t.test("a subject with a * names its owner before it", async (t) => {
  for (const subject of ["repo:acme/app:ref:refs/heads/main", "repo:acme/app:*", "repo:acme/*", "no-owner"]) {
    t.ok(namesOwner(subject), subject);
  }
  for (const subject of ["repo:*", "*", "repo:acme*/app", "*/repo:acme/app"]) t.notOk(namesOwner(subject), subject);
});

t.test("a code host's subject is told which of its two forms it leaves out", async (t) => {
  t.match(unmatchedForm("repo:acme/app:*"), /sends repo:acme@<owner id>\/app@<repository id>:…/);
  t.match(unmatchedForm("repo:acme/*"), /sends repo:acme@<owner id>\/<repository>@<repository id>:…/);
  t.match(unmatchedForm("repo:acme@123/app@456:ref:refs/heads/main"), /names alone sends repo:acme\/app:…/);
  t.match(unmatchedForm("repo:acme@123/*"), /names alone sends repo:acme\/<repository>:…/);
  for (const neither of ["repo:acme@123/app:*", "repo:acme/app@456:*"]) {
    t.match(unmatchedForm(neither), /no subject of a code host: those are repo:acme\/app:… or repo:acme@/);
  }
  for (const other of ["system:serviceaccount:ci/deployer", "project_path:acme/app:*", "repo:acme"]) {
    t.equal(unmatchedForm(other), null, other);
  }
});

t.test("a pattern of either form matches only subjects of that form", async (t) => {
  const byName = "repo:acme/app:ref:refs/heads/main";
  const byId = "repo:acme@123/app@456:ref:refs/heads/main";
  for (const pattern of ["repo:acme/app:*", "repo:acme/*"]) {
    t.same([matchesPattern(pattern, byName), matchesPattern(pattern, byId)], [true, false], pattern);
  }
  for (const pattern of ["repo:acme@123/app@456:*", "repo:acme@123/*"]) {
    t.same([matchesPattern(pattern, byName), matchesPattern(pattern, byId)], [false, true], pattern);
  }
});
