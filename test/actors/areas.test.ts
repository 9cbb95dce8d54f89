import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import t from "tap";
import ts from "typescript";
import { areas } from "../../actors/areas.js";
import { createActorTypes, createKinds, migrations, retainedTables } from "../../actors/catalogue.js";
import { notJudging } from "../../actors/judging/judging-setup.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { addFirstEndpoint, addNextEndpoint, addToyArea, copySource, type SourceCopy } from "../support/toy-area.js";

/**
 * Tests that a new area needs only a new folder and an entry in the list of areas. The areas are added to a copy of the
 * source.
 */

const formatBefore = migrations.length + 1;

/** A program for a build that contains the test's area (`toy`). It runs the build on a store of the previous format. */
const play = `
import { randomBytes } from "node:crypto";
import {
  createActorTypes,
  createExaminations,
  createKinds,
  createTopics,
  gates,
  referringTables,
  retainedTables,
  subscribers,
} from "./actors/catalogue.js";
import { notJudging } from "./actors/judging/judging-setup.js";
import { parseAllowList } from "./actors/outbound/http/allow-list.js";
import { recountBlobs } from "./actors/tables/blob-recount.js";
import { toyRef } from "./actors/toys/toy.machine.js";
import { toys } from "./actors/toys/toy.table.js";
import { openWorkspace } from "./actors/workspaces/open-workspace.js";
import { workspaceRef } from "./actors/workspaces/workspace.messages.js";
import { openStore } from "./http/process/open-store.js";
import type { RouteRequest } from "./http/wire/route.js";
import { createEventLoopScheduler, createSystemClock } from "./runtime/clock.js";
import { createRuntime } from "./runtime/host.js";
import { findWorkspaceBySlug } from "./actors/workspaces/slug-claims.machine.js";
import { toTables } from "./test/support/route-table.js";

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const ada = { kind: "person", userId: "usr_ada", email: "ada@example.com", sessionId: "ses_1" } as const;

export async function play(folder: string) {
  const store = await openStore({ folder, log: quiet, nowMs: () => Date.now() });
  const { reading } = store;
  const migrated = toys.get(reading, "ws_earlier", "toy_1");
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const runtime = await createRuntime({
    store,
    clock: createSystemClock(),
    scheduler: createEventLoopScheduler(),
    randomBytes: (count) => randomBytes(count),
    log: quiet,
    catalogue: { actors: createActorTypes(kinds), subscribers, gates, effects: [] },
  });
  const common = { caller: ada, client: null, teamId: null, hidden: {} };
  await openWorkspace(runtime, {
    ...common,
    kind: "workspace",
    fields: { slug: "acme", name: "Acme" },
    idempotency: { scope: "s", key: "acme", digest: "d" },
  });
  const workspaceId = findWorkspaceBySlug(reading, "acme") ?? "";
  const box = await runtime.ask(workspaceRef(workspaceId), {
    ...common,
    type: "resource.create",
    kind: "toy-box",
    fields: { key: "attic", lid: "open" },
    idempotency: { scope: "s", key: "box", digest: "d" },
  });
  const { lastSeq, since } = runtime.feed;
  const before = lastSeq.call(runtime.feed, workspaceId);
  const painted = [
    await runtime.ask(toyRef(workspaceId, "toy_2"), { type: "toy.paint", colour: "red", manual: "Paint it." }),
    await runtime.ask(toyRef(workspaceId, "toy_2"), { type: "toy.paint", colour: "blue", manual: "Paint it." }),
  ];
  const changes = since.call(runtime.feed, workspaceId, "toy/toy_2", before);
  const topic = createTopics({ kinds, judging: notJudging }).get("toy");
  const view = topic?.view(reading, { workspaceId, id: "toy_2" });
  const seenIn = topic?.workspaceOf(reading, ada, "toy_2") === workspaceId;
  const { routes } = toTables({ runtime, folder } as unknown as Parameters<typeof toTables>[0]);
  const served: Record<string, unknown> = {};
  for (const name of ["shelf", "row"]) {
    const found = routes.find(({ path }) => path === "/api/workspaces/{slug}/" + name);
    const request = { caller: ada, params: { slug: "acme" } } as unknown as RouteRequest<"public", unknown, unknown>;
    served[name] = await found?.handle(request);
  }
  const paths = routes.filter(({ path }) => path.includes("toy-boxes")).map(({ method, path }) => method + " " + path);
  await runtime.stop();
  const indexed = ["ws_earlier", "row", "toy-by-colour", "green", "toy_1"];
  const findings = () =>
    createExaminations(kinds, Date.now()).flatMap((examine) => [...examine(reading)].map(({ what }) => what));
  const healthy = findings();
  const recounted = [...recountBlobs(reading, workspaceId, { referring: referringTables, nowMs: Date.now() })];
  await store.commit([{ op: "remove", key: indexed }]);
  const damaged = findings();
  await store.close();
  return {
    migrated,
    box: "resource" in box ? box.resource.fields : box,
    painted,
    changes: changes === "too-old" ? changes : changes.map(({ data }) => data),
    view,
    seenIn,
    served,
    paths: paths.sort(),
    rules: retainedTables.rules.map(({ name }) => name),
    healthy,
    recounted,
    damaged,
  };
}
`;

/** Bundles a file of the copy with the packages of this repository, and loads it. */
function load(copy: SourceCopy, path: string): Promise<unknown> {
  const outfile = join(copy.folder, "dist/play.mjs");
  buildSync({
    entryPoints: [join(copy.folder, path)],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });
  return import(pathToFileURL(outfile).href);
}

/** Returns the compiler messages about files of the copy. */
function check(copy: SourceCopy, paths: readonly string[]): readonly string[] {
  const read = ts.readConfigFile(join(copy.folder, "tsconfig.json"), ts.sys.readFile);
  const system = { ...ts.sys, readDirectory: () => [] };
  const { options } = ts.parseJsonConfigFileContent(read.config, system, copy.folder);
  const files = paths.map((path) => join(copy.folder, path));
  const program = ts.createProgram(files, { ...options, incremental: false, tsBuildInfoFile: undefined, noEmit: true });
  return files.flatMap((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  });
}

t.test("an area is one folder and one line: its kind, actor, table, topic and migration work", async (t) => {
  const copy = copySource(t);
  const toyFiles = copy.touchedBy((source) => addToyArea(source, formatBefore + 1));
  const outside = toyFiles.filter((path) => !path.startsWith("actors/toys/"));
  t.same(outside, ["actors/areas.ts"], "nothing else is touched");
  const first = copy.touchedBy(addFirstEndpoint);
  t.equal(first.length, 4, `the first endpoint of an area: ${first.join(", ")}`);
  const next = copy.touchedBy(addNextEndpoint);
  t.equal(next.length, 3, `the next one: ${next.join(", ")}`);
  // Compile only the new files. Compiling the imports of both lists takes too long.
  const lists = ["actors/areas.ts", "http/routes/routes.ts"];
  const written = [...toyFiles, ...first, ...next].filter((path) => !lists.includes(path));
  t.same(check(copy, written), []);
  copy.add("play.ts", play);

  const folder = join(copy.folder, "data");
  const store = await openLmdbStore({ folder });
  await store.commit([
    { op: "put", key: ["~", "meta", "format"], value: formatBefore },
    { op: "put", key: ["ws_earlier", "row", "toy", "toy_1"], value: { id: "toy_1", hue: "green" } },
  ]);
  await store.close();
  const built = (await load(copy, "play.ts")) as {
    readonly play: (folder: string) => Promise<Record<string, unknown>>;
  };
  const { rules, ...played } = await built.play(folder);
  const served = { status: 200, body: { toys: [{ id: "toy_2", colour: "blue" }] } };
  t.same(played, {
    migrated: { id: "toy_1", colour: "green", paintedAtMs: 1, manual: null },
    box: { key: "attic", lid: "open" },
    painted: [{ was: null }, { was: "red" }],
    changes: [{ colour: "red" }, { colour: "blue" }],
    view: { colour: "blue" },
    seenIn: true,
    served: { shelf: served, row: served },
    paths: [
      "DELETE /api/resources/toy-boxes/{id}",
      "GET /api/resources/toy-boxes/{id}",
      "GET /api/resources/toy-boxes/{id}/hcl",
      "GET /api/resources/workspaces/{workspaceId}/toy-boxes",
      "GET /api/resources/workspaces/{workspaceId}/toy-boxes/import",
      "POST /api/resources/workspaces/{workspaceId}/toy-boxes",
      "PUT /api/resources/toy-boxes/{id}",
    ],
    healthy: [],
    recounted: [],
    damaged: ["indexes of toy: missing"],
  });
  t.ok(Array.isArray(rules) && rules.includes("toy"), "the sweeper removes its rows");
});

t.test("kinds stand in the order of exports and documents: each after those that it refers to", async (t) => {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  t.same(
    kinds.map(({ name }) => name),
    [
      "workspace",
      "secret",
      "runner-pool",
      "workspace-runners",
      "runner-trust",
      "workspace-token",
      "workspace-token-trust",
      "team",
      "skill",
      "harness-profile",
      "integration",
      "line",
      "hook",
      "replay-candidate",
    ],
  );
});

t.test("a pass of retention begins with rows that keep others: events, tasks, runs, replays", async (t) => {
  const names = retainedTables.rules.map(({ name }) => name);
  t.same(
    retainedTables.rules.flatMap(({ name, after }) =>
      after.filter((before) => !names.includes(before) || names.indexOf(before) > names.indexOf(name)),
    ),
    [],
  );
  const ordered = [
    "work-event",
    "call-event",
    "task",
    "run",
    "replay",
    "search",
    "replay-check",
    "config-pull-request",
    "pull-request",
  ];
  t.same(
    names.filter((name) => ordered.includes(name)),
    ordered,
  );
});

t.test("migrations are numbered from 2, without gaps, whatever area has them", async (t) => {
  t.same(
    migrations.map(({ to }) => to),
    migrations.map((_step, index) => index + 2),
  );
});

t.test("no two areas declare a kind, an actor or a topic of one name", async (t) => {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const topics = areas.flatMap((area) => Object.keys(area.topics?.({ kinds, judging: notJudging }) ?? {}));
  const actors = createActorTypes(kinds).map(({ kind }) => kind);
  t.ok(topics.length > 0);
  for (const names of [topics, actors, kinds.map(({ name }) => name)]) {
    t.same(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  }
});
