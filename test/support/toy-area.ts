import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Test } from "tap";

/** A copy of the product's source, to add areas to. */
export interface SourceCopy {
  readonly folder: string;
  /** Writes a new file. */
  add(path: string, text: string): void;
  /** Inserts a line into a file before the first line that contains the text `before`. */
  insert(path: string, line: string, before: string): void;
  /** Returns the files that a change adds or changes. */
  touchedBy(change: (copy: SourceCopy) => void): readonly string[];
}

/** Copies the product's source, and the helpers of its tests, into a folder that is removed after the test. */
export function copySource(t: Test): SourceCopy {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-area-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const part of ["storage", "runtime", "actors", "http", "test/support", "package.json", "tsconfig.json"]) {
    cpSync(part, join(folder, part), { recursive: true });
  }
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const touched = new Set<string>();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    touched.add(path);
  };
  const copy: SourceCopy = {
    folder,
    touchedBy: (change) => {
      touched.clear();
      change(copy);
      return [...touched];
    },
    add: write,
    insert: (path, line, before) => {
      const lines = readFileSync(join(folder, path), "utf8").split("\n");
      const at = lines.findIndex((each) => each.includes(before));
      if (at === -1) throw new Error(`${path} has no line with ${before}`);
      write(path, [...lines.slice(0, at), line, ...lines.slice(at)].join("\n"));
    },
  };
  return copy;
}

const kind = `
import { z } from "zod";
import { slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";

const schema = z.strictObject({ key: slug, lid: z.enum(["open", "shut"]).default("shut") });

export const toyBoxKind: Kind<z.output<typeof schema>> = {
  name: "toy-box",
  plural: "toy-boxes",
  idPrefix: "box",
  heldBy: "workspace",
  permission: "configure",
  schema,
  fixed: ["key"],
  hcl: {},
  hidden: [],
  address: ({ key }) => key,
  references: () => [],
};
`;

const table = `
import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";

export interface ToyRow {
  readonly id: string;
  readonly colour: string;
  readonly paintedAtMs: number;
  readonly manual: string | null;
}

export const toyTopic = topic<{ readonly colour: string }>("toy");

export const toys = indexedTable<ToyRow>("toy", {
  order: ["id"],
  indexes: { "toy-by-colour": ["colour"] },
  blobs: ({ manual }) => (manual === null ? [] : [manual]),
  changes: ({ id, colour }) => [toChangeEntry(toyTopic(id), { colour })],
});

export const toyRetention = retain(toys, {
  period: "work",
  startedAtMs: ({ paintedAtMs }) => paintedAtMs,
  endedAtMs: ({ paintedAtMs }) => paintedAtMs,
  remove: (turn, toy) => {
    toys.remove(turn, turn.self.partition, toy);
    return true;
  },
});
`;

const machine = `
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Answered } from "../../runtime/turns/turn.js";
import { storeText } from "../tables/text-blobs.js";
import { toys } from "./toy.table.js";

export interface PaintToy extends Answered<{ readonly was: string | null }> {
  readonly type: "toy.paint";
  readonly colour: string;
  readonly manual: string;
}

export const toyRef = reference<PaintToy>("toy");

const { on, machine } = createChart<NoContext, PaintToy>();

const toyMachine = machine({
  id: "toy",
  context: {},
  initial: "painted",
  states: {
    painted: {
      on: on("toy.paint", ({ turn, colour, manual }) => {
        const { partition, id } = turn.self;
        const before = toys.get(turn, partition, id) ?? null;
        const row = { id, colour, paintedAtMs: turn.now, manual: storeText(turn, partition, manual) };
        toys.put(turn, partition, before, row);
        turn.reply({ was: before?.colour ?? null });
      }),
    },
  },
});

export const toyActor = defineActor(toyRef, { machine: toyMachine, version: 1 });
`;

const topicView = `
import type { StreamTopic } from "../access/visibility/stream-topic.js";
import { findMemberWorkspace } from "../replays/reads/member-workspace.js";
import { toys } from "./toy.table.js";

export const toyTopicView: StreamTopic = {
  workspaceOf: (reading, caller, id) =>
    findMemberWorkspace(reading, caller, (workspaceId) => toys.get(reading, workspaceId, id) !== undefined),
  audience: (reading, { workspaceId, id }) => (toys.get(reading, workspaceId, id) === undefined ? undefined : "readers"),
  view: (reading, { workspaceId, id }) => ({ colour: toys.get(reading, workspaceId, id)?.colour }),
};
`;

const migration = `
import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** Toys of the earlier release had a hue, and were in no index. */
export const colourWalks: readonly Walk[] = [
  eachRow<{ readonly id: string; readonly hue?: string }>("toy", ({ id, hue }, place) =>
    hue === undefined
      ? []
      : [
          putRow(place, "toy", [id], { id, colour: hue, paintedAtMs: 1, manual: null }),
          putRow(place, "toy-by-colour", [hue, id], true),
        ],
  ),
];
`;

const manifest = (format: number) => `
import { defineArea } from "../area.js";
import { toyBoxKind } from "./toy-box.kind.js";
import { toyActor } from "./toy.machine.js";
import { colourWalks } from "./toy.migration.js";
import { toyRetention } from "./toy.table.js";
import { toyTopicView } from "./toy-topic.view.js";

/** Toys in boxes. */
export const toysArea = defineArea({
  name: "toys",
  kinds: () => [toyBoxKind],
  actors: () => [toyActor],
  tables: [toyRetention],
  topics: () => ({ toy: toyTopicView }),
  migrations: [{ to: ${format}, title: "toys have a colour", walks: colourWalks }],
});
`;

/**
 * Adds an area with a kind, an actor, a table, a topic and a migration to this format. Adds the area's folder, and its
 * entry in the list of areas.
 */
export function addToyArea({ add, insert }: SourceCopy, format: number): void {
  add("actors/toys/toy-box.kind.ts", kind);
  add("actors/toys/toy.table.ts", table);
  add("actors/toys/toy.machine.ts", machine);
  add("actors/toys/toy-topic.view.ts", topicView);
  add("actors/toys/toy.migration.ts", migration);
  add("actors/toys/toys.area.ts", manifest(format));
  insert("actors/areas.ts", 'import { toysArea } from "./toys/toys.area.js";', "import { workspacesArea }");
  insert("actors/areas.ts", "  [toysArea],", "] as const;");
}

const shelfView = `
import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { toys } from "../toys/toy.table.js";

export const shelfSchema = z.strictObject({ toys: z.array(z.strictObject({ id: z.string(), colour: z.string() })) });

export function viewShelf(reading: Reading, workspaceId: string): z.output<typeof shelfSchema> {
  return { toys: toys.list(reading, workspaceId).map(({ id, colour }) => ({ id, colour })) };
}
`;

const shelfRoutes = `
import { shelfSchema, viewShelf } from "../../actors/shelves/shelf.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

export function shelfRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    workspaceRoute(runtime, "sees", {
      method: "GET",
      path: "/api/workspaces/{slug}/shelf",
      summary: "All toys of a workspace",
      access: "any",
      answers: { 200: shelfSchema },
      handle: (_request, { workspaceId }) => ({ status: 200, body: viewShelf(runtime.reading, workspaceId) }),
    }),
  ];
}
`;

/** Adds a new area with one read endpoint and no other declarations. */
export function addFirstEndpoint({ add, insert }: SourceCopy): void {
  add("actors/shelves/shelf.view.ts", shelfView);
  insert("actors/areas.ts", '  [defineArea({ name: "shelves" })],', "] as const;");
  add("http/shelves/shelf.routes.ts", shelfRoutes);
  addRoutes(insert, "shelf");
}

/** Adds a second read endpoint to the area of {@link addFirstEndpoint}, in separate files. */
export function addNextEndpoint({ add, insert }: SourceCopy): void {
  const rename = (text: string) =>
    text
      .replaceAll(/\bshelf\b/g, "row")
      .replaceAll("shelfSchema", "rowSchema")
      .replaceAll("viewShelf", "viewRow")
      .replaceAll("shelfRoutes", "rowRoutes");
  add("actors/shelves/row.view.ts", rename(shelfView));
  add("http/shelves/row.routes.ts", rename(shelfRoutes));
  addRoutes(insert, "row");
}

function addRoutes(insert: SourceCopy["insert"], name: string): void {
  const make = `${name}Routes`;
  insert("http/routes/routes.ts", `import { ${make} } from "../shelves/${name}.routes.js";`, "import { tasksArea }");
  insert(
    "http/routes/routes.ts",
    `  { tag: "Shelves", make: ({ runtime }) => ${make}({ runtime }) },`,
    "...operationsArea,",
  );
}
