import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { cruise, type IConfiguration, type ICruiseResult } from "dependency-cruiser";
import t, { type Test } from "tap";

/** The rules of `npm run lint` about who imports whom, tried on files that break them. */

const load = createRequire(import.meta.url);
const rules: IConfiguration = load(resolve(".dependency-cruiser.cjs"));
const lines: readonly (readonly string[])[] = load(resolve("actors/areas.json"));

/** Files by path, each with what it imports as values and as types. */
type Files = Readonly<Record<string, { readonly values?: readonly string[]; readonly types?: readonly string[] }>>;

/** Which rules a tree of files breaks, as `from -> to: rule`. */
async function broken(t: Test, files: Files): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-walls-"));
  t.teardown(async () => rmSync(folder, { recursive: true }));
  for (const [path, { values = [], types = [] }] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const specifier = (to: string) => `${"../".repeat(path.split("/").length - 1)}${to.replace(/\.ts$/, ".js")}`;
    const text = [
      ...values.map((to, n) => `import { it as value${n} } from "${specifier(to)}";\nvalue${n}();`),
      ...types.map(
        (to, n) => `import type { It as Type${n} } from "${specifier(to)}";\nexport type Of${n} = Type${n};`,
      ),
      "export const it = () => 1;\nexport interface It {}\n",
    ];
    writeFileSync(join(folder, path), text.join("\n"));
  }
  const { tsConfig: _tsConfig, ...options } = rules.options ?? {};
  const { output } = await cruise(["."], {
    ...options,
    ...{ baseDir: folder, validate: true, ruleSet: { forbidden: rules.forbidden ?? [] } },
  });
  const { summary } = output as ICruiseResult;
  return summary.violations.map(({ from, to, rule }) => `${from} -> ${to}: ${rule.name}`).sort();
}

const nothing = {};

t.test("an area that imports from a later line is refused, a type as much as a value", async (t) => {
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, {
        "actors/workspaces/probe.ts": { [how]: ["actors/decisions/decision.ts"] },
        "actors/decisions/decision.ts": nothing,
      }),
      ["actors/workspaces/probe.ts -> actors/decisions/decision.ts: actors-workspaces-knows-earlier-lines"],
      how,
    );
  }
});

t.test("an area that imports from another of its own line is refused, a type as much as a value", async (t) => {
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, {
        "actors/replays/probe.ts": { [how]: ["actors/hooks/matching/match.ts"] },
        "actors/hooks/matching/match.ts": nothing,
      }),
      ["actors/replays/probe.ts -> actors/hooks/matching/match.ts: actors-replays-knows-earlier-lines"],
      how,
    );
  }
});

t.test("every area is refused a catalogue, which the edge may have", async (t) => {
  const catalogue = "actors/actor-types.ts";
  const areas = lines
    .slice(
      0,
      lines.findIndex((line) => line.includes("kinds")),
    )
    .flat();
  const files = areas.map((area) => [`actors/${area}/probe.ts`, { values: [catalogue] }] as const);
  t.same(
    await broken(t, { ...Object.fromEntries(files), [catalogue]: nothing }),
    areas.map((area) => `actors/${area}/probe.ts -> ${catalogue}: actors-${area}-knows-earlier-lines`).sort(),
  );
  t.ok(areas.includes("insights"));
  t.same(await broken(t, { "http/probe.ts": { values: [catalogue] }, [catalogue]: nothing }), []);
});

t.test("a folder or file in no line is refused, whether it imports or is imported", async (t) => {
  t.same(
    await broken(t, {
      "actors/elsewhere/probe.ts": { values: ["actors/refusal.ts"] },
      "actors/refusal.ts": nothing,
      "http/probe.ts": { types: ["actors/loose.ts"] },
      "actors/loose.ts": nothing,
    }),
    [
      "actors/elsewhere/probe.ts -> actors/refusal.ts: actors-area-in-a-line-from",
      "http/probe.ts -> actors/loose.ts: actors-area-in-a-line-to",
    ],
  );
});

t.test("every folder and file of actors/ stands in one line", async (t) => {
  const found = readdirSync("actors")
    .filter((name) => !name.endsWith(".md") && name !== "areas.json")
    .map((name) => name.replace(/\.ts$/, ""));
  const listed = lines.flat();
  t.same(
    found.filter((name) => !listed.includes(name)),
    [],
  );
  t.equal(new Set(listed).size, listed.length);
});

t.test("the edge is refused the tables of an area, a type as much as a value, and may ask its queries", async (t) => {
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, {
        "http/insights/probe.ts": { [how]: ["actors/insights/figure.table.ts", "actors/insights/figure.queries.ts"] },
        "actors/insights/figure.queries.ts": { values: ["actors/insights/figure.table.ts"] },
        "actors/insights/figure.table.ts": nothing,
      }),
      ["http/insights/probe.ts -> actors/insights/figure.table.ts: http-knows-no-table"],
      how,
    );
  }
});

t.test("two files that know each other by types alone are refused", async (t) => {
  t.same(
    await broken(t, {
      "actors/insights/one.ts": { types: ["actors/insights/two.ts"] },
      "actors/insights/two.ts": { types: ["actors/insights/one.ts"] },
    }),
    ["actors/insights/one.ts -> actors/insights/two.ts: no-circles"],
    "once for the two",
  );
});

t.test("what goes down is let through", async (t) => {
  t.same(
    await broken(t, {
      "actors/hooks/probe.ts": { values: ["actors/tasks/task.ts", "actors/hooks/hook.ts"], types: ["runtime/turn.ts"] },
      ...{ "actors/hooks/hook.ts": nothing, "actors/tasks/task.ts": nothing, "runtime/turn.ts": nothing },
    }),
    [],
  );
});
