import { z } from "zod";
import { isRefusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import type { ResourceRow } from "../../actors/resources/resource.table.js";
import { type Answer, type Route, route, type Success } from "../route.js";
import { representationSchema } from "./representation-schema.js";
import { exampleOf } from "./resource-example.js";
import { findRow, importedRow, listedRows } from "./resource-reads.js";
import { createOne, type ResourceWriter, removeOne, replaceOne } from "./resource-writes.js";

export interface ResourceRoutesOptions extends ResourceWriter {
  readonly kinds: readonly Kind[];
}

const base = "/api/resources";
const anyBody = z.unknown();
const importQuery = z.strictObject({ address: z.string().min(1, "is required") });
const stationQuery = z.strictObject({
  station: z.string().max(200, "must be at most 200 characters").optional(),
});

/** The six operations of every kind, made from the table of kinds (configuration API, Endpoints). */
export function resourceRoutes(options: ResourceRoutesOptions): readonly Route[] {
  return options.kinds.flatMap((kind) => routesOf(kind, options).map((made) => ({ ...made, tag: kind.name })));
}

function routesOf(kind: Kind, options: ResourceRoutesOptions): Route[] {
  const { reading } = options.runtime;
  const representation = representationSchema(kind);
  const tagged = { etag: "The version as a strong entity tag: what `If-Match` takes." };
  const example = exampleOf(kind);
  const answer: Success = { body: representation, headers: tagged, example: example.representation };
  const named = kind.name.replace(/(^|-)([a-z])/g, (_, _dash: string, letter: string) => letter.toUpperCase());
  const one = `${base}/${kind.plural}/{id}`;
  const all = kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/{workspaceId}/${kind.plural}`;
  const created = collectionIn(kind) ?? all;
  const show = (row: ResourceRow): Answer => ({
    status: 200,
    body: toRepresentation(kind, row, reading),
    headers: { etag: `"${row.version}"` },
  });
  return [
    route({
      method: "POST",
      path: created,
      summary: `Create a ${kind.name}`,
      operation: `create${named}`,
      access: "any",
      body: anyBody,
      takes: kind.schema,
      writeOnly: kind.hidden.map(({ path }) => path),
      example: example.body,
      headers: { "idempotency-key": "required" },
      answers: { 201: { ...answer, headers: { ...tagged, ...createdHeaders(kind) } } },
      handle: (request) => createOne(kind, options, request),
    }),
    route({
      method: "GET",
      path: one,
      summary: `Read a ${kind.name}`,
      operation: `read${named}`,
      access: "any",
      answers: { 200: answer },
      handle: (request) => {
        const row = findRow(kind, reading, request);
        return isRefusal(row) ? row : show(row);
      },
    }),
    ...(kind.isNeverReplaced === true
      ? []
      : [
          route({
            method: "PUT",
            path: one,
            summary: `Replace a ${kind.name}`,
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
            handle: (request) => replaceOne(kind, options, request),
          }),
        ]),
    route({
      method: "DELETE",
      path: one,
      summary: kind.name === "workspace" ? "Close a workspace" : `Delete a ${kind.name}`,
      operation: `delete${named}`,
      access: "any",
      headers: { "if-match": "required" },
      answers: { 204: null },
      handle: (request) => removeOne(kind, options, request),
    }),
    route({
      method: "GET",
      path: `${all}/import`,
      summary: `Read the ${kind.name} at an address`,
      operation: `import${named}`,
      access: "any",
      query: importQuery,
      answers: { 200: answer },
      problems: kind.heldBy === "station" ? ["not-found", "invalid"] : ["not-found"],
      handle: (request) => {
        const row = importedRow(kind, reading, request, request.query.address);
        return isRefusal(row) ? row : show(row);
      },
    }),
    route({
      method: "GET",
      path: all,
      summary: `List every ${kind.name}`,
      operation: `list${named}`,
      access: "any",
      ...(kind.heldBy === "station" ? { query: stationQuery, problems: ["invalid"] } : {}),
      answers: {
        200: { body: z.strictObject({ items: z.array(representation) }), example: { items: [example.representation] } },
      },
      handle: async ({ caller, params, query }) => {
        const asked = { caller, params, station: query?.station };
        const items = await listedRows(kind, reading, asked, (row) => toRepresentation(kind, row, reading));
        return isRefusal(items) ? items : { status: 200, body: { items } };
      },
    }),
  ];
}

/** The collection that a create goes to, where it is not the one that is listed. */
function collectionIn({ heldBy, plural }: Kind): string | null {
  if (heldBy === "team") return `${base}/teams/{teamId}/${plural}`;
  return heldBy === "station" ? `${base}/lines/{lineId}/stations/{stationKey}/${plural}` : null;
}

/** What a create's answer may carry beyond its ETag. */
function createdHeaders({ reveals, name }: Kind): Record<string, string> {
  return {
    "idempotent-replayed": "`true` when an earlier request with the same key created it.",
    ...(reveals === undefined ? {} : { [reveals.header]: `The value that was issued for the ${name}. Shown once.` }),
  };
}
