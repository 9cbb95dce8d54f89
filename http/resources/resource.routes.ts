import { z } from "zod";
import {
  findDeletable,
  findVisibleResource,
  findVisibleResourceAt,
  isSeenByAll,
  listPages,
  listVisibleResources,
  type VisibleResource,
} from "../../actors/access/resource.queries.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces } from "../page-reading.js";
import { granted } from "../refused.js";
import { type Answer, type Route, type RouteRequest, route, type Success } from "../route.js";
import { type Subject, subjectRoute } from "../subject-route.js";
import { writeInPieces } from "../transport/json-pieces.js";
import { KeptLists } from "./kept-lists.js";
import { withArticle } from "./kind-name.js";
import { representationSchema } from "./representation-schema.js";
import { exampleOf, type ResourceExample } from "./resource-example.js";
import { createOne, type ResourceWriter, removeOne, replaceOne } from "./resource-writes.js";

export interface ResourceRoutesOptions extends ResourceWriter {
  readonly kinds: readonly Kind[];
}

const base = "/api/resources";
const anyBody = z.unknown();
const importQuery = z.strictObject({
  address: z.string().min(1, "is required").describe("As `address` in answers has it."),
});
const stationQuery = z.strictObject({
  station: z
    .string()
    .max(200, "must be at most 200 characters")
    .optional()
    .describe("The address of a station, `<team key>/<line key>/<station key>`: lists only what it holds."),
});

/** The six operations of every kind, made from the table of kinds (configuration API, Endpoints). */
export function resourceRoutes(options: ResourceRoutesOptions): readonly Route[] {
  const lists = new KeptLists(options.runtime.reading);
  return options.kinds.flatMap((kind) => routesOf(kind, options, lists).map((made) => ({ ...made, tag: kind.name })));
}

function routesOf(kind: Kind, options: ResourceRoutesOptions, lists: KeptLists): Route[] {
  const parts = { ...partsOf(kind, options), lists };
  return [
    createRoute(parts),
    readRoute(parts),
    ...(kind.isNeverReplaced === true ? [] : [replaceRoute(parts)]),
    removeRoute(parts),
    importRoute(parts),
    listRoute(parts),
  ];
}

/** What the routes of one kind share. */
interface KindParts {
  readonly kind: Kind;
  readonly writer: ResourceWriter;
  /** The kind in names of operations: `HarnessProfile`. */
  readonly named: string;
  /** The paths of the listed collection and of one resource. */
  readonly all: string;
  readonly one: string;
  readonly example: ResourceExample;
  /** The declared answer with the resource, and its header. */
  readonly answer: Success & { readonly body: z.ZodType };
  readonly tagged: { readonly etag: string };
  readonly subject: Subject<VisibleResource>;
}

function partsOf(kind: Kind, writer: ResourceWriter): KindParts {
  const { reading } = writer.runtime;
  const tagged = { etag: "The version as a strong entity tag: what `If-Match` takes." };
  const example = exampleOf(kind);
  return {
    ...{ kind, writer, tagged, example },
    named: kind.name.replace(/(^|-)([a-z])/g, (_, _dash: string, letter: string) => letter.toUpperCase()),
    one: `${base}/${kind.plural}/{id}`,
    all: kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/{workspaceId}/${kind.plural}`,
    answer: { body: representationSchema(kind), headers: tagged, example: example.representation },
    subject: { find: ({ caller, params }) => findVisibleResource(kind, reading, caller, params.id ?? "") },
  };
}

function createRoute({ kind, writer, named, all, example, answer, tagged }: KindParts): Route {
  return route({
    method: "POST",
    path: collectionIn(kind) ?? all,
    summary: `Create ${withArticle(kind)}`,
    operation: `create${named}`,
    access: "any",
    body: anyBody,
    takes: kind.schema,
    writeOnly: kind.hidden.map(({ path }) => path),
    example: example.body,
    headers: { "idempotency-key": "required" },
    answers: { 201: { ...answer, headers: { ...tagged, ...createdHeaders(kind) } } },
    handle: (request) => createOne(kind, writer, request),
  });
}

function readRoute({ kind, writer, named, one, answer, subject }: KindParts): Route {
  return subjectRoute(subject, {
    method: "GET",
    path: one,
    summary: `Read ${withArticle(kind)}`,
    operation: `read${named}`,
    access: "any",
    answers: { 200: answer },
    handle: (_request, row) => show(kind, writer, row),
  });
}

function replaceRoute({ kind, writer, named, one, example, answer, subject }: KindParts): Route {
  return subjectRoute(subject, {
    method: "PUT",
    path: one,
    summary: `Replace ${withArticle(kind)}`,
    description:
      "A body that brings what is there already changes nothing: the version stays. Read-only fields may stand " +
      "in it as they were read.",
    operation: `replace${named}`,
    access: "any",
    body: anyBody,
    takes: kind.schema,
    writeOnly: kind.hidden.map(({ path }) => path),
    example: example.body,
    headers: { "if-match": "required" },
    answers: { 200: answer },
    handle: (request, row) => replaceOne(kind, writer, request, row),
  });
}

function removeRoute({ kind, writer, named, one }: KindParts): Route {
  const { reading } = writer.runtime;
  const deletable: Subject<VisibleResource> = {
    find: ({ caller, params }) => findDeletable(kind, reading, caller, params.id ?? ""),
  };
  return subjectRoute(deletable, {
    method: "DELETE",
    path: one,
    summary: kind.name === "workspace" ? "Close a workspace" : `Delete ${withArticle(kind)}`,
    operation: `delete${named}`,
    access: "any",
    headers: { "if-match": "required" },
    answers: { 204: null },
    handle: (request, row) => removeOne(kind, writer, request, row),
  });
}

function importRoute({ kind, writer, named, all, answer }: KindParts): Route {
  const { reading } = writer.runtime;
  return route({
    method: "GET",
    path: `${all}/import`,
    summary: `Read the ${kind.name} at an address`,
    operation: `import${named}`,
    access: "any",
    query: importQuery,
    answers: { 200: answer },
    problems: kind.heldBy === "station" ? ["not-found", "invalid"] : ["not-found"],
    handle: ({ caller, params, query }) => {
      const name = { workspaceId: params.workspaceId, address: query.address };
      return show(kind, writer, granted(findVisibleResourceAt(kind, reading, caller, name)));
    },
  });
}

function listRoute({
  kind,
  writer,
  named,
  all,
  example,
  answer,
  lists,
}: KindParts & { readonly lists: KeptLists }): Route {
  const { reading } = writer.runtime;
  return route({
    method: "GET",
    path: all,
    summary: `List every ${kind.name}`,
    operation: `list${named}`,
    access: "any",
    ...(kind.heldBy === "station" ? { query: stationQuery, problems: ["invalid"] } : {}),
    answers: {
      200: { body: z.strictObject({ items: z.array(answer.body) }), example: { items: [example.representation] } },
    },
    handle: async (request) => {
      const { caller, params, query } = request;
      const listing = { workspaceId: params.workspaceId ?? "", station: query?.station };
      const pages = granted(listVisibleResources(kind, reading, caller, listing));
      const write = async (of: Runtime["reading"], rows: Iterable<readonly VisibleResource[]>) => {
        const items = await inPages(rows, request, (row) => toRepresentation(kind, row, of));
        return Buffer.from(await writeInPieces({ items }, request.pause));
      };
      if (!isSeenByAll(kind)) return { status: 200, json: await write(reading, pages) };
      const name = `${kind.name} ${listing.station ?? ""}`;
      const make = (of: Runtime["reading"]) => write(of, listPages(kind, of, listing));
      return { status: 200, json: await lists.textOf(listing.workspaceId, name, make) };
    },
  });
}

/** Converts all rows; other work runs in between. */
async function inPages<Row, Item>(
  pages: Iterable<readonly Row[]>,
  request: Pick<RouteRequest, "pause">,
  toItem: (row: Row) => Item,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let isFirst = true;
  for (const rows of pages) {
    if (!isFirst) await request.pause();
    isFirst = false;
    items.push(...(await inPieces(rows, request, toItem)));
  }
  return items;
}

function show(kind: Kind, { runtime }: ResourceWriter, row: VisibleResource): Answer {
  return { status: 200, body: toRepresentation(kind, row, runtime.reading), headers: { etag: `"${row.version}"` } };
}

/** The path for creates, if it is not the listed collection; else null. */
function collectionIn({ heldBy, plural }: Kind): string | null {
  if (heldBy === "team") return `${base}/teams/{teamId}/${plural}`;
  return heldBy === "station" ? `${base}/lines/{lineId}/stations/{stationKey}/${plural}` : null;
}

/** The headers of a create's answer besides its ETag. */
function createdHeaders({ reveals, name }: Kind): Record<string, string> {
  return {
    "idempotent-replayed": "`true` when an earlier request with the same key created it.",
    ...(reveals === undefined ? {} : { [reveals.header]: `The value that was issued for the ${name}. Shown once.` }),
  };
}
