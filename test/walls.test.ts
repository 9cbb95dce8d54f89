import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { cruise, type IConfiguration, type ICruiseResult } from "dependency-cruiser";
import t, { type Test } from "tap";
import { areaLines, areas } from "../actors/areas.js";

/** Tests the import rules of `npm run lint` with files that break them. */

const load = createRequire(import.meta.url);
const rules: IConfiguration = load(resolve(".dependency-cruiser.cjs"));
const httpParts: Parts = load(resolve("http/areas.json"));
/** The folders of http/ that are areas: they contain no program, and `http/areas.json` does not list them in a line. */
const httpAreas = listFolders("http").filter(
  (folder) =>
    !httpParts.lines.some((line) => line.includes(folder)) &&
    !Object.keys(httpParts.programs).some((program) => program.split("/")[0] === folder),
);
const http = {
  lines: httpParts.lines.map((line) => (line === "areas" ? httpAreas : line)),
  programs: httpParts.programs,
};

/**
 * The parts of http: its layers, and the imports that each program may have. The layer `"areas"` contains all areas.
 */
interface Parts {
  readonly lines: readonly (readonly string[] | "areas")[];
  readonly programs: Readonly<Record<string, readonly string[]>>;
}

function listFolders(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** The folders and files of actors/ that the rules know, in the order of their lines. */
const listed = (rules.forbidden ?? []).flatMap(
  ({ name = "" }) => /^actors-(?!.*-manifest-)(.+)-knows-earlier-lines$/.exec(name)?.[1] ?? [],
);

/** Files by path, each with its value imports and type imports. */
type Files = Readonly<Record<string, { readonly values?: readonly string[]; readonly types?: readonly string[] }>>;

/** Returns the rules that a tree of files breaks, as `from -> to: rule`. */
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
    baseDir: folder,
    validate: true,
    ruleSet: { forbidden: rules.forbidden ?? [] },
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
  const catalogue = "actors/catalogue.ts";
  const names = areas.map(({ name }) => name);
  const files = names.map((area) => [`actors/${area}/probe.ts`, { values: [catalogue] }] as const);
  t.same(
    await broken(t, { ...Object.fromEntries(files), [catalogue]: nothing }),
    names.map((area) => `actors/${area}/probe.ts -> ${catalogue}: actors-${area}-knows-earlier-lines`).sort(),
  );
  t.same(await broken(t, { "http/tasks/probe.ts": { values: [catalogue] }, [catalogue]: nothing }), []);
});

t.test("a folder or file in no line is refused, whether it imports or is imported", async (t) => {
  t.same(
    await broken(t, {
      "actors/elsewhere/probe.ts": { values: ["actors/refusal.ts"] },
      "actors/refusal.ts": nothing,
      "http/tasks/probe.ts": { types: ["actors/loose.ts"] },
      "actors/loose.ts": nothing,
    }),
    [
      "actors/elsewhere/probe.ts -> actors/refusal.ts: actors-area-in-a-line-from",
      "http/tasks/probe.ts -> actors/loose.ts: actors-area-in-a-line-to",
    ],
  );
});

t.test("every folder and file of actors/ stands in one line", async (t) => {
  const found = readdirSync("actors")
    .filter((name) => !name.endsWith(".md"))
    .map((name) => name.replace(/\.ts$/, ""));
  t.same([...listed].sort(), found.sort());
  t.same(
    areas.map(({ name }) => name).sort(),
    [...listFolders("actors")].sort(),
    "the list of areas has every folder of actors/, by its name",
  );
});

t.test("lint has the lines of the list of areas", async (t) => {
  const names = areas.map(({ name }) => name);
  t.same(
    listed.filter((name) => names.includes(name)),
    names,
  );
  const there = Object.fromEntries(names.map((name) => [`actors/${name}/it.ts`, nothing]));
  const probes = areaLines.map(([{ name }, ...peers], index) => {
    const above = [...peers, ...areaLines.slice(index + 1).flat()];
    return { name, path: `actors/${name}/probe.ts`, values: above.map((other) => `actors/${other.name}/it.ts`) };
  });
  t.same(
    await broken(t, { ...there, ...Object.fromEntries(probes.map(({ path, values }) => [path, { values }])) }),
    probes
      .flatMap(({ name, path, values }) => values.map((to) => `${path} -> ${to}: actors-${name}-knows-earlier-lines`))
      .sort(),
  );
});

t.test("a manifest may import its area, earlier lines and the type of manifests", async (t) => {
  const allowed = ["actors/area.ts", "actors/hooks/hook.ts", "actors/tasks/task.ts", "actors/refusal.ts"];
  const refused = ["actors/replays/replay.ts", "actors/searches/search.ts", "actors/catalogue.ts", "actors/areas.ts"];
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, {
        ...Object.fromEntries([...allowed, ...refused].map((path) => [path, nothing])),
        "actors/hooks/hooks.area.ts": { [how]: [...allowed, ...refused] },
      }),
      refused.map((to) => `actors/hooks/hooks.area.ts -> ${to}: actors-hooks-manifest-knows-earlier-lines`).sort(),
      how,
    );
  }
});

t.test("only the list of areas imports a manifest", async (t) => {
  const manifest = "actors/hooks/hooks.area.ts";
  const importers = ["actors/hooks/hook.ts", "actors/catalogue.ts", "http/hooks/hook.routes.ts"];
  t.same(
    await broken(t, {
      ...Object.fromEntries(importers.map((path) => [path, { types: [manifest] }])),
      "actors/areas.ts": { values: [manifest] },
      [manifest]: nothing,
    }),
    importers.map((path) => `${path} -> ${manifest}: manifests-are-for-the-list`).sort(),
  );
});

t.test("every folder and file of http/ stands in one line, or is a program", async (t) => {
  const parts = [...http.lines.flat(), ...Object.keys(http.programs)];
  const programs = Object.keys(http.programs).map((program) => program.split("/")[0] ?? "");
  const found = readdirSync("http").filter((name) => !name.endsWith(".md") && name !== "areas.json");
  t.same(found.sort(), [...new Set([...http.lines.flat(), ...programs])].sort());
  t.equal(new Set(parts).size, parts.length);
  const wanted = Object.values(http.programs).flat();
  t.same(
    wanted.filter((path) => !existsSync(path) && !existsSync(`${path}.ts`)),
    [],
    "what a program may import is there",
  );
});

t.test("a folder or file of http/ in no line is refused, whether it imports or is imported", async (t) => {
  t.same(
    await broken(t, {
      "http/loose.ts": { values: ["http/wire/route.ts"] },
      "http/wire/route.ts": nothing,
      "http/cli/loose.ts": nothing,
      "test/probe.ts": { types: ["http/cli/loose.ts"] },
    }),
    [
      "http/loose.ts -> http/wire/route.ts: http-area-in-a-line-from",
      "test/probe.ts -> http/cli/loose.ts: http-area-in-a-line-to",
    ],
  );
});

t.test("an area of http is refused a program, the demo and another area, a type as much as a value", async (t) => {
  const refused = ["http/cli/main.ts", "http/demo/main.ts", "http/replays/replay.routes.ts", "http/runner/main.ts"];
  const there = Object.fromEntries(refused.map((path) => [path, nothing]));
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, { ...there, "http/tasks/probe.ts": { [how]: refused } }),
      refused.map((to) => `http/tasks/probe.ts -> ${to}: http-tasks-knows-earlier-lines`),
      how,
    );
  }
});

t.test("every part of http is refused its own line, later lines and every program", async (t) => {
  const programs = Object.keys(http.programs);
  const laid = [...http.lines.flat(), ...programs].map((name) => [`http/${name}/it.ts`, nothing] as const);
  const probes = http.lines.flatMap(([part = "", ...peers], index) => {
    const above = [...peers, ...http.lines.slice(index + 1).flat(), ...programs];
    return { part, path: `http/${part}/probe.ts`, values: above.map((name) => `http/${name}/it.ts`) };
  });
  t.same(
    await broken(t, Object.fromEntries([...laid, ...probes.map(({ path, values }) => [path, { values }] as const)])),
    probes
      .flatMap(({ part, path, values }) => values.map((to) => `${path} -> ${to}: http-${part}-knows-earlier-lines`))
      .sort(),
  );
});

t.test("a program is refused the edge, other programs, and what it does not list of the rest", async (t) => {
  const refused = ["actors/tasks/task.ts", "http/demo/main.ts", "http/process/main.ts", "http/tasks/task.routes.ts"];
  const there = Object.fromEntries(refused.map((path) => [path, nothing]));
  t.same(
    await broken(t, {
      ...there,
      "http/cli/check/probe.ts": { types: refused },
      "http/runner/probe.ts": { types: refused },
    }),
    ["http/cli/check", "http/runner"].flatMap((program) =>
      refused.map((to) => `${program}/probe.ts -> ${to}: ${program.replaceAll("/", "-")}-stands-apart`),
    ),
  );
});

t.test("a program may import what it lists: the command the entries of the others", async (t) => {
  t.same(
    await broken(t, {
      "actors/runners/protocol.ts": nothing,
      "http/cli/program.ts": { values: ["http/process/main.ts", "http/runner/jobs.ts"] },
      "http/cli/store/probe.ts": { values: ["http/process/open-store.ts", "storage/store.ts"] },
      "http/process/main.ts": nothing,
      "http/process/open-store.ts": nothing,
      "http/runner/jobs.ts": nothing,
      "http/runner/main.ts": { values: ["actors/runners/protocol.ts", "http/wire/field-errors.ts"] },
      "http/wire/field-errors.ts": nothing,
      "storage/store.ts": nothing,
    }),
    ["http/cli/program.ts -> http/runner/jobs.ts: http-cli-program-stands-apart"],
  );
});

t.test("the edge is refused the tables of an area, a type as much as a value, and may ask its queries", async (t) => {
  for (const how of ["values", "types"] as const) {
    t.same(
      await broken(t, {
        "http/tasks/probe.ts": { [how]: ["actors/searches/figure.table.ts", "actors/searches/figure.queries.ts"] },
        "actors/searches/figure.queries.ts": { values: ["actors/searches/figure.table.ts"] },
        "actors/searches/figure.table.ts": nothing,
      }),
      ["http/tasks/probe.ts -> actors/searches/figure.table.ts: http-knows-no-table"],
      how,
    );
  }
});

t.test("two files that know each other by types alone are refused", async (t) => {
  t.same(
    await broken(t, {
      "actors/searches/one.ts": { types: ["actors/searches/two.ts"] },
      "actors/searches/two.ts": { types: ["actors/searches/one.ts"] },
    }),
    ["actors/searches/one.ts -> actors/searches/two.ts: no-circles"],
    "once for the two",
  );
});

t.test("what goes down is let through", async (t) => {
  t.same(
    await broken(t, {
      "actors/hooks/probe.ts": {
        values: ["actors/tasks/task.ts", "actors/hooks/hook.ts"],
        types: ["runtime/turns/turn.ts"],
      },
      "actors/hooks/hook.ts": nothing,
      "actors/tasks/task.ts": nothing,
      "runtime/turns/turn.ts": nothing,
    }),
    [],
  );
});
